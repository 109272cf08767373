"""NoisyNet DQN: a network of your own whose weights are noisy, on the value agent of this package.

NoisyNet (Fortunato et al., 2018) replaces ε-greedy actions: every weight is a mean plus a learned scale times
Gaussian noise. The noise is factorised, one number per input and one per output of a layer. Here it is the
network's index. The agent draws it once per episode to act (the paper draws it at every step), and for every
sample of a minibatch, separately for the target.

From Python::

    langevin_dqn.train(make(sigma=0.5), "deep_sea:depth=5", seed=0, episodes=500)

On the command line, in the folder above ``examples``. Settings are arguments of ``make``: its own, and all fields
of the configuration::

    langevin-dqn run --agent python:examples.noisy_dqn:make --env catch --set sigma=0.5 --set learning_rate=0.001
"""

import math
from dataclasses import dataclass
from itertools import accumulate

import jax
import jax.numpy as jnp
import tyro

import langevin_dqn
from langevin_dqn.environments import IndexSpace
from langevin_dqn.networks import BaseNetwork


@dataclass(frozen=True)
class NoisyMLP(BaseNetwork):
    """A multilayer perceptron with noisy weights and biases; ``sigma`` is the initial scale of the noise."""

    hidden: tuple[int, ...] = (50, 50)
    sigma: float = 0.5

    def index(self, key):
        return key  # the noise of all layers is drawn from it

    def init(self, key, space, num_actions):
        sizes = [space.n if isinstance(space, IndexSpace) else math.prod(space.shape), *self.hidden, num_actions]
        return [self._layer(jax.random.fold_in(key, i), *sizes[i : i + 2]) for i in range(len(sizes) - 1)]

    def _layer(self, key, fan_in, fan_out):
        """Means and scales, each of the weights and of the biases in a last row."""
        bound = 1 / math.sqrt(fan_in)
        shape = (fan_in + 1, fan_out)
        return jax.random.uniform(key, shape, minval=-bound, maxval=bound), jnp.full(shape, self.sigma * bound)

    def apply(self, params, obs, index=None):
        x = jnp.ravel(obs) if obs.ndim else jax.nn.one_hot(obs, len(params[0][0]) - 1)
        sizes = [size for mean, _ in params for size in mean.shape]  # a layer's inputs, then its outputs
        noise = jax.random.normal(index, (sum(sizes),))
        noise = jnp.split(jnp.sign(noise) * jnp.sqrt(jnp.abs(noise)), list(accumulate(sizes))[:-1])
        for i, (mean, scale) in enumerate(params):
            inputs, outputs = noise[2 * i].at[-1].set(1.0), noise[2 * i + 1]
            x = jnp.append(jax.nn.relu(x) if i > 0 else x, 1.0)
            x = x @ mean + (x * inputs) @ scale * outputs  # the weights are mean + scale * inputs[:, None] * outputs
        return x


def make(sigma: float = 0.5, hidden: tuple[int, ...] = (50, 50), **changes):
    """DQN with greedy actions on a noisy network; ``changes`` are fields of the configuration."""
    config = langevin_dqn.preset("dqn", epsilon=0.0, hidden=hidden, **changes)
    return langevin_dqn.make_agent(config, network=NoisyMLP(hidden, sigma))


def main(depth: int = 5, episodes: int = 500, seeds: int = 3) -> None:
    """Train NoisyNet DQN in Deep Sea, and print the learning time of each seed.

    Args:
        depth: Depth of Deep Sea.
        episodes: Episodes per seed.
        seeds: Number of seeds.
    """
    for seed in range(seeds):
        result = langevin_dqn.train(make(), f"deep_sea:depth={depth}", seed=seed, episodes=episodes)
        learned = result.learning_time or "never"
        print(
            f"seed {seed}: learning time {learned} (episodes), mean of the last 100 returns {result.recent_return:.2f}"
        )


if __name__ == "__main__":
    tyro.cli(main)
