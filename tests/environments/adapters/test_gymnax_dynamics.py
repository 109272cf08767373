"""gymnax's copies of Gymnasium's environments make the same steps: what is learned in one is learned in the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn.environments import make_env

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("gymnax")


def _cartpole(state, x):
    return state.replace(x=x[0], x_dot=x[1], theta=x[2], theta_dot=x[3])


def _acrobot(state, x):
    return state.replace(joint_angle1=x[0], joint_angle2=x[1], velocity_1=x[2], velocity_2=x[3])


def _mountain_car(state, x):
    return state.replace(position=x[0], velocity=x[1])


#: How a state of gymnax is set to that of Gymnasium, and how far the states go that are tried.
CASES = {
    "CartPole-v1": (_cartpole, [2.35, 6.0, 0.2, 3.0]),
    "Acrobot-v1": (_acrobot, [3.1, 3.1, 3.0, 3.0]),
    "MountainCar-v0": (_mountain_car, [0.49, 0.06]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_step_from_the_same_state_is_the_same(name):
    set_state, span = CASES[name]
    theirs, ours = gymnasium.make(name).unwrapped, make_env(f"gymnax:{name}")
    theirs.reset(seed=0)
    blank, _ = ours.reset(jax.random.key(0))
    step = jax.jit(lambda x, action: ours.step(jax.random.key(1), set_state(blank, x), action)[1:4])
    rng, ended = np.random.default_rng(0), []
    for _ in range(300):
        start, action = rng.uniform(-1, 1, len(span)) * span, int(rng.integers(ours.num_actions))
        theirs.state = start.copy() if name == "Acrobot-v1" else tuple(start)
        if name == "CartPole-v1":
            theirs.steps_beyond_terminated = None
        expected, reward, terminated, *_ = theirs.step(action)
        obs, our_reward, our_end = step(jnp.float32(start), action)
        np.testing.assert_allclose(obs, expected, rtol=2e-4, atol=2e-4)
        assert (float(our_reward), bool(our_end)) == (reward, terminated)
        ended.append(terminated)
    assert 0 < sum(ended) < 300


def test_frozen_lake_slips_as_gymnasiums_does():
    """Shares of where a step leads, for every field and action, against Gymnasium's table."""
    table = gymnasium.make("FrozenLake-v1").unwrapped.P
    ours = make_env("gymnax:FrozenLake-misc")
    blank, first = ours.reset(jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 3000)
    step = jax.jit(
        lambda place, action: jax.vmap(lambda key: ours.step(key, blank.replace(position=place), action)[1:4])(keys)
    )
    assert int(first) == 0
    for place, actions in table.items():
        if all(done for action in actions.values() for *_, done in action):
            continue  # a hole or the goal
        for action, outcomes in actions.items():
            places, rewards, ends = (np.asarray(x) for x in step(jnp.int32(place), action))
            for to in range(16):
                share = sum(p for p, there, *_ in outcomes if there == to)
                assert abs((places == to).mean() - share) < 5 * np.sqrt(0.25 / len(keys))
            for _, there, reward, done in outcomes:
                assert set(rewards[places == there]) == {reward}
                assert set(ends[places == there]) == {done}


def test_the_best_policy_of_frozen_lake_reaches_the_goal_in_74_of_100_episodes():
    """What docs/guide/gymnasium.md says, by dynamic programming over the 100 steps of an episode."""
    table, values = gymnasium.make("FrozenLake-v1").unwrapped.P, np.zeros(16)
    for _ in range(100):
        values = np.array(
            [
                max(sum(p * (r + (not done) * values[to]) for p, to, r, done in table[place][a]) for a in range(4))
                for place in range(16)
            ]
        )
    assert round(values[0], 2) == 0.74
