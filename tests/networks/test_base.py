"""What a network is, what is refused as one, and networks with and without an index."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_agents import Linear

import langevin_dqn
from langevin_dqn import UserError
from langevin_dqn.environments.base import ArraySpace, FeatureSpace, IndexSpace
from langevin_dqn.networks import MLP, BaseNetwork, Conv, Network, PerAction, network_for
from langevin_dqn.networks.base import (
    as_numbers,
    check_network,
    describe_network,
    draw_index,
    has_index,
    has_rows,
    is_index,
)

SPACE = IndexSpace(4)


def test_two_methods_are_a_network():
    """No base class, no ``index``: it fits, trains, and its values are what its table says."""
    assert isinstance(Linear(), Network)
    check_network(Linear(), SPACE, 2)
    assert draw_index(Linear(), jax.random.key(0)) is None
    assert not has_index(Linear())
    assert not has_rows(Linear())
    agent = langevin_dqn.make_agent(langevin_dqn.preset("dqn", "paper"), Linear(0.5), SPACE)
    state = agent.init(jax.random.key(0), SPACE, 2, 10)
    assert state.index is None
    np.testing.assert_allclose(agent.values(state, jnp.int32(3)), 0.5 * state.learner.params[0, 3], rtol=1e-6)


@pytest.mark.slow
def test_a_network_without_an_index_trains(quick_compilation):
    """Every transition is (0, action, ±1), so a table learns Q(0, ·) = (-1, 1)."""
    result = langevin_dqn.train(
        "dqn",
        "probe_action",
        preset="paper",
        network=Linear(),
        episodes=150,
        epsilon=1.0,
        learning_rate=0.05,
        keep_agent=True,
    )
    np.testing.assert_allclose(sorted(np.asarray(result.trained.state.learner.params)[0, 0]), [-1, 1], atol=0.1)


@dataclasses.dataclass(frozen=True)
class Indexed(BaseNetwork):
    """Values are the index, a vector, plus a table."""

    def init(self, key, space, num_actions):
        return jnp.zeros((space.n, num_actions))

    def apply(self, params, obs, index=None):
        return params[obs] + (0 if index is None else index)

    def index(self, key):
        return jax.random.normal(key, (2,))


def test_an_index_is_drawn_per_episode_and_member():
    """It stays within an episode, changes with the next, and differs between members."""
    assert has_index(Indexed())
    check_network(Indexed(), SPACE, 2)
    config = langevin_dqn.preset("ensemble_langevin_dqn", "paper", members=2, prior_scale=0.0)
    agent = langevin_dqn.make_agent(config, Indexed(), SPACE)
    state = agent.init(jax.random.key(0), SPACE, 2, 10)
    first, second = (agent.begin_episode(jax.random.key(k), state) for k in (1, 2))
    assert first.index.shape == (2, 2)
    np.testing.assert_array_equal(agent.ensemble_values(first, jnp.int32(0)), first.index)
    np.testing.assert_array_equal(agent.ensemble_values(first, jnp.int32(3)), first.index)
    drawn = np.concatenate([first.index.ravel(), second.index.ravel()])
    assert len(set(drawn.tolist())) == drawn.size


def test_a_network_with_an_index_trains(quick_compilation):
    """With the index as noise on the values, the table learns the mean reward of each action."""
    result = langevin_dqn.train(
        "dqn", "probe_action", preset="paper", network=Indexed(), episodes=200, epsilon=1.0, learning_rate=0.02,
        batch_size=64, keep_agent=True,
    )  # fmt: skip
    table = np.asarray(result.trained.state.learner.params)[0, 0]
    assert table.max() - table.min() > 1


def test_an_index_and_a_prior_do_not_go_together():
    with pytest.raises(UserError, match="prior_scale needs a network without an index"):
        langevin_dqn.make_agent(langevin_dqn.preset("boot_dqn", "paper"), Indexed(), SPACE)


class Half:
    def init(self, key, space, num_actions):
        return ()


@dataclasses.dataclass
class Unhashable:
    init, apply = Linear.init, Linear.apply
    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class Wide(Linear):
    def apply(self, params, obs):
        return jnp.concatenate([params[obs], params[obs]])


@dataclasses.dataclass(frozen=True)
class Batched(Linear):
    def apply(self, params, obs):
        return params[obs][None]


@dataclasses.dataclass(frozen=True)
class Failing(Linear):
    def apply(self, params, obs):
        raise ValueError("cannot\nbe done")


@dataclasses.dataclass(frozen=True)
class Several(Linear):
    def apply(self, params, obs):
        return params[obs], params[obs]


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (Half(), "network Half has no method 'apply'"),
        (object(), "network object has no method 'init'"),
        (Unhashable(), "network Unhashable cannot be hashed"),
        (Wide(), "network Wide returns values of shape (4,), not (2,)"),
        (Batched(), "network Batched returns values of shape (1, 2), not (2,)"),
        (Several(), "network Several returns values of shape None, not (2,)"),
        (Failing(), "network Failing fails on IndexSpace(n=4): ValueError: cannot"),
        (Conv(), "network Conv fails on IndexSpace(n=4)"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_no_network(network, message):
    with pytest.raises(UserError) as caught:
        check_network(network, SPACE, 2)
    assert caught.value.message.startswith(message)
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_training_refuses_it_before_anything_runs():
    with pytest.raises(UserError, match=r"values of shape \(4,\), not \(2,\)"):
        langevin_dqn.train("dqn", "probe_action", preset="paper", network=Wide(), episodes=1)


def test_what_defines_a_network():
    assert describe_network(MLP((5, 4), 0.1)) == {
        "class": "MLP", "hidden": [5, 4], "negative_slope": 0.1,
    }  # fmt: skip
    assert describe_network(Linear(2.0)) == {"class": "Linear", "scale": 2.0}
    described = type("Said", (), {"describe": lambda self: {"mine": 1}})()
    assert describe_network(described) == {"mine": 1}


def test_equal_settings_are_equal_networks():
    assert MLP((5,), 0.1) == MLP((5,), 0.1)
    assert hash(MLP((5,), 0.1)) == hash(MLP((5,), 0.1))
    assert MLP((5,), 0.1) != MLP((5,), 0.2)


def test_the_default_network_of_each_space():
    hidden = (7, 3)
    for space, expected in (
        (IndexSpace(9), MLP(hidden, 0.1)),
        (ArraySpace((4,)), MLP(hidden, 0.1)),
        (ArraySpace((4, 4)), MLP(hidden, 0.1)),
        (ArraySpace((8, 8, 3)), Conv(hidden, 0.1)),
        (FeatureSpace((4, 2)), PerAction(hidden, 0.1)),
        (None, MLP(hidden, 0.1)),
    ):
        assert network_for(space, hidden, 0.1) == expected


def test_pixels_and_indices_are_told_apart():
    assert is_index(jnp.int32(3))
    assert not is_index(jnp.zeros(3, jnp.uint8))
    assert not is_index(jnp.zeros(3))
    np.testing.assert_allclose(as_numbers(jnp.array([0, 51, 255], jnp.uint8)), [0, 0.2, 1])
    np.testing.assert_array_equal(as_numbers(jnp.array([0.5])), [0.5])
