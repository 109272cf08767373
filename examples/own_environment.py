"""An environment of your own: a combination lock, opened by one code of 3^8 = 6,561."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import tyro

import langevin_dqn
from langevin_dqn.environments import IndexSpace, pytree


@pytree
@dataclass(frozen=True)
class Lock:
    """Enter the code digit by digit: a wrong digit ends the episode, the last right one pays 1.

    The state is how many digits were right so far, and that is what is seen.
    """

    code: jax.Array  # a leaf: all codes of one length share a compiled program

    num_actions = 3
    max_return = 1.0
    learned_regret = 0.8  # learned, as in the paper: regret below 0.8 per episode so far

    @property
    def observation_space(self) -> IndexSpace:
        return IndexSpace(len(self.code))

    @property
    def max_steps(self) -> int:
        return len(self.code)

    def reset(self, key):
        return jnp.int32(0), jnp.int32(0)

    def step(self, key, state, action):
        right = action == self.code[state]
        opened = right & (state + 1 == len(self.code))
        return state + 1, state + 1, opened.astype(jnp.float32), opened | ~right, jnp.bool_(False)

    def dense(self, obs):
        return jax.nn.one_hot(obs, len(self.code))

    def measure(self, state):
        return {}


def main(episodes: int = 1_000, seeds: int = 3) -> None:
    """Try to open it with DQN and with Ensemble Langevin DQN, for so many episodes each, with so many seeds."""
    lock = Lock(jnp.array([2, 0, 1, 1, 2, 0, 2, 1]))
    for agent in ("dqn", "ensemble_langevin_dqn"):
        for seed in range(seeds):
            result = langevin_dqn.train(agent, lock, seed=seed, episodes=episodes, stop_when_solved=True)
            print(f"{agent}, seed {seed}: opened at episode {result.first_success}, learned at {result.learning_time}")


if __name__ == "__main__":
    tyro.cli(main)
