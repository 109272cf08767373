"""Networks written with Equinox go through training, saving, loading and evaluation."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from layer_norm import LayerNormMLP, LayerNormRows

import langevin_dqn
from langevin_dqn.environments import ArraySpace, IndexSpace

SEA = "deep_sea:depth=3"
CASES = [
    pytest.param(LayerNormMLP(6), "python:layer_norm:LayerNormMLP:units=6", {}, id="plain", marks=pytest.mark.slow),
    pytest.param(LayerNormRows(6), "python:layer_norm:LayerNormRows:units=6", {"row_updates": "lazy"}, id="lazy"),
]


@pytest.mark.parametrize(("network", "name", "settings"), CASES)
def test_train_save_load_evaluate(network, name, settings, command, tmp_path, quick_compilation):
    result = langevin_dqn.train(
        "dqn", SEA, preset="paper", network=network, seed=2, episodes=30, epsilon=0.3, keep_agent=True, **settings
    )
    assert result.diverged is None
    expected = langevin_dqn.evaluate(result.trained, SEA, episodes=5)
    file = langevin_dqn.save_agent(result, tmp_path / "seed_2.npz")
    saved = langevin_dqn.load_agent(file, network=network)
    np.testing.assert_array_equal(langevin_dqn.evaluate(saved.trained, SEA, episodes=5), expected)

    options = [word for key, value in ({"epsilon": 0.3} | settings).items() for word in ("--set", f"{key}={value}")]
    folder = tmp_path / "by_command"
    code, out, err = command(
        *("run", "--agent", "dqn", "--env", SEA, "--network", name, "--seeds", "2", "--episodes", "30"),
        *(*options, "--save", folder, "--json"),
    )
    assert code == 0, err
    assert json.loads(out)["total_return"] == result.total_return
    code, out, err = command("evaluate", folder, "--network", name, "--episodes", "5", "--json")
    assert code == 0, err
    assert json.loads(out)["returns"] == expected.astype(float).tolist()

    for options, message in (
        ((), f"was saved with the network {type(network).__name__}"),
        (("--network", name.replace("units=6", "units=7")), "was saved with a network with units=6, not units=7"),
    ):
        code, _, err = command("evaluate", folder, *options)
        assert code == 2
        assert message in err
        assert err.count("\n") == 2


def test_layer_norm_normalises():
    """Values do not change when the first layer is scaled."""
    network = LayerNormRows(8)
    rows, rest = network.init(jax.random.key(0), IndexSpace(4), 2)
    before, after = (network.apply((scale * rows, rest), jnp.int32(1)) for scale in (1, 10))
    np.testing.assert_allclose(before, after, atol=1e-3)
    assert network.apply((rows, rest), jnp.int32(1)).shape == (2,)
    arrays = LayerNormMLP(8)
    assert arrays.apply(arrays.init(jax.random.key(0), ArraySpace((2, 3)), 4), jnp.ones((2, 3))).shape == (4,)
