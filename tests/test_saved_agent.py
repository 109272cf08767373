"""Saved agents: they come back to the bit, and files that are none are refused."""

import io
import json

import jax
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, load_agent, save_agent, train
from langevin_dqn.environments import make_env

KINDS = {
    "dense": ("langevin_dqn", "deep_sea:depth=4", {"row_updates": "dense", "preset": "released"}),
    "sleeping": ("ensemble_langevin_dqn", "deep_sea:depth=4", {"row_updates": "sleeping", "members": 2}),
    "bootstrapped": ("boot_dqn", "catch/0", {"members": 2}),
    "linear": ("dqn", "bandit/0", {"hidden": (), "optimizer": "sgd"}),
    "per depth": ("langevin_dqn", "deep_sea:depth=4", {"noise_per_depth": True}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_agents_come_back_to_the_bit(kind, tmp_path, quick_compilation):
    agent, env, changes = KINDS[kind]
    result = train(agent, env, seed=3, episodes=6, keep_agent=True, **changes)
    saved = load_agent(save_agent(result, tmp_path / "agent.npz"))
    assert (saved.agent, saved.preset, saved.env, saved.seed, saved.episodes, saved.config) == (
        *(result.agent, result.preset, env, 3, 6, result.config),
    )
    assert jax.tree.structure(saved.trained) == jax.tree.structure(result.trained)
    for ours, theirs in zip(jax.tree.leaves(saved.trained), jax.tree.leaves(result.trained), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    before, after = (langevin_dqn.evaluate(trained, env, 5, seed=1) for trained in (result.trained, saved.trained))
    assert np.array_equal(before, after)


def test_an_environment_of_ones_own(tmp_path, quick_compilation):
    env = make_env("deep_sea:depth=4")
    result = train("dqn", env, episodes=3, keep_agent=True)
    file = save_agent(result, tmp_path / "agent.npz")
    with pytest.raises(UserError, match="unknown environment"):
        load_agent(file)
    assert load_agent(file, env).env == "DeepSea"


@pytest.fixture
def file(tmp_path, quick_compilation):
    return save_agent(train("dqn", "probe_action", episodes=2, keep_agent=True), tmp_path / "agent.npz")


def test_a_file_of_another_shape(file):
    with pytest.raises(UserError, match="does not fit this version or this environment"):
        load_agent(file, make_env("deep_sea:depth=4"))


@pytest.mark.parametrize("damage", ["cut", "text", "empty", "other arrays", "pickle", "one array", "less told"])
def test_what_is_no_agent_is_refused(file, damage):
    whole, stream = file.read_bytes(), io.BytesIO()
    if damage == "other arrays":
        np.savez(stream, x=np.ones(3))
    elif damage == "pickle":
        np.savez(stream, about=np.array({"a": 1}, dtype=object))
    elif damage == "one array":
        np.save(stream, np.ones(3))
    elif damage == "less told":
        np.savez(stream, about=np.array('{"agent": "dqn"}'))
    data = {"cut": whole[: len(whole) // 2], "text": b"not an agent", "empty": b""}
    file.write_bytes(data.get(damage, stream.getvalue()))
    with pytest.raises(UserError, match="is not a saved agent"):
        load_agent(file)


def test_what_cannot_be_saved(tmp_path, quick_compilation):
    result = train("dqn", "probe_action", episodes=2)
    with pytest.raises(UserError, match="kept no agent"):
        save_agent(result, tmp_path / "agent.npz")
    kept = train("dqn", "probe_action", episodes=2, keep_agent=True)
    with pytest.raises(UserError, match=r"does not end in \.npz"):
        save_agent(kept, tmp_path / "agent.pkl")
    with pytest.raises(UserError, match="cannot write"):
        save_agent(kept, tmp_path / "nowhere" / "agent.npz")


def test_a_write_that_fails_leaves_what_was_there(file, monkeypatch):
    before = file.read_bytes()

    def full(stream, **_):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(UserError, match="No space left"):
        save_agent(train("dqn", "probe_action", episodes=2, keep_agent=True), file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_numpy_alone_can_read_it(file):
    with np.load(file) as arrays:
        about = json.loads(str(arrays["about"]))
        assert about["config"]["hidden"] == [50, 50]
        assert any(name.startswith(".params") for name in arrays.files)
