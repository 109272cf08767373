"""Tabular RLSVI: an agent that draws its value function from an exact posterior before every episode.

Randomized least-squares value iteration (Osband et al., 2017) for finite state spaces. The value of a state
and action has the prior N(0, prior_variance). Each visit gives a target, the reward plus the value of the
next state, with Gaussian noise of variance noise_variance. Before an episode the agent draws all values, the
last period first, and then acts greedily on them.

The agent learns rewards and transitions from the steps it observes. It needs observations that are indices,
deterministic transitions, and states that are visited at most once in an episode, as in Deep Sea.

From Python::

    langevin_dqn.train(TabularRLSVI(noise_variance=0.01), "deep_sea:depth=10", seed=0, episodes=300)

On the command line, in the folder above ``examples``::

    langevin-dqn run --agent python:examples.tabular_rlsvi:TabularRLSVI --env deep_sea:depth=10 --episodes 300 \
        --seeds 0-4 --set noise_variance=0.01
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

import langevin_dqn
from langevin_dqn.agents import greedy
from langevin_dqn.environments import IndexSpace


class State(NamedTuple):
    """Tables by state and action. The last row stands for the end of an episode, whose value is 0."""

    visits: jax.Array
    rewards: jax.Array  # summed over visits
    next_state: jax.Array
    q: jax.Array  # the draw to act on


@dataclass(frozen=True)
class TabularRLSVI(langevin_dqn.BaseAgent):
    """Acts greedily on a draw from the posterior of Q, a new one in every episode."""

    prior_variance: float = 1.0
    noise_variance: float = 0.01

    version = "1"  # raise it when the same settings give other results: stored runs are kept apart by it
    values_are_exact = True  # ``values`` is what the agent acts on, so ``record="q"`` may show it

    def init(self, key, space, num_actions, capacity):
        if not isinstance(space, IndexSpace):
            raise langevin_dqn.UserError("tabular RLSVI needs a finite state space", "use it in Deep Sea, for instance")
        zeros = jnp.zeros((space.n + 1, num_actions))
        return State(visits=zeros, rewards=zeros, next_state=jnp.full(zeros.shape, space.n, jnp.int32), q=zeros)

    def begin_episode(self, key, state):
        visits, end = state.visits, len(state.q) - 1
        variance = 1 / (1 / self.prior_variance + visits / self.noise_variance)
        deviation = jnp.sqrt(variance) * jax.random.normal(key, visits.shape)

        def back_up(q):
            """Every value from those of the next states: right for one more period."""
            targets = state.rewards + visits * q.max(axis=-1)[state.next_state]  # summed over visits
            return (variance * targets / self.noise_variance + deviation).at[end].set(0.0)

        _, q, _ = jax.lax.while_loop(
            lambda now: jnp.any(now[0] != now[1]) & (now[2] < end),  # a state for each period is the most there are
            lambda now: (now[1], back_up(now[1]), now[2] + 1),
            (jnp.zeros_like(state.q), back_up(jnp.zeros_like(state.q)), 0),
        )
        return state._replace(q=q)

    def act(self, key, state, obs):
        return greedy(key, self.values(state, obs))

    def observe(self, key, state, step):
        at = step.obs, step.action
        following = jnp.where(step.terminated, len(state.q) - 1, step.next_obs)
        return state._replace(
            visits=state.visits.at[at].add(1),
            rewards=state.rewards.at[at].add(step.reward),
            next_state=state.next_state.at[at].set(following),
        )

    def learn(self, key, state, steps):
        return state  # the counts are all there is to learn, and ``observe`` keeps them

    def values(self, state, obs, key=None):
        return state.q[obs]


if __name__ == "__main__":
    for seed in range(5):
        result = langevin_dqn.train(TabularRLSVI(), "deep_sea:depth=10", seed=seed, episodes=300, stop_when_solved=True)
        print(f"seed {seed}: learning time {result.learning_time} episodes, {result.seconds:.1f} s")
