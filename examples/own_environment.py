"""A custom environment: a combination lock that one code of 3^8 = 6,561 opens.

On the command line it has an id, in the folder above ``examples``. What follows the last colon are arguments of
``lock``::

    langevin-dqn run --agent ensemble_langevin_dqn --env jax:examples.own_environment:lock:digits=6
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import tyro

import langevin_dqn
from langevin_dqn.environments import Environment, IndexSpace

CODE = (2, 0, 1, 1, 2, 0, 2, 1)


@dataclass(frozen=True)
class Lock(Environment):
    """Enter the code digit by digit: a wrong digit ends the episode, the last right one pays 1.

    The state is the number of right digits so far, and it is what the agent observes.
    """

    code: jax.Array  # a leaf: all codes of one length share a compiled program

    num_actions = 3
    # These have defaults. They are for learning times, and for a replay buffer no larger than needed.
    max_return = 1.0
    learned_regret = 0.8  # learned, as in the paper: regret below 0.8 per episode so far

    @property
    def max_steps(self) -> int:
        return len(self.code)

    @property
    def observation_space(self) -> IndexSpace:
        return IndexSpace(len(self.code))

    def reset(self, key):
        return jnp.int32(0), jnp.int32(0)

    def step(self, key, state, action):
        right = action == self.code[state]
        opened = right & (state + 1 == len(self.code))
        return state + 1, state + 1, opened.astype(jnp.float32), opened | ~right, jnp.bool_(False)


def lock(digits: int = len(CODE)) -> Lock:
    """A lock with so many digits."""
    return Lock(jnp.array(CODE[:digits]))


def main(episodes: int = 1_000, seeds: int = 3) -> None:
    """Train DQN and Ensemble Langevin DQN on the lock, and print when each seed learned.

    Args:
        episodes: Maximum number of episodes per seed.
        seeds: Number of seeds per agent.
    """
    for agent in ("dqn", "ensemble_langevin_dqn"):
        for seed in range(seeds):
            result = langevin_dqn.train(agent, lock(), seed=seed, episodes=episodes, stop_when_solved=True)
            first, learned = result.first_success or "never", result.learning_time or "never"
            print(f"{agent}, seed {seed}: first success {first}, learning time {learned} (episodes)")


if __name__ == "__main__":
    tyro.cli(main)
