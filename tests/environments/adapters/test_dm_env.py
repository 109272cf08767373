"""dm_env environments through ``dm:``; bsuite's own deep sea as a cross-check of ours."""

import sys

import dm_env
import jax
import numpy as np
import pytest
from dm_env import specs

import langevin_dqn
from langevin_dqn import UserError, make_env
from langevin_dqn.environments import ArraySpace, DmEnvironment, IndexSpace

pytestmark = pytest.mark.usefixtures("quick_compilation")

BSUITES = "dm:bsuite.environments.deep_sea:DeepSea:size=5,mapping_seed=42"
OURS = "gym:langevin_dqn.environments.adapters.as_gymnasium:langevin_dqn/DeepSea-v0:depth=5"


class Constant(dm_env.Environment):
    """One state, one action, reward 1; over after 3 steps with the given discount."""

    def __init__(self, discount=0.0, observations=None, actions=None):
        self._last = discount
        self._observations = observations or specs.DiscreteArray(1)
        self._actions = actions or specs.DiscreteArray(1)

    def reset(self):
        self._steps = 0
        return dm_env.restart(np.int32(0))

    def step(self, action):
        self._steps += 1
        if self._steps < 3:
            return dm_env.transition(1.0, np.int32(0))
        return dm_env.TimeStep(dm_env.StepType.LAST, 1.0, self._last, np.int32(0))

    def action_spec(self):
        return self._actions

    def observation_spec(self):
        return self._observations


class Dice(Constant):
    """A factory that takes a seed."""

    def __init__(self, seed=None):
        super().__init__()
        self._random = np.random.RandomState(seed)

    def observation_spec(self):
        return specs.Array((), np.float64)

    def reset(self):
        return dm_env.restart(self._random.uniform())


@pytest.mark.parametrize(("discount", "ends"), [(0.0, (True, False)), (1.0, (False, True)), (0.9, (False, True))])
def test_the_last_discount_says_how_it_ended(discount, ends):
    env = DmEnvironment(Constant, discount=discount)
    assert env.observation_space == IndexSpace(1)
    env.reset(0)
    assert [env.step(0)[2:] for _ in range(3)] == [(False, False), (False, False), ends]


@pytest.mark.slow
@pytest.mark.parametrize(("discount", "value"), [(1.0, 1 / (1 - 0.5)), (0.0, 1 / (1 - 0.5 * 2 / 3))])
def test_a_truncated_step_still_bootstraps(discount, value):
    """As through Gymnasium: V = 1 + γV, or V = 1 + γ(2/3)V where every third step terminates. γ = 0.5."""
    settings = {"hidden": (8,), "batch_size": 32, "update_timing": "within", "learning_rate": 3e-3, "epsilon": 0.0}
    env = DmEnvironment(Constant, discount=discount)
    trained = langevin_dqn.train(
        "dqn", env, preset="paper", steps=1500, discount=0.5, keep_agent=True, **settings
    ).trained
    learned = trained.agent.ensemble_values(trained.state, jax.numpy.int32(0))
    np.testing.assert_allclose(learned, [[value]], atol=0.1)  # the two values are 0.5 apart


def test_seeds_reach_a_factory_that_takes_one():
    env = DmEnvironment(Dice)
    first, again, other = (env.reset(seed) for seed in (3, 3, 4))
    assert first == again != other
    assert env.reset() != other, "no seed: the randomness goes on"
    fixed = DmEnvironment(Dice, seed=3)
    assert fixed.reset(4) == first


def test_bsuites_deep_sea_shows_what_ours_shows():
    theirs, ours = make_env(BSUITES), make_env(OURS)
    assert theirs.observation_space == ours.observation_space == ArraySpace((5, 5))
    random = np.random.RandomState(0)
    for _ in range(20):
        np.testing.assert_array_equal(theirs.reset(), ours.reset())
        ended = False
        while not ended:
            action = int(random.randint(2))
            (obs, reward, *ends), (our_obs, our_reward, *our_ends) = theirs.step(action), ours.step(action)
            np.testing.assert_array_equal(obs, our_obs)
            assert np.float32(reward) == np.float32(our_reward)
            assert ends == our_ends
            ended = any(ends)


@pytest.mark.slow
def test_an_agent_learns_the_same_in_bsuites_deep_sea_and_ours():
    settings = {"seed": 1, "episodes": 60, "epsilon": 0.5, "hidden": (8,), "batch_size": 16, "buffer_size": 100}
    theirs, ours = (langevin_dqn.train("dqn", env, preset="paper", **settings) for env in (BSUITES, OURS))
    np.testing.assert_array_equal(theirs.returns, ours.returns)
    assert len(set(ours.returns.tolist())) > 3


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"actions": specs.BoundedArray((2,), np.float32, -1, 1)}, "actions BoundedArray"),
        ({"observations": {"a": specs.DiscreteArray(2)}}, "observations {'a'"),
        ({"observations": specs.StringArray(())}, "observations StringArray"),
    ],
)
def test_unsupported_specs_are_named(settings, words):
    with pytest.raises(UserError) as error:
        DmEnvironment(Constant, **settings)
    assert words in error.value.message


def test_pixels_stay_bytes():
    spec = specs.BoundedArray((4, 4, 3), np.uint8, 0, 255)
    assert DmEnvironment(Constant, observations=spec).observation_space == ArraySpace((4, 4, 3), "uint8")


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("dm:", "does not name an object"),
        ("dm:bsuite.environments.catch", "does not name an object"),
        ("dm:bsuite.sweep:SWEEP", "not callable"),
        ("dm:builtins:str", "dm_env.Environment"),
        ("dm:no.such.module:factory", "cannot import 'no.such.module'"),
        ("dm:bsuite.environments.catch:Cach", "did you mean 'Catch'?"),
        ("dm:bsuite.environments.catch:Catch:colour=red", "colour"),
    ],
)
def test_bad_paths(env_id, words):
    with pytest.raises(UserError) as error:
        make_env(env_id)
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 2


def test_without_dm_env(monkeypatch):
    monkeypatch.setitem(sys.modules, "dm_env", None)
    with pytest.raises(UserError, match="pip install 'langevin-dqn\\[dm\\]'"):
        make_env(BSUITES)
