"""Drive an underpowered car up a hill."""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment

MIN_POSITION, MAX_POSITION, GOAL = np.float32(-1.2), np.float32(0.6), np.float32(0.5)
MAX_SPEED, FORCE, GRAVITY = np.float32(0.07), np.float32(0.001), np.float32(0.0025)
START = (-0.6, -0.4)


class CarState(NamedTuple):
    position: jax.Array
    velocity: jax.Array
    steps: jax.Array


@dataclass(frozen=True)
class MountainCar(Environment):
    """Reward -1 for every step until the goal, or until time is up.

    Both ends are terminations: bsuite's discount is 0 there. bsuite shows position,
    velocity and the share of the steps gone. The state is float32 where bsuite's is float64. The best
    return is not known: the shortest drive depends on the start.
    """

    clock: jax.Array

    observation_space = ArraySpace((1, 3))
    num_actions = 3

    @property
    def max_steps(self) -> int:
        return self.clock.shape[0] - 1

    def reset(self, key: jax.Array) -> tuple[CarState, jax.Array]:
        low, high = START
        state = CarState(jax.random.uniform(key, minval=low, maxval=high), jnp.float32(0), jnp.int32(0))
        return state, self._observe(state)

    def step(self, key: jax.Array, state: CarState, action: jax.Array):
        del key
        velocity = state.velocity + (action - 1) * FORCE - jnp.cos(3 * state.position) * GRAVITY
        velocity = jnp.clip(velocity, -MAX_SPEED, MAX_SPEED)
        position = jnp.clip(state.position + velocity, MIN_POSITION, MAX_POSITION)
        velocity = jnp.where(position == MIN_POSITION, jnp.maximum(velocity, 0), velocity)
        state = CarState(position, velocity, state.steps + 1)
        terminated = (position >= GOAL) | (state.steps >= self.max_steps)
        return state, self._observe(state), jnp.float32(-1), terminated, jnp.bool_(False)

    def measure(self, state: CarState) -> dict[str, jax.Array]:
        return {"raw_return": -state.steps.astype(jnp.float32)}

    def _observe(self, state: CarState) -> jax.Array:
        return jnp.stack([state.position, state.velocity, self.clock[state.steps]])[None]


def mountain_car(max_steps: int = 1000) -> MountainCar:
    """Drive a car out of a valley by swinging back and forth."""
    ranges.in_range("max_steps", max_steps, 1, 100_000)
    return MountainCar(jnp.asarray(np.arange(max_steps + 1) / max_steps, jnp.float32))
