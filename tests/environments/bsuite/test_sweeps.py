"""bsuite's sweeps: its ids, all 468 of them, with its settings, shapes, episode counts and tags."""

import jax
import numpy as np
import pytest
from bsuite import sweep
from bsuite_side import load

from langevin_dqn import make_env
from langevin_dqn.environments import Environment, IndexSpace
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.environments.registry import bsuite_episodes

IDS = [f"{name}/{number}" for name, experiment in SWEEPS.items() for number in range(len(experiment.settings))]


def test_ids_are_bsuites():
    assert tuple(IDS) == sweep.SWEEP
    assert len(IDS) == 468


def test_settings_episodes_and_tags_are_bsuites():
    for name, experiment in SWEEPS.items():
        for number, setting in enumerate(experiment.settings):
            assert setting == sweep.SETTINGS[f"{name}/{number}"]
            assert experiment.episodes == sweep.EPISODES[f"{name}/{number}"] == bsuite_episodes(f"{name}/{number}")
        assert set(experiment.tags) == {tag for tag, ids in sweep.TAGS.items() if f"{name}/0" in ids}
    assert bsuite_episodes("cartpole") is None
    assert bsuite_episodes("cartpole:max_time=5") is None


@pytest.mark.usefixtures("digits")
def test_every_id_makes_bsuites_shapes():
    """Actions and pictures of every id, without running it."""
    for env_id in IDS:
        env, (_, raw) = make_env(env_id), load(env_id)
        assert isinstance(env, Environment)
        _, obs = jax.eval_shape(env.reset, jax.random.key(0))
        picture = jax.eval_shape(env.dense, obs)
        shown = raw.reset().observation
        assert (picture.shape, picture.dtype) == (shown.shape, shown.dtype), env_id
        space = env.observation_space
        assert obs.shape == (() if isinstance(space, IndexSpace) else space.shape)
        if not env_id.startswith(("cartpole", "catch")):  # bsuite's spec asks for np.int there, which is gone
            assert env.num_actions == raw.action_spec().num_values


@pytest.mark.usefixtures("digits")
@pytest.mark.parametrize("name", [n for n in SWEEPS if not n.startswith(("deep_sea", "memory", "umbrella"))])
def test_a_sweep_compiles_once(name):
    """The settings of a sweep differ in leaves alone, but for sizes and lengths."""
    made = [make_env(f"{name}/{number}") for number in range(len(SWEEPS[name].settings))]
    shapes = {(jax.tree.structure(env), tuple(np.shape(x) for x in jax.tree.leaves(env))) for env in made}
    assert len(shapes) == 1
