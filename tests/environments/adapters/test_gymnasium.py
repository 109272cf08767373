"""Gymnasium environments through ``gym:``, with tiny ones whose values are known."""

import re
import sys

import gymnasium
import jax
import numpy as np
import pytest
from gymnasium import spaces

import langevin_dqn
from langevin_dqn import UserError, make_env
from langevin_dqn.environments import ArraySpace, GymnasiumEnvironment, HostEnvironment, IndexSpace
from langevin_dqn.networks import Conv

SMALL = {"hidden": (8,), "batch_size": 32, "update_timing": "within"}

pytestmark = pytest.mark.usefixtures("quick_compilation")


class Constant(gymnasium.Env):
    """One state, one action, reward 1; over after ``LENGTH`` steps, one way or the other."""

    LENGTH = 3
    action_space = spaces.Discrete(1)
    observation_space = spaces.Discrete(1)

    def __init__(self, ending):
        self.ending = ending

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return 0, {}

    def step(self, action):
        self.steps += 1
        over = self.steps == self.LENGTH
        return 0, 1.0, over and self.ending == "terminated", over and self.ending == "truncated", {}


@pytest.mark.parametrize(
    ("ending", "value"),
    [("truncated", 1 / (1 - 0.5)), ("terminated", 1 / (1 - 0.5 * 2 / 3))],
)
def test_a_truncated_step_still_bootstraps(ending, value):
    """V = 1 + γV where nothing ever ends; with an end after every third step V = 1 + γ(2/3)V. γ = 0.5."""
    env = GymnasiumEnvironment(Constant(ending))
    result = langevin_dqn.train(
        "dqn", env, preset="paper", steps=1500, discount=0.5, epsilon=0.0, learning_rate=3e-3, keep_agent=True, **SMALL
    )
    learned = result.trained.agent.ensemble_values(result.trained.state, jax.numpy.int32(0))
    assert result.returns.tolist() == [3.0] * 500
    np.testing.assert_allclose(learned, [[value]], atol=0.1)  # the two values are 0.5 apart


class Shifted(gymnasium.Env):
    """Spaces that do not begin at 0: observes 5, 6, 7 in turn, and writes down its actions."""

    observation_space = spaces.Discrete(3, start=5)
    action_space = spaces.Discrete(2, start=-1)

    def __init__(self):
        self.taken = []

    def reset(self, *, seed=None, options=None):
        self.taken.clear()
        return np.int64(5), {}

    def step(self, action):
        self.taken.append(action)
        return np.int64(5 + len(self.taken)), 0.0, len(self.taken) == 2, False, {}


def test_discrete_spaces_that_start_elsewhere():
    env = GymnasiumEnvironment(Shifted())
    assert env.observation_space == IndexSpace(3)
    assert env.num_actions == 2
    seen = [env.reset(0), env.step(0)[0], env.step(1)[0]]
    assert seen == [0, 1, 2]
    assert all(obs.dtype == np.int32 for obs in seen)
    assert env.env.taken == [-1, 0]


@pytest.mark.parametrize(
    ("box", "dtype"),
    [
        (spaces.Box(-1, 1, (2, 3), np.float64), "float32"),
        (spaces.Box(0, 255, (4, 4, 3), np.uint8), "uint8"),
        (spaces.Box(0, 1, (4,), np.uint8), "float32"),  # bits, and not pixels
        (spaces.Box(-5, 5, (4,), np.int32), "float32"),
    ],
)
def test_boxes(box, dtype):
    source = Shifted()
    source.observation_space = box
    source.reset = lambda **_: (box.high, {})
    env = GymnasiumEnvironment(source)
    assert env.observation_space == ArraySpace(box.shape, dtype)
    obs = env.reset()
    assert obs.dtype == dtype
    np.testing.assert_array_equal(obs, box.high)


def test_an_environment_may_reuse_its_array():
    source = Shifted()
    array = np.zeros(2, np.float32)
    source.observation_space = spaces.Box(0, 9, (2,), np.float32)
    source.reset = lambda **_: (array, {})
    obs = GymnasiumEnvironment(source).reset()
    array += 1
    assert obs.tolist() == [0, 0]


def test_cartpole_by_its_id():
    env = make_env("gym:CartPole-v1")
    assert isinstance(env, HostEnvironment)
    assert (env.observation_space, env.num_actions, env.max_return) == (ArraySpace((4,)), 2, None)
    first, again, other = (env.reset(seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    env.close()


def test_settings():
    env = make_env("gym:FrozenLake-v1:map_name=8x8,is_slippery=false")
    assert env.observation_space == IndexSpace(64)
    assert env.env.unwrapped.spec.kwargs["is_slippery"] is False


def test_same_seed_same_run():
    def run(seed):
        return langevin_dqn.train("langevin_dqn", "gym:CartPole-v1", seed=seed, steps=300, preset="released", **SMALL)

    first, again, other = run(0), run(0), run(1)
    assert first.steps == 300
    np.testing.assert_array_equal(first.returns, again.returns)
    assert first.updates == again.updates == 300
    assert first.returns.tolist() != other.returns.tolist()


class Unsupported(Shifted):
    def __init__(self, **kinds):
        super().__init__()
        for name, space in kinds.items():
            setattr(self, name, space)


@pytest.mark.parametrize(
    ("name", "space", "words"),
    [
        ("action_space", spaces.Box(-1, 1, (2,)), r"actions Box\(.*Discrete"),
        ("action_space", spaces.MultiDiscrete([2, 3]), r"actions MultiDiscrete\("),
        ("observation_space", spaces.Dict({"a": spaces.Discrete(2)}), r"observations Dict\(.*FlattenObservation"),
        ("observation_space", spaces.Tuple((spaces.Discrete(2),)), r"observations Tuple\("),
        ("observation_space", spaces.Text(5), r"observations Text\("),
        ("observation_space", spaces.MultiDiscrete([[2, 3], [4, 5]]), r"observations MultiDiscrete\(.*FlattenObs"),
    ],
)
def test_unsupported_spaces_are_named(name, space, words):
    with pytest.raises(UserError) as error:
        GymnasiumEnvironment(Unsupported(**{name: space}))
    message, hint = error.value.message, error.value.hint
    assert "\n" not in message + hint
    assert re.search(words, f"{message} {hint}")


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("gym:CartPool-v1", "CartPole-v1"),
        ("gym:CartPole-v99", "CartPole-v"),
        ("gym:nothing/of/the/kind", "pprint_registry"),
        ("gym:", "pprint_registry"),
        ("gym:no_such_module:Env-v0", "it needs no_such_module, which is not installed"),
        ("gym:no_such_module:Env-v0", "pip install no-such-module"),
        ("gym:FrozenLake-v1:map_nam=8x8", "map_nam"),
        ("gym:CartPole-v1:=3", "size=10"),
        ("gym:Pendulum-v1", "Discrete"),
    ],
)
def test_bad_ids(env_id, words):
    with pytest.raises(UserError) as error:
        make_env(env_id)
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 2


def test_without_gymnasium(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(UserError, match="pip install 'langevin-dqn\\[gym\\]'"):
        make_env("gym:CartPole-v1")


class BrightSide(gymnasium.Env):
    """One step: say which half of a picture is the bright one, through noise. Reward 1 if right."""

    observation_space = spaces.Box(0, 255, (8, 8, 1), np.uint8)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.side = int(self.np_random.integers(2))
        picture = self.np_random.integers(0, 100, (8, 8, 1))
        picture[:, 4 * self.side : 4 * self.side + 4] += 100
        return picture.astype(np.uint8), {}

    def step(self, action):
        return np.zeros((8, 8, 1), np.uint8), float(action == self.side), True, False, {}


@pytest.mark.slow
def test_learning_from_pictures():
    env = GymnasiumEnvironment(BrightSide())
    result = langevin_dqn.train(
        "dqn", env, preset="paper", steps=400, epsilon=0.1, min_replay_size=32, keep_agent=True, **SMALL
    )
    assert isinstance(result.trained.agent.network, Conv), "pictures go through convolutions"
    filters, _ = result.trained.state.learner.params
    assert [weights.shape[1:] for weights, _ in filters] == [(3, 3, 1, 16), (3, 3, 16, 32)]
    returns = langevin_dqn.evaluate(result.trained, env, episodes=100, seed=1)
    assert returns.mean() >= 0.95  # a guess has 0.5: 0.95 by luck has level 4e-23
    assert result.trained.agent.init(jax.random.key(0), env.observation_space, 2, 10).replay.data.obs.dtype == np.uint8
