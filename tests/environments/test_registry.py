"""Ids, settings and what they make: bsuite's, all 468 of them."""

import jax
import numpy as np
import pytest
from bsuite import sweep
from bsuite_side import load

from langevin_dqn import UserError, make_env
from langevin_dqn.environments.base import Environment, IndexSpace
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.environments.registry import FACTORIES, bsuite_episodes

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


@pytest.mark.parametrize(
    ("env_id", "best"),
    [
        ("bandit/3", 1),
        ("bandit_scale/0", 0.001),
        ("cartpole_scale/19", 1_001_000),
        ("cartpole_noise/19", 1001),
        ("cartpole_swingup/0", None),
        ("catch/0", 1),
        ("catch:rows=3,columns=9", 2 * 5 / 9 - 1),
        ("catch:rows=2,columns=4", 2 * 3 / 4 - 1),
        ("discounting_chain/7", 1.1),
        ("memory_len/2", 1),
        ("mountain_car_scale/0", None),
        ("umbrella_length/5", 1),
    ],
)
def test_best_return(env_id, best):
    assert make_env(env_id).max_return == (None if best is None else pytest.approx(best))


@pytest.mark.parametrize(
    "env_id",
    [
        "catch:rows=4,columns=3", "cartpole_swingup:height_threshold=0.25,move_cost=0.2", "bandit:num_actions=3",
        "bandit_noise:noise_scale=0.5,num_actions=4", "mountain_car_scale:reward_scale=2,max_steps=7",
        "umbrella_length:chain_length=3,n_distractor=0", "memory_size:num_bits=2", "discounting_chain:mapping_seed=8",
    ],
)  # fmt: skip
def test_a_name_with_settings(env_id):
    env = make_env(env_id)
    state, obs = env.reset(jax.random.key(0))
    _, after, reward, *_ = env.step(jax.random.key(1), state, np.int32(1))
    assert (after.shape, after.dtype) == (obs.shape, obs.dtype)
    assert (reward.shape, reward.dtype) == ((), np.float32)


def test_settings_reach_the_environment():
    assert make_env("mountain_car_scale:reward_scale=2,max_steps=7").max_steps == 7
    assert make_env("bandit_noise:noise_scale=0.5,num_actions=4").num_actions == 4
    assert make_env("cartpole:max_time=5,timescale=0.5").max_steps == 11


@pytest.mark.parametrize(
    "env_id",
    [
        "catch:rows=1", "catch:columns=0", "bandit:num_actions=1", "bandit:mapping_seed=-1",
        "bandit_noise:noise_scale=-1", "bandit_noise:noise_scale=nan", "cartpole_scale:reward_scale=0",
        "cartpole:timescale=0", "cartpole:max_time=inf", "cartpole:max_time=2000", "mountain_car:max_steps=0",
        "memory_len:memory_length=0", "memory_size:num_bits=0", "umbrella_length:chain_length=0",
        "umbrella_distract:n_distractor=-1", "discounting_chain:mapping_seed=4294967296", "cartpole/20",
        "memory_size/17", "bandit_nois/3", "catch:rows=2.5", "catch:index=1", "catch_noise:scale=1",
    ],
)  # fmt: skip
def test_bad_ids_are_refused(env_id):
    with pytest.raises(UserError):
        make_env(env_id)


def test_catch_as_an_index_shows_the_same_boards():
    """The state's number stands for the board, the last one included."""
    numbers, boards = make_env("catch:rows=4,columns=3,index=true"), make_env("catch:rows=4,columns=3")
    assert numbers.observation_space == IndexSpace(36)
    for seed in range(6):
        (state, number), (same, board) = numbers.reset(jax.random.key(seed)), boards.reset(jax.random.key(seed))
        for action in (0, 2, 2):
            np.testing.assert_array_equal(numbers.dense(number), board)
            state, number, *rest = numbers.step(jax.random.key(0), state, np.int32(action))
            same, board, *others = boards.step(jax.random.key(0), same, np.int32(action))
            assert rest == others
        np.testing.assert_array_equal(numbers.dense(number), board)
        assert number.dtype == np.int32


def test_every_factory_says_what_it_makes():
    for name, factory in FACTORIES.items():
        assert factory.__doc__, name
        assert factory.__doc__.split("\n")[0].endswith("."), name
