"""Our environments behind Gymnasium's interface: Gymnasium's own checker, and equality step by step."""

import warnings

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from langevin_dqn import UserError, make_env
from langevin_dqn.environments.adapters import as_gymnasium
from langevin_dqn.environments.adapters.as_gymnasium import GymnasiumEnv
from langevin_dqn.environments.registry import FACTORIES

ID = "langevin_dqn/DeepSea-v0"


@pytest.mark.parametrize("settings", [{"observation": "dense"}, {"observation": "index"}, {"stochastic": True}])
def test_gymnasiums_own_check_has_nothing_to_say(settings):
    env = gymnasium.make(ID, depth=4, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize("observation", ["dense", "index"])
def test_equal_to_the_jax_environment(observation):
    env, source = gymnasium.make(ID, depth=4, observation=observation), make_env("deep_sea:depth=4")
    key = jax.random.key(0)

    def shown(obs):
        return np.asarray(source.dense(obs) if observation == "dense" else obs)

    random = np.random.RandomState(0)
    for _ in range(3):
        state, obs = source.reset(key)
        np.testing.assert_array_equal(env.reset()[0], shown(obs))
        ended = False
        while not ended:
            action = random.randint(2)
            state, obs, reward, terminated, _ = source.step(key, state, np.int32(action))
            seen, got, ended, truncated, _ = env.step(action)
            np.testing.assert_array_equal(seen, shown(obs))
            assert seen in env.observation_space
            assert (got, ended, truncated) == (float(reward), bool(terminated), False)


def test_seeds():
    env = gymnasium.make(ID, depth=3, stochastic=True)

    def rewards(seed):
        found = []
        for episode in range(10):
            env.reset(seed=None if episode else seed)
            found += [env.step(0)[1] for _ in range(3)]
        return found

    first, again, other = rewards(1), rewards(1), rewards(2)
    assert first == again
    assert first != other


def test_every_name_is_registered():
    names = {f"langevin_dqn/{''.join(word.capitalize() for word in name.split('_'))}-v0" for name in FACTORIES}
    assert ID in names
    assert names <= set(gymnasium.registry)


def test_any_id_or_environment():
    assert GymnasiumEnv("deep_sea/3").observation_space.shape == (16, 16)
    assert GymnasiumEnv(make_env("probe_policy")).action_space.n == 2


@pytest.mark.parametrize(
    ("env", "settings"),
    [("deep_sea/3", {"depth": 4}), ("deep_sea", {"observation": "pixels"}), ("gym:CartPole-v1", {})],
)
def test_mistakes(env, settings):
    with pytest.raises(UserError):
        GymnasiumEnv(env, **settings)


def test_environments_of_different_classes_have_programs_of_their_own():
    """JAX may take two classes with like fields for the same structure."""
    one, other = make_env("bandit_noise"), make_env("bandit_scale")
    for program in (as_gymnasium.RESET, as_gymnasium.STEP):
        assert program.compiled_for(one) is not program.compiled_for(other)
        assert program.compiled_for(one) is program.compiled_for(make_env("bandit_noise/3"))
