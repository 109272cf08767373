"""The cart and pole: bsuite's balancing and swing-up tasks, which share their dynamics.

States are float32 where bsuite's are float64, and angles are kept in [-π, π] instead of
[0, 2π), so that float32 is most precise near upright. One step from the same state agrees with
bsuite's to a few units in the last place. Time is counted in steps and looked up in a table, so
episodes are exactly as long as bsuite's, whose clock adds up rounded floats.

Every end, running out of time included, is a termination: bsuite's discount is 0 there.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import ranges
from langevin_dqn.environments.base import ArraySpace, Environment

MASS_CART, MASS_POLE, LENGTH, FORCE, GRAVITY = 1.0, 0.1, 0.5, 10.0, 9.8
MASS_TOTAL = MASS_CART + MASS_POLE
MAX_STEPS = 100_000


class CartpoleState(NamedTuple):
    x: jax.Array
    x_dot: jax.Array
    theta: jax.Array  # 0 is upright
    theta_dot: jax.Array
    steps: jax.Array


def begin(key: jax.Array, init_range: float, theta: float) -> CartpoleState:
    """A state within ``init_range`` of rest at angle ``theta``."""
    x, x_dot, tilt, theta_dot = jax.random.uniform(key, (4,), minval=-1.0) * init_range
    return CartpoleState(x, x_dot, theta + tilt, theta_dot, jnp.int32(0))


def advance(state: CartpoleState, action: jax.Array, timescale: float) -> CartpoleState:
    """One Euler step under action 0, 1 or 2: push left, none, push right."""
    x, x_dot, theta, theta_dot, steps = state
    force = (action - 1) * FORCE
    cos, sin = jnp.cos(theta), jnp.sin(theta)
    push = (force + MASS_POLE * LENGTH * theta_dot**2 * sin) / MASS_TOTAL
    theta_acc = (GRAVITY * sin - cos * push) / (LENGTH * (4 / 3 - MASS_POLE / MASS_TOTAL * cos**2))
    x_acc = push - MASS_POLE * LENGTH / MASS_TOTAL * theta_acc * cos
    turned = theta + timescale * theta_dot
    return CartpoleState(
        x + timescale * x_dot,
        x_dot + timescale * x_acc,
        turned - 2 * math.pi * jnp.round(turned / (2 * math.pi)),
        theta_dot + timescale * theta_acc,
        steps + 1,
    )


def clock(timescale: float, max_time: float) -> jax.Array:
    """The share of ``max_time`` that bsuite's clock shows after each step, up to the last.

    Its clock adds ``timescale`` to a float64 at every step, and an episode is over once it
    shows more than ``max_time``.
    """
    elapsed = [0.0]
    while elapsed[-1] <= max_time:
        elapsed.append(elapsed[-1] + timescale)
    return jnp.asarray(np.array(elapsed) / max_time, jnp.float32)


@dataclass(frozen=True)
class Cartpole(Environment):
    """Keep a pole that starts near upright from falling: reward 1 for every step that it stands.

    The episode terminates when the pole leans too far, the cart leaves the track (reward 0
    for that step), or time is up.
    """

    clock: jax.Array
    timescale: float
    height_threshold: float
    x_threshold: float
    init_range: float

    observation_space = ArraySpace((1, 6))
    num_actions = 3

    @property
    def max_return(self) -> float:
        """The pole stands throughout, as it can from every start of bsuite's settings."""
        return float(self.max_steps)

    @property
    def max_steps(self) -> int:
        return self.clock.shape[0] - 1

    def reset(self, key: jax.Array) -> tuple[CartpoleState, jax.Array]:
        state = begin(key, self.init_range, 0.0)
        return state, self._observe(state)

    def step(self, key: jax.Array, state: CartpoleState, action: jax.Array):
        del key
        state = advance(state, action, self.timescale)
        stands = self._stands(state)
        terminated = ~stands | (state.steps >= self.max_steps)
        return state, self._observe(state), stands.astype(jnp.float32), terminated, jnp.bool_(False)

    def measure(self, state: CartpoleState) -> dict[str, jax.Array]:
        # Every step but one that fell was rewarded.
        total = (state.steps - ~self._stands(state)).astype(jnp.float32)
        return {"raw_return": total, "best_episode": total}

    def _stands(self, state: CartpoleState) -> jax.Array:
        return (jnp.cos(state.theta) > self.height_threshold) & (jnp.abs(state.x) < self.x_threshold)

    def _observe(self, state: CartpoleState) -> jax.Array:
        return jnp.stack(_pixels(state, self.x_threshold, self.clock))[None]


class SwingupState(NamedTuple):
    pole: CartpoleState
    upright: jax.Array  # steps so far
    moves: jax.Array  # pushes so far


@dataclass(frozen=True)
class CartpoleSwingup(Environment):
    """Swing a hanging pole up: reward 1 while it is high, slow and near the middle, less a cost for pushing.

    The episode terminates when the cart leaves the track or time is up. The best return is not known:
    how fast the pole can be brought up depends on the start.
    """

    clock: jax.Array
    timescale: float
    height_threshold: float
    theta_dot_threshold: float
    x_reward_threshold: float
    move_cost: float
    x_threshold: float
    init_range: float

    observation_space = ArraySpace((1, 8))
    num_actions = 3

    @property
    def max_steps(self) -> int:
        return self.clock.shape[0] - 1

    def reset(self, key: jax.Array) -> tuple[SwingupState, jax.Array]:
        pole = begin(key, self.init_range, math.pi)
        return SwingupState(pole, jnp.int32(0), jnp.int32(0)), self._observe(pole)

    def step(self, key: jax.Array, state: SwingupState, action: jax.Array):
        del key
        pole = advance(state.pole, action, self.timescale)
        central, slow = self._central(pole), self._slow(pole)
        upright = (jnp.cos(pole.theta) > self.height_threshold) & slow & central
        moved = action != 1
        reward = (upright - self.move_cost * moved).astype(jnp.float32)
        terminated = (jnp.abs(pole.x) > self.x_threshold) | (pole.steps >= self.max_steps)
        state = SwingupState(pole, state.upright + upright, state.moves + moved)
        return state, self._observe(pole), reward, terminated, jnp.bool_(False)

    def measure(self, state: SwingupState) -> dict[str, jax.Array]:
        total = state.upright - self.move_cost * state.moves
        return {"raw_return": total, "total_upright": state.upright.astype(jnp.float32), "best_episode": total}

    def _central(self, pole: CartpoleState) -> jax.Array:
        return jnp.abs(pole.x) < self.x_reward_threshold

    def _slow(self, pole: CartpoleState) -> jax.Array:
        return jnp.abs(pole.theta_dot) < self.theta_dot_threshold

    def _observe(self, pole: CartpoleState) -> jax.Array:
        signs = [jnp.where(yes, 1.0, -1.0) for yes in (self._central(pole), self._slow(pole))]
        return jnp.stack([*_pixels(pole, self.x_threshold, self.clock), *signs])[None]


def _pixels(state: CartpoleState, x_threshold: float, clock: jax.Array) -> list[jax.Array]:
    """What both tasks show."""
    x, x_dot, theta, theta_dot, steps = state
    return [x / x_threshold, x_dot / x_threshold, jnp.sin(theta), jnp.cos(theta), theta_dot, clock[steps]]


def cartpole(
    height_threshold: float = 0.8,
    x_threshold: float = 3.0,
    timescale: float = 0.01,
    max_time: float = 10.0,
    init_range: float = 0.05,
) -> Cartpole:
    """Balance a pole on a cart."""
    _check(x_threshold, timescale, max_time, init_range)
    return Cartpole(
        clock=clock(timescale, max_time),
        timescale=timescale,
        height_threshold=height_threshold,
        x_threshold=x_threshold,
        init_range=init_range,
    )


def cartpole_swingup(
    height_threshold: float = 0.5,
    theta_dot_threshold: float = 1.0,
    x_reward_threshold: float = 1.0,
    move_cost: float = 0.1,
    x_threshold: float = 3.0,
    timescale: float = 0.01,
    max_time: float = 10.0,
    init_range: float = 0.05,
) -> CartpoleSwingup:
    """Swing up a pole on a cart, and balance it."""
    _check(x_threshold, timescale, max_time, init_range)
    ranges.in_range("move_cost", move_cost, 0)
    return CartpoleSwingup(
        clock=clock(timescale, max_time),
        timescale=timescale,
        height_threshold=height_threshold,
        theta_dot_threshold=theta_dot_threshold,
        x_reward_threshold=x_reward_threshold,
        move_cost=move_cost,
        x_threshold=x_threshold,
        init_range=init_range,
    )


def _check(x_threshold: float, timescale: float, max_time: float, init_range: float) -> None:
    ranges.positive("x_threshold", x_threshold)
    ranges.positive("timescale", timescale)
    ranges.in_range("max_time", max_time, timescale, timescale * MAX_STEPS)
    ranges.in_range("init_range", init_range, 0)
