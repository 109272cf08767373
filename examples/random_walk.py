"""A random walk: the smallest agent, which chooses uniformly at random and learns nothing.

An agent is a frozen dataclass with these five methods and a version. Its state is any pytree of arrays; here it is the
number of actions. To train it from Python, pass it to ``train``::

    langevin_dqn.train(RandomWalk(), "deep_sea:depth=4", seed=0, episodes=100)

On the command line its id is the path of what makes it. Run this in the folder above ``examples``::

    langevin-dqn run --agent python:examples.random_walk:RandomWalk --env deep_sea:depth=4 --episodes 100
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

import langevin_dqn


@dataclass(frozen=True)
class RandomWalk(langevin_dqn.BaseAgent):
    """Chooses every action with the same probability."""

    version = "1"  # raise it when the same settings give other results: stored runs are kept apart by it

    def init(self, key, space, num_actions, capacity):
        return jnp.int32(num_actions)

    def begin_episode(self, key, state):
        return state

    def act(self, key, state, obs):
        return jax.random.randint(key, (), 0, state)

    def observe(self, key, state, step):
        return state

    def learn(self, key, state, steps):
        return state


if __name__ == "__main__":
    result = langevin_dqn.train(RandomWalk(), "deep_sea:depth=4", seed=0, episodes=100)
    print(f"{sum(result.returns > 0)} of {result.episodes} episodes found the treasure; 1 in 16 is expected")
