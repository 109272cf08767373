"""Episodes that last too long: truncation at an environment's own ``max_steps``, and a warning where it has none."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import Environment, Space

#: Seconds without the end of an episode after which a warning is given.
PATIENCE = 60.0

#: Environments in here end their episodes by themselves, at ``max_steps`` at the latest.
_OWN = "langevin_dqn.environments."


class Timed(NamedTuple):
    """The state of an environment, and the steps of its episode."""

    state: Any
    steps: jax.Array


@dataclass(frozen=True)
class TimeLimit(Environment):
    """An environment whose episodes are truncated at its ``max_steps``.

    What it observes and earns stays the same. An episode that terminates in its last step has terminated.
    """

    environment: Any

    @property
    def observation_space(self) -> Space:
        return self.environment.observation_space

    @property
    def num_actions(self) -> int:
        return self.environment.num_actions

    @property
    def max_return(self) -> float | None:
        return self.environment.max_return

    @property
    def max_steps(self) -> int | None:
        return self.environment.max_steps

    @property
    def learned_regret(self) -> float | None:
        return getattr(self.environment, "learned_regret", None)

    def reset(self, key: jax.Array) -> tuple[Timed, jax.Array]:
        state, obs = self.environment.reset(key)
        return Timed(state, jnp.int32(0)), obs

    def step(
        self, key: jax.Array, state: Timed, action: jax.Array
    ) -> tuple[Timed, jax.Array, jax.Array, jax.Array, jax.Array]:
        inner, obs, reward, terminated, truncated = self.environment.step(key, state.state, action)
        steps = state.steps + 1
        is_late = (steps >= self.environment.max_steps) & ~terminated
        return Timed(inner, steps), obs, reward, terminated, truncated | is_late

    def dense(self, obs: jax.Array) -> jax.Array:
        return self.environment.dense(obs)

    def measure(self, state: Timed) -> dict[str, jax.Array]:
        return self.environment.measure(state.state)


def with_time_limit(environment: Any) -> Any:
    """``environment``, truncated at its own ``max_steps`` where it has one and comes from outside of this package."""
    if environment.max_steps is None or type(environment).__module__.startswith(_OWN):
        return environment
    return TimeLimit(environment)


@contextmanager
def warned_if_endless(environment: Any, patience: float | None = None) -> Iterator[None]:
    """Warn if what is done here, episodes of an environment without a time limit, takes long."""
    seconds = PATIENCE if patience is None else patience
    timer = threading.Timer(seconds, _warn, (type(environment).__name__, seconds))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _warn(name: str, seconds: float) -> None:
    warnings.warn(
        f"no episode of {name} has ended for {seconds:g} seconds, and it has no max_steps. If an episode can "
        "last forever, define max_steps, or train with steps=… (--steps)",
        RuntimeWarning,
        stacklevel=2,
    )
