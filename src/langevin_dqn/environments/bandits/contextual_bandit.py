"""A bandit that shows a context before each pull; a random teacher network decides the means."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.bandits.gaussian_bandit import MAX_ARMS, MAX_FEATURES
from langevin_dqn.environments.base import ArraySpace, Environment


class ContextState(NamedTuple):
    context: jax.Array
    regret: jax.Array  # of the one pull, without reward noise


@dataclass(frozen=True)
class ContextualBandit(Environment):
    """A context N(0, I), one pull, a reward about the teacher's mean for both, and the episode terminates.

    The best mean depends on the context, so regret is measured per episode and there is no
    single best return.
    """

    first: jax.Array
    second: jax.Array
    reward_noise: float

    max_steps = 1

    @property
    def observation_space(self) -> ArraySpace:
        return ArraySpace((self.first.shape[0],))

    @property
    def num_actions(self) -> int:
        return self.second.shape[1]

    def means(self, context: jax.Array) -> jax.Array:
        """The teacher: one hidden layer of ReLU units, one mean per arm."""
        return jax.nn.relu(context @ self.first) @ self.second

    def reset(self, key: jax.Array) -> tuple[ContextState, jax.Array]:
        context = prng.normal(key, self.observation_space.shape)
        return ContextState(context, jnp.float32(0)), context

    def step(self, key: jax.Array, state: ContextState, action: jax.Array):
        means = self.means(state.context)
        reward = means[action] + self.reward_noise * prng.normal(key, ())
        state = state._replace(regret=means.max() - means[action])
        return state, state.context, reward, jnp.bool_(True), jnp.bool_(False)

    def measure(self, state: ContextState) -> dict[str, jax.Array]:
        return {"regret": state.regret}


def contextual_bandit(
    arms: int = 5,
    features: int = 8,
    units: int = 20,
    mean_seed: int = 0,
    mean_std: float = 1.0,
    reward_noise: float = 0.3,
) -> ContextualBandit:
    """A neural bandit: contexts are observed, a random network with ``units`` hidden units gives the means.

    Its weights are Gaussian, scaled so that a mean has standard deviation ``mean_std`` over
    contexts and teachers.
    """
    ranges.in_range("arms", arms, 2, MAX_ARMS)
    ranges.in_range("features", features, 1, MAX_FEATURES)
    ranges.in_range("units", units, 1, MAX_FEATURES)
    ranges.in_range("mean_seed", mean_seed, 0, ranges.MAX_SEED)
    ranges.positive("mean_std", mean_std)
    ranges.in_range("reward_noise", reward_noise, 0)
    draw = np.random.RandomState(mean_seed)
    first = draw.standard_normal((features, units)) / np.sqrt(features)
    second = mean_std * draw.standard_normal((units, arms)) * np.sqrt(2 / units)  # a ReLU halves the square
    return ContextualBandit(jnp.asarray(first, jnp.float32), jnp.asarray(second, jnp.float32), reward_noise)
