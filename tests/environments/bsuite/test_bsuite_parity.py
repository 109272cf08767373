"""Every experiment against bsuite's own, with random actions: a few episodes of one setting of each.

With the slow tests, 200 episodes of three settings.

bsuite is given what we drew (its generator is replaced), so that everything else must be equal:
pictures, rewards, ends, and what it logs. ``test_bsuite_laws.py`` tests the draws themselves.

Cart, pole and car move in float32 here and in float64 there, so bsuite is put into our state
before each step; one step then agrees within ``STEP_ERROR`` (a few units in the last place of the
largest term). Everything else is equal to the bit, rewards that are rescaled within one unit.
"""

import math

import numpy as np
import pytest
from bsuite.environments.cartpole import CartpoleState
from bsuite_side import Told, load, play
from scipy import stats

from langevin_dqn import make_env
from langevin_dqn.environments.bsuite.sweeps import SWEEPS

EPISODES, ALL_EPISODES = 8, 200
STEP_ERROR = 2e-6
ONE_UNIT = 1.2e-7
LEVEL = 1e-4
IN_FLOAT32 = ("cartpole", "mountain_car")


def settings_of(name):
    """The first, a middle and the last id."""
    count = len(SWEEPS[name].settings)
    return [f"{name}/{number}" for number in (0, count // 2, count - 1)]


CASES = [
    *((settings_of(name)[1], EPISODES) for name in SWEEPS),
    *(pytest.param(env_id, ALL_EPISODES, marks=pytest.mark.slow) for name in SWEEPS for env_id in settings_of(name)),
]


def actions_for(env, env_id, episodes):
    """Random actions; in every other episode each is held for a while, so that cars and carts get somewhere."""
    random = np.random.default_rng(len(env_id))
    shape = episodes, env.max_steps
    actions = random.integers(0, env.num_actions, shape)
    held = np.repeat(actions, 25, axis=1)[:, : env.max_steps]
    actions[1::2] = held[1::2]
    if env.num_actions == 3:
        actions[-1] = 1  # nothing is done: a hanging pole lasts until time is up
    return actions


class Follower:
    """bsuite's environment, made to follow our episodes."""

    def __init__(self, env_id):
        self.env, self.raw = load(env_id)
        self.kind = type(self.raw).__name__
        if self.kind == "MNISTBandit":
            shown = self.raw._images.astype(np.float32) / 255
            self.number = {image.tobytes(): i for i, image in enumerate(shown)}

    def first_draws(self, first, picture):
        """What bsuite draws at a reset, as we drew it."""
        match self.kind:
            case "Catch":
                return [first.column]
            case "Cartpole":
                return first[:4]
            case "CartpoleSwingup":
                x, x_dot, theta, theta_dot, _ = first.pole
                return [x, x_dot, theta - math.pi, theta_dot]
            case "MemoryChain":
                return [(first.bits[2:] + 1) // 2, first.query]
            case "MountainCar":
                return [first.position]
            case "UmbrellaChain":
                return [first.need, first.has, picture[0, 3:]]
            case "MNISTBandit":
                return [self.number[picture.tobytes()]]
        return []

    def draws(self, episode, step, action):
        """What bsuite draws in a step, as we drew it."""
        if self.kind == "UmbrellaChain":
            chance = [] if episode.terminated[step] else [(episode.rewards[step] + 1) / 2]
            return [*chance, episode.pictures[step + 1][0, 3:]]
        if self.kind == "DeepSea":
            size = self.raw._size
            row, column = divmod(int(episode.obs[step]), size)
            right = bool(action == self.raw._action_mapping[row, column])
            corner = not self.raw._deterministic and row == size - 1 and column in (0, size - 1)
            noise = episode.rewards[step].astype(float) + right * 0.01 / size - (right and column == size - 1)
            stayed = row < size - 1 and episode.obs[step + 1] % size == column
            return [noise] * corner + [0.0 if stayed else 1.0] * right
        return []

    def put_into(self, state):
        """Our state, for what moves in float32."""
        if self.kind == "MountainCar":
            self.raw._position, self.raw._velocity = state.position, state.velocity
        elif self.kind.startswith("Cartpole"):
            pole = getattr(state, "pole", state)
            self.raw._state = CartpoleState(*pole[:4], self.raw._state.time_elapsed)

    def follow(self, episode, actions, length):
        """bsuite's pictures, rewards, ends and discounts under the same actions, and what it logs."""
        told = self.raw._rng = Told()
        if hasattr(self.raw, "_best_episode"):
            self.raw._best_episode = 0.0
        before = dict(self.raw.bsuite_info())
        states = _rows(episode.states, length)
        told.values.extend(self.first_draws(states[0], episode.pictures[0]))
        timesteps = [self.env.reset()]
        for step in range(length):
            self.put_into(states[step])
            told.values.extend(self.draws(episode, step, actions[step]))
            timesteps.append(self.env.step(int(actions[step])))
        assert not told.values, "bsuite drew less than we did"
        logged = {name: value - before[name] for name, value in self.raw.bsuite_info().items()}
        return timesteps, logged


def _rows(states, length):
    """A tuple of arrays over time as a list of tuples."""
    columns = [_rows(x, length) if hasattr(x, "_fields") else x.tolist() if x.ndim == 1 else x for x in states]
    return [type(states)(*(column[i] for column in columns)) for i in range(length)]


@pytest.mark.parametrize(("env_id", "episodes"), CASES)
@pytest.mark.usefixtures("digits")
def test_every_step_is_bsuites(env_id, episodes):
    name = env_id.split("/")[0]
    env, follower = make_env(env_id), Follower(env_id)
    actions = actions_for(env, env_id, episodes)
    played = play(env, 1, actions)
    assert played.pictures.dtype == played.rewards.dtype == np.float32
    assert not played.truncated.any(), "bsuite has terminations only"
    in_float32 = name.startswith(IN_FLOAT32)
    residuals = []
    for number, length in enumerate(played.lengths):
        episode = played.episode(number)
        timesteps, logged = follower.follow(episode, actions[number], length)
        pictures = np.stack([t.observation for t in timesteps])
        rewards = np.array([t.reward for t in timesteps[1:]])
        assert [t.last() for t in timesteps[1:]] == episode.terminated[:length].tolist()
        assert timesteps[-1].discount == 0
        assert pictures.shape == episode.pictures[: length + 1].shape
        np.testing.assert_allclose(
            episode.pictures[: length + 1], pictures, rtol=0, atol=STEP_ERROR if in_float32 else 0
        )
        if name.endswith("_noise"):
            residuals.append((episode.rewards[:length].astype(float) - rewards) / follower.env._noise_scale)
        elif name.endswith("_scale"):
            np.testing.assert_allclose(episode.rewards[:length], rewards, rtol=2 * ONE_UNIT, atol=0)
        else:
            np.testing.assert_array_equal(episode.rewards[:length], rewards.astype(np.float32))
        assert episode.measures.keys() == logged.keys()
        for column, value in logged.items():
            ours = float(episode.measures[column][length - 1])
            ours = max(ours, 0.0) if column == "best_episode" else ours
            assert ours == pytest.approx(value, rel=1e-6, abs=1e-6), column
    if residuals:
        assert_standard_normal(residuals)


def assert_standard_normal(residuals):
    """Kolmogorov-Smirnov at level 1e-4; mean, variance and correlation of neighbours within 4.5 sd (7e-6 each)."""
    x = np.concatenate(residuals)
    assert stats.kstest(x, "norm").pvalue > LEVEL
    assert abs(x.mean()) < 4.5 / math.sqrt(x.size)
    assert abs(x.var() - 1) < 4.5 * math.sqrt(2 / x.size)
    assert abs((x[1:] * x[:-1]).mean()) < 4.5 / math.sqrt(x.size - 1)
