"""One step from each of many states, where random actions would seldom lead: near thresholds, walls and goals.

Ours in float32, bsuite's in float64 from the same state. States within ``MARGIN`` of a threshold
are left out, as rounding decides there.
"""

from functools import partial

import jax
import numpy as np
import pytest
from bsuite.environments.cartpole import Cartpole as BsuiteCartpole
from bsuite.environments.cartpole import CartpoleState as BsuiteState
from bsuite_side import FAST_COMPILE, load, play

from langevin_dqn import make_env
from langevin_dqn.environments.bsuite.cartpole import CartpoleState, SwingupState
from langevin_dqn.environments.bsuite.mountain_car import CarState

STATES = 4_000
ERROR, MARGIN = 4e-6, 1e-5


@partial(jax.jit, compiler_options=FAST_COMPILE)
def one_step(env, states, actions):
    return jax.vmap(lambda state, action: env.step(jax.random.key(0), state, action))(states, actions)


def uniform(random, low, high, count=STATES):
    return random.uniform(low, high, count).astype(np.float32)


def one_step_of_bsuite(env, put, actions):
    """Pictures, rewards and ends of one step from each state that ``put`` puts it into."""
    outcomes = []
    for number, action in enumerate(actions):
        env.reset()
        put(number)
        timestep = env.step(int(action))
        outcomes.append((timestep.observation, timestep.reward, timestep.last()))
    return [np.array(x) for x in zip(*outcomes, strict=True)]


def poles(random, last):
    """All angles, fast and slow, on and off the track, at the start and in the last two steps."""
    steps = random.choice([0, 500, last - 2, last - 1], STATES).astype(np.int32)
    return CartpoleState(
        uniform(random, -3.2, 3.2),
        uniform(random, -4, 4),
        uniform(random, -np.pi, np.pi) * random.choice([0.2, 1], STATES).astype(np.float32),
        uniform(random, -12, 12) * random.choice([0.1, 1], STATES).astype(np.float32),
        steps,
    )


def elapsed(steps):
    return np.concatenate([[0.0], np.cumsum(np.full(steps.max(), 0.01))])[steps]


@pytest.mark.parametrize("env_id", ["cartpole/0", *(f"cartpole_swingup/{n}" for n in (0, 5, 10, 19))])
def test_poles(env_id):
    env, random = make_env(env_id), np.random.default_rng(1)
    swings = env_id.startswith("cartpole_swingup")
    states, actions = poles(random, env.max_steps), random.integers(0, 3, STATES)
    time = elapsed(states.steps)
    zero = np.zeros(STATES, np.int32)
    after, pictures, rewards, terminated, _ = one_step(
        env, SwingupState(states, zero, zero) if swings else states, actions
    )
    reference, raw = load(env_id)

    def put(number):
        raw._state = BsuiteState(*(float(x[number]) for x in states[:4]), time[number])

    expected, expected_rewards, ends = one_step_of_bsuite(reference, put, actions)
    after = after.pole if swings else after
    thresholds = [(np.cos(after.theta), raw._height_threshold), (np.abs(after.x), raw._x_threshold)]
    if swings:
        thresholds += [
            (np.abs(after.x), raw._x_reward_threshold),
            (np.abs(after.theta_dot), raw._theta_dot_threshold),
        ]
    clear = np.all([np.abs(value - limit) > MARGIN for value, limit in thresholds], axis=0)
    assert clear.mean() > 0.99
    np.testing.assert_allclose(pictures[clear], expected[clear], rtol=0, atol=ERROR)
    np.testing.assert_array_equal(rewards[clear], expected_rewards[clear].astype(np.float32))
    np.testing.assert_array_equal(terminated[clear], ends[clear])
    assert {bool(x) for x in ends} == {True, False}
    assert len(np.unique(expected_rewards[clear])) == (4 if swings else 2)


def test_cars():
    env, random = make_env("mountain_car/0"), np.random.default_rng(2)
    steps = random.choice([0, 500, 998, 999], STATES).astype(np.int32)
    ends_of_the_road = random.choice([-1.2, 0.45, 0.59], STATES) + random.uniform(0, 0.06, STATES)
    position = np.where(random.random(STATES) < 0.5, uniform(random, -1.2, 0.6), ends_of_the_road)
    states = CarState(np.clip(position, -1.2, 0.6).astype(np.float32), uniform(random, -0.07, 0.07), steps)
    actions = random.integers(0, 3, STATES)
    after, pictures, rewards, terminated, _ = one_step(env, states, actions)
    reference, raw = load("mountain_car/0")

    def put(number):
        raw._position, raw._velocity = float(states.position[number]), float(states.velocity[number])
        raw._timestep = int(steps[number])

    expected, expected_rewards, ends = one_step_of_bsuite(reference, put, actions)
    clear = np.abs(np.asarray(after.position) - 0.5) > MARGIN
    np.testing.assert_allclose(pictures[clear], expected[clear], rtol=0, atol=2e-7)
    np.testing.assert_array_equal(rewards, expected_rewards)
    np.testing.assert_array_equal(terminated[clear], ends[clear])
    at_the_wall = expected[:, 0, 0] == np.float32(-1.2)
    assert at_the_wall.sum() > 20
    assert ends[steps == 0].any()


@pytest.mark.parametrize(("timescale", "max_time"), [(0.01, 1.0), (0.01, 7.0), (0.03, 3.0), (0.5, 5.0)])
def test_time_is_up_when_bsuites_is(timescale, max_time):
    """For a pole that cannot fall, on a track without end; the clock's picture too."""
    reference = BsuiteCartpole(timescale=timescale, max_time=max_time, height_threshold=-2, x_threshold=1e9)
    timestep, pictures = reference.reset(), []
    while not timestep.last():
        timestep = reference.step(1)
        pictures.append(timestep.observation[0, 5])
    env = make_env(f"cartpole:timescale={timescale},max_time={max_time}")
    assert env.max_steps == len(pictures)
    np.testing.assert_array_equal(env.clock[1:], pictures)


def balance(picture):
    """Push towards where the pole leans, and the cart back to the middle."""
    x, x_dot, sin, _, theta_dot, *_ = picture[0]
    return 2 if sin + 0.3 * theta_dot + 0.1 * x + 0.2 * x_dot > 0 else 0


def test_a_pole_that_stands_ends_when_bsuites_does():
    """Time is up after 1,001 steps, each rewarded: bsuite's clock reads just below 10 after 1,000."""
    reference, _ = load("cartpole/0")
    timestep, actions, total = reference.reset(), [], 0.0
    first = timestep.observation[0]
    while not timestep.last():
        actions.append(balance(timestep.observation))
        timestep = reference.step(actions[-1])
        total += timestep.reward
    env = make_env("cartpole/0")
    assert len(actions) == total == env.max_steps == env.max_return == 1001

    @partial(jax.jit, compiler_options=FAST_COMPILE)
    def ours(env):
        x, x_dot, sin, _, theta_dot, _ = first
        state = CartpoleState(3 * x, 3 * x_dot, jax.numpy.arcsin(sin), theta_dot, jax.numpy.int32(0))
        picture = env._observe(state)

        def step(carry, _):
            state, picture = carry
            x, x_dot, sin, _, theta_dot, _ = picture[0]
            action = jax.numpy.where(sin + 0.3 * theta_dot + 0.1 * x + 0.2 * x_dot > 0, 2, 0)
            state, picture, reward, terminated, _ = env.step(jax.random.key(0), state, action)
            return (state, picture), (reward, terminated, env.measure(state))

        return jax.lax.scan(step, (state, picture), length=1001)[1]

    rewards, terminated, measures = ours(env)
    assert rewards.sum() == 1001
    assert np.flatnonzero(terminated).tolist() == [1000]
    assert measures["best_episode"][-1] == measures["raw_return"][-1] == 1001


def test_drift_is_slow():
    """From the same start, a hanging pole that is pushed at random stays within 1e-3 of bsuite's for 250 steps."""
    env = make_env("cartpole_swingup/0")
    actions = np.random.default_rng(0).choice([0, 1, 2], (1, 250))
    played = play(env, 0, actions).episode(0)
    reference, raw = load("cartpole_swingup/0")
    reference.reset()
    pole = played.states.pole
    raw._state = BsuiteState(*(float(x[0]) for x in pole[:4]), 0.0)
    for step, action in enumerate(actions[0]):
        timestep = reference.step(int(action))
        np.testing.assert_allclose(played.pictures[step + 1], timestep.observation, atol=1e-3)
