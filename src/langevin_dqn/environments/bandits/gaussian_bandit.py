"""Bandits with Gaussian rewards, whose means are drawn once from a known prior."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import Environment, FeatureSpace, IndexSpace, Space

MAX_ARMS, MAX_FEATURES = 10_000, 1_000


class PullState(NamedTuple):
    regret: jax.Array  # of the one pull, without reward noise


@dataclass(frozen=True)
class GaussianBandit(Environment):
    """One pull of an arm, a reward N(mean of the arm, reward_noise²), and the episode terminates.

    Where arms have features, these are observed, a row per arm, and the reward of one arm is
    informative about the others. Arms without features are independent; the observation is index 0.
    """

    means: jax.Array
    reward_noise: float
    max_return: float
    """The best mean; regret is counted against it."""
    weight_std: float
    """The prior of each weight is N(0, weight_std²), where means are ``design @ weights``."""
    features: jax.Array | None = None

    max_steps = 1

    @property
    def observation_space(self) -> Space:
        return IndexSpace(1) if self.features is None else FeatureSpace(self.features.shape)

    @property
    def design(self) -> jax.Array:
        """The features; without features each arm has one weight, its mean."""
        return jnp.eye(self.num_actions) if self.features is None else self.features

    @property
    def num_actions(self) -> int:
        return self.means.shape[0]

    def reset(self, key: jax.Array) -> tuple[PullState, jax.Array]:
        del key
        return PullState(jnp.float32(0)), self._observe()

    def step(self, key: jax.Array, state: PullState, action: jax.Array):
        del state
        mean = self.means[action]
        reward = mean + self.reward_noise * prng.normal(key, ())
        return PullState(self.max_return - mean), self._observe(), reward, jnp.bool_(True), jnp.bool_(False)

    def dense(self, obs: jax.Array) -> jax.Array:
        return jnp.ones((1, 1), jnp.float32) if self.features is None else obs

    def measure(self, state: PullState) -> dict[str, jax.Array]:
        return {"regret": state.regret}

    def _observe(self) -> jax.Array:
        return jnp.int32(0) if self.features is None else self.features


def gaussian_bandit(
    arms: int = 10, mean_seed: int = 0, mean_std: float = 1.0, reward_noise: float = 1.0
) -> GaussianBandit:
    """A bandit of independent arms: means from N(0, mean_std²), rewards with Gaussian noise."""
    _check(arms, mean_seed, mean_std, reward_noise)
    means = mean_std * np.random.RandomState(mean_seed).standard_normal(arms)
    return GaussianBandit(jnp.asarray(means, jnp.float32), reward_noise, _best(means), mean_std)


def linear_bandit(
    arms: int = 20, features: int = 5, mean_seed: int = 0, mean_std: float = 1.0, reward_noise: float = 1.0
) -> GaussianBandit:
    """A bandit whose arms have features: means are linear in them, rewards have Gaussian noise.

    Features and weights are Gaussian, scaled so that a mean has standard deviation ``mean_std``.
    """
    _check(arms, mean_seed, mean_std, reward_noise)
    ranges.in_range("features", features, 1, MAX_FEATURES)
    draw = np.random.RandomState(mean_seed)
    rows = draw.standard_normal((arms, features))
    weight_std = mean_std / np.sqrt(features)
    means = rows @ (weight_std * draw.standard_normal(features))
    return GaussianBandit(
        jnp.asarray(means, jnp.float32), reward_noise, _best(means), float(weight_std), jnp.asarray(rows, jnp.float32)
    )


def _best(means: np.ndarray) -> float:
    """The best mean in float32, so that the regret of the best arm is exactly 0."""
    return float(means.astype(np.float32).max())


def _check(arms: int, mean_seed: int, mean_std: float, reward_noise: float) -> None:
    ranges.in_range("arms", arms, 2, MAX_ARMS)
    ranges.in_range("mean_seed", mean_seed, 0, ranges.MAX_SEED)
    ranges.positive("mean_std", mean_std)
    ranges.in_range("reward_noise", reward_noise, 0)
