"""Learning in units of the returns (``value_scale``, ``value_scaling``)."""

import dataclasses
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small_agents import PICTURES, begin, fill, key, small, two_transitions

from langevin_dqn import make_env, train
from langevin_dqn.agents import Step, value_scale
from langevin_dqn.environments import ArraySpace, Environment, FeatureSpace, IndexSpace
from langevin_dqn.networks import MLP, Conv, PerAction


@dataclass(frozen=True)
class Scaled(Environment):
    """An environment with other rewards: times a factor."""

    inner: Environment
    factor: jax.Array

    @property
    def observation_space(self):
        return self.inner.observation_space

    @property
    def num_actions(self):
        return self.inner.num_actions

    @property
    def max_steps(self):
        return self.inner.max_steps

    def reset(self, key):
        return self.inner.reset(key)

    def step(self, key, state, action):
        state, obs, reward, terminated, truncated = self.inner.step(key, state, action)
        return state, obs, reward * self.factor, terminated, truncated


@pytest.mark.parametrize("scaling", ["fixed", "grow", "discounted", "warmup"])
@pytest.mark.parametrize(
    ("agent", "env", "settings"),
    [
        ("ensemble_langevin_dqn", "deep_sea:depth=5", {"members": 3}),
        ("ensemble_langevin_dqn", "deep_sea:depth=5", {"members": 3, "row_updates": "lazy"}),
        ("langevin_dqn", "catch", {"hidden": (8,)}),
        ("dqn", "cartpole", {"hidden": (8,)}),
    ],
)
def test_rewards_and_scale_times_a_power_of_two_give_the_same_actions(agent, env, settings, scaling):
    """Bit for bit: same returns, up to the factor; and the same values."""
    factor, episodes = 2.0**7, 6 if env == "cartpole" else 25
    inner = make_env(env)
    runs = [
        train(
            agent, Scaled(inner, jnp.float32(c)), seed=1, episodes=episodes, value_scaling=scaling, value_scale=scale,
            keep_agent=True, **settings,
        )
        for c, scale in ((1.0, 1.0), (factor, factor))
    ]  # fmt: skip
    assert runs[0].updates == runs[1].updates > 0
    np.testing.assert_array_equal(runs[0].returns * np.float32(factor), runs[1].returns)
    np.testing.assert_array_equal(runs[0].lengths, runs[1].lengths)
    space = inner.observation_space
    obs = jnp.int32(3) if isinstance(space, IndexSpace) else jnp.ones(space.shape)
    values = [run.trained.agent.ensemble_values(run.trained.state, obs) for run in runs]
    np.testing.assert_array_equal(values[0] * factor, values[1])


def test_another_scale_gives_another_run():
    """What the test above could miss: that the scale changes nothing at all."""
    env, settings = Scaled(make_env("deep_sea:depth=5"), jnp.float32(100)), {"members": 3, "value_scaling": "fixed"}
    runs = [train("ensemble_langevin_dqn", env, episodes=25, value_scale=s, **settings) for s in (1.0, 2.0**7)]
    assert not np.array_equal(runs[0].returns, runs[1].returns)


def scales(rewards, guess, discount=1):
    state, found = value_scale.init(jnp.float32(guess)), []
    for reward in rewards:
        state = value_scale.with_reward(state, jnp.float32(reward), jnp.float32(guess), discount)
        found.append(float(state.scale))
    return found


def test_the_scale_is_doubled_until_no_return_exceeds_it():
    assert scales([-0.5, -0.25, -0.1, -4.0, 1.0], guess=0.75) == [0.75, 0.75, 1.5, 6.0, 6.0]


def test_costs_do_not_lower_the_scale_and_a_return_above_zero_does():
    """The largest return so far is then what it is lowered to, in powers of two of the guess."""
    assert scales([-0.01] * 3 + [0.02], guess=1.0) == [1.0] * 4
    assert scales([-0.01, 0.5, 0.4], guess=3.0) == [3.0, 0.75, 1.5]
    assert scales([0.001], guess=1.0) == [2.0**-9]
    assert scales([1.0, 1.0, 1.0], guess=1.0) == [1.0, 2.0, 4.0]


def test_a_discounted_scale_is_that_of_values():
    """A cost of 1 for ever is worth 1 / (1 - discount), however long the episode."""
    assert scales([-1.0] * 500, guess=1.0, discount=0.9)[-1] == 16.0  # the sum tends to 10
    assert scales([-1.0] * 500, guess=1.0)[-1] == 512.0
    assert scales([3.0, 3.0], guess=1.0, discount=0.5) == [4.0, 8.0]  # 3, then 4.5
    assert scales([3.0, 3.0], guess=1.0, discount=0.25) == [4.0, 4.0]  # 3, then 3.75


def test_the_deep_sea_leaves_the_scale_alone():
    """Its costs are all that is seen until the treasure, which is worth 1: the run is the one with a fixed scale."""
    runs = [
        train("ensemble_langevin_dqn", "deep_sea:depth=4", episodes=60, members=4, value_scaling=scaling)
        for scaling in ("grow", "fixed")
    ]
    np.testing.assert_array_equal(runs[0].returns, runs[1].returns)
    assert runs[0].returns.max() > 0.9


@pytest.mark.parametrize("size", [1e-30, 1e-3, 0.7, 1.0, 1.0000001, 3.0, 1e20])
def test_growth_is_by_an_exact_power_of_two(size):
    found = np.float64(value_scale.grown(jnp.float32(1), jnp.float32(size)))
    assert found == 2.0 ** np.ceil(np.log2(max(np.float64(np.float32(size)), 1.0)))


@pytest.mark.parametrize(
    ("rewards", "ends", "scale"),
    [
        ([0.0, 0.0, 0.001, 0.0], [0, 0, 1, 0], 2.0**-9),  # 0.00195
        ([1.0, 1.0, 1.0, 1.0], [0, 1, 0, 0], 2.0),
        ([-300.0, 100.0], [0, 0], 512.0),
        ([0.0, 0.0], [0, 1], 1.0),
    ],
)
def test_a_warmed_up_scale_just_reaches_the_largest_return_of_any_part_of_an_episode(rewards, ends, scale):
    found = value_scale.warmed_up(jnp.float32(1), jnp.float32(rewards), jnp.array(ends, bool))
    assert float(found.scale) == scale
    later = value_scale.with_reward(found, jnp.float32(0.0001), jnp.float32(1))  # a first return above zero
    assert float(later.scale) == (scale if any(rewards) else 2.0**-13)


def test_growth_reaches_what_no_ratio_of_floats_does():
    assert float(value_scale.grown(jnp.float32(1e-12), jnp.float32(1e30))) >= 1e30


@pytest.mark.parametrize("learner", ["dense", "lazy"])
def test_growth_leaves_the_values_in_units_of_reward_alone(learner):
    """A return of 100 makes the scale 128; network and target keep their values, without prior."""
    settings = {"row_updates": learner, "prior_std": 0.0, "members": 2, "noise_variance": 0.0}
    agent = small("ensemble_langevin_dqn", "recommended", **settings)
    state = agent.begin_episode(key(0), begin(agent))
    state = fill(agent, state, 0, tuple(x[:1] for x in index_steps()))
    state = agent.learn(key(1), state, jnp.int32(3))
    before = agent.ensemble_values(state, jnp.int32(1))
    step = Step(jnp.int32(0), jnp.int32(1), jnp.float32(100), jnp.int32(1), jnp.bool_(False), jnp.bool_(False))
    grown = agent.observe(key(2), state, step)
    assert float(grown.scale.scale) == 128
    np.testing.assert_allclose(agent.ensemble_values(grown, jnp.int32(1)), before, rtol=1e-6)
    last, grown_last = (jax.tree.leaves(s.learner.target)[-1] for s in (state, grown))
    np.testing.assert_allclose(grown_last * 128, last, rtol=1e-6)


def index_steps():
    zeros = np.zeros(2, np.int32)
    return zeros, zeros, np.array([0.5, 0.25], np.float32), zeros + 1, np.array([False, True])


def test_the_return_is_counted_from_the_start_of_an_episode():
    agent = small("dqn", "recommended")
    state = agent.begin_episode(key(0), begin(agent, space=PICTURES, actions=3))
    state = fill(agent, state, 0, two_transitions())
    assert float(state.scale.total) == pytest.approx(0.7 - 1.3, rel=1e-5)
    assert float(agent.begin_episode(key(1), state).scale.total) == 0


def test_discounted_sums_have_the_discount_of_the_agent():
    agent = small("dqn", "recommended", value_scaling="discounted", discount=0.5)
    state = agent.begin_episode(key(0), begin(agent, space=PICTURES, actions=3))
    state = fill(agent, state, 0, two_transitions())
    assert float(state.scale.total) == pytest.approx(0.7 / 2 - 1.3, rel=1e-5)


@pytest.mark.parametrize(
    ("network", "space", "obs"),
    [
        (MLP((4, 3)), IndexSpace(5), jnp.int32(2)),
        (MLP(()), IndexSpace(5), jnp.int32(2)),
        (Conv((4,)), ArraySpace((6, 6, 2)), jnp.ones((6, 6, 2))),
        (PerAction((3,)), FeatureSpace((3, 4)), jnp.ones((3, 4))),
        (PerAction(()), FeatureSpace((3, 4)), jnp.ones((3, 4))),
    ],
)
def test_networks_scale_their_values(network, space, obs):
    params = jax.tree.map(lambda x: x + 0.1, network.init(key(0), space, 3))
    scaled = network.scaled(params, 0.25)
    np.testing.assert_allclose(network.apply(scaled, obs), 0.25 * network.apply(params, obs), rtol=1e-6)


def test_a_network_that_cannot_be_scaled_learns_again():
    @dataclasses.dataclass(frozen=True)
    class Plain:
        def init(self, key, space, num_actions):
            return jnp.zeros(num_actions)

        def apply(self, params, obs, index=None):
            return params

    assert train("dqn", "probe_action", network=Plain(), episodes=3).episodes == 3


def test_a_scale_that_falls_leaves_the_network_as_it_is():
    """Its values, random at first, are then smaller in units of reward; they would be noise otherwise."""
    agent = small("dqn", "recommended")
    state = agent.begin_episode(key(0), begin(agent))
    step = Step(jnp.int32(0), jnp.int32(1), jnp.float32(0.001), jnp.int32(1), jnp.bool_(True), jnp.bool_(False))
    fallen = agent.observe(key(2), state, step)
    assert float(fallen.scale.scale) == 2.0**-9
    np.testing.assert_allclose(agent.values(fallen, jnp.int32(1)), agent.values(state, jnp.int32(1)) * 2.0**-9)
