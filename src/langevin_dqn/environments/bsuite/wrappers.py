"""Wrappers that add noise to rewards or rescale them, for bsuite's ``_noise`` and ``_scale`` experiments."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from langevin_dqn import prng
from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import Environment, Space


@dataclass(frozen=True)
class _Wrapper(Environment):
    """Passes everything on to the inner environment; subclasses change the rewards."""

    env: Environment

    @property
    def observation_space(self) -> Space:
        return self.env.observation_space

    @property
    def num_actions(self) -> int:
        return self.env.num_actions

    @property
    def max_return(self) -> float | None:
        return self.env.max_return

    @property
    def max_steps(self) -> int | None:
        return self.env.max_steps

    def reset(self, key: jax.Array) -> tuple[Any, jax.Array]:
        return self.env.reset(key)

    def dense(self, obs: jax.Array) -> jax.Array:
        return self.env.dense(obs)

    def measure(self, state: Any) -> dict[str, jax.Array]:
        return self.env.measure(state)


@dataclass(frozen=True)
class RewardNoise(_Wrapper):
    """Adds N(0, noise_scale²) to every reward."""

    noise_scale: float

    def step(self, key: jax.Array, state: Any, action: jax.Array):
        step_key, noise_key = jax.random.split(key)
        state, obs, reward, terminated, truncated = self.env.step(step_key, state, action)
        reward += self.noise_scale * prng.normal(noise_key, ())
        return state, obs, reward, terminated, truncated


@dataclass(frozen=True)
class RewardScale(_Wrapper):
    """Multiplies every reward, and with it the best return."""

    reward_scale: float

    @property
    def max_return(self) -> float | None:
        best = self.env.max_return
        return None if best is None else best * self.reward_scale

    def step(self, key: jax.Array, state: Any, action: jax.Array):
        state, obs, reward, terminated, truncated = self.env.step(key, state, action)
        return state, obs, reward * self.reward_scale, terminated, truncated


def noisy(factory: Callable[..., Environment]) -> Callable[..., Environment]:
    """A factory of the same environment with noise on its rewards."""

    def make(noise_scale: float = 1.0, **settings: Any) -> RewardNoise:
        ranges.in_range("noise_scale", noise_scale, 0)
        return RewardNoise(factory(**settings), noise_scale)

    return _describe(make, factory, "; noise on the rewards.")


def scaled(factory: Callable[..., Environment]) -> Callable[..., Environment]:
    """A factory of the same environment with its rewards rescaled."""

    def make(reward_scale: float = 1.0, **settings: Any) -> RewardScale:
        ranges.positive("reward_scale", reward_scale)
        return RewardScale(factory(**settings), reward_scale)

    return _describe(make, factory, "; rewards rescaled.")


def _describe(make: Any, factory: Callable[..., Environment], addition: str) -> Callable[..., Environment]:
    """Give ``make`` the inner factory's settings in addition to its own, and its docstring."""
    own, inner = inspect.signature(make), inspect.signature(factory)
    first = next(iter(own.parameters.values()))
    make.__signature__ = own.replace(parameters=[first, *inner.parameters.values()])
    make.__doc__ = inspect.getdoc(factory).split("\n")[0].rstrip(".") + addition  # type: ignore[union-attr]
    return make
