"""Langevin chains: any optimizer with noise, any gradient, many steps, one compiled program."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from langevin_dqn import prng
from langevin_dqn.errors import UserError
from langevin_dqn.insight.draws import Draws
from langevin_dqn.optimizers.langevin import ScalarOrSchedule


class Target(Protocol):
    """What is sampled, hashable so that equal targets compile once."""

    def gradient(self, key: jax.Array, params: Any, data: Any, noise_variance: jax.Array) -> Any:
        """The gradient that the optimizer takes, or an unbiased estimate of it."""


@dataclass(frozen=True)
class Plan:
    """How many chains there are, and which of their steps are kept."""

    num_samples: int
    burn_in: int
    thinning: int
    chains: int

    def __post_init__(self):
        for name, least in (("num_samples", 1), ("burn_in", 0), ("thinning", 1), ("chains", 1)):
            whole_number(name, getattr(self, name), least)

    def steps_before(self, learning_rate: ScalarOrSchedule) -> np.ndarray:
        """Updates before each draw, such that draws are equally far apart in diffusion time."""
        after = self.burn_in + self.thinning * np.arange(1, self.num_samples + 1)
        if not callable(learning_rate):
            _check_step_sizes(learning_rate)
            return after
        sizes = np.asarray(jax.vmap(learning_rate)(jnp.arange(after[-1])), np.float64)
        _check_step_sizes(sizes)
        time = np.cumsum(sizes[self.burn_in :])
        due = time[-1] * np.arange(1, self.num_samples + 1) / self.num_samples
        reached = np.searchsorted(time, due * (1 - 1e-9)) + 1  # a rounding error is no further step
        return self.burn_in + reached


class _State(NamedTuple):
    params: Any
    optimizer: Any
    steps: jax.Array
    finite_steps: jax.Array


def run(
    target: Target,
    optimizer: Callable[..., optax.GradientTransformationExtraArgs],
    learning_rate: ScalarOrSchedule,
    noise_variance: float | jax.Array,
    num_data: int,
    params: Any,
    data: Any,
    key: jax.Array,
    plan: Plan,
) -> Draws:
    """Run the chains of ``plan``, and refuse draws that are not finite.

    ``params`` is a tree to start from, or a function of a key that makes one.
    """
    words = jax.random.bits(key, (2,), jnp.uint32)  # the chains' own generator is faster than most
    start_key, run_key = jax.random.split(jax.random.wrap_key_data(words, impl=prng.PRNG))
    starts = _starts(params, start_key, plan.chains)
    steps = plan.steps_before(learning_rate)
    schedule, rate = (learning_rate, None) if callable(learning_rate) else (None, jnp.float32(learning_rate))
    draws, finite_steps = _run(
        target,
        optimizer,
        schedule,
        rate,
        jnp.float32(noise_variance),
        jnp.float32(num_data),
        starts,
        data,
        jax.random.split(run_key, plan.chains),
        jnp.asarray(np.diff(steps, prepend=0), jnp.int32),
    )
    _check_finite(np.asarray(finite_steps), int(steps[-1]))
    return Draws(draws, steps)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _run(target, optimizer, schedule, rate, noise_variance, num_data, starts, data, keys, gaps):
    method = optimizer(rate if schedule is None else schedule, noise_variance)

    def chain(key, params):
        def step(_, state: _State) -> _State:
            batch_key, noise_key = jax.random.split(jax.random.fold_in(key, state.steps))
            gradient = target.gradient(batch_key, state.params, data, noise_variance)
            updates, memory = method.update(gradient, state.optimizer, state.params, key=noise_key, num_data=num_data)
            params = optax.apply_updates(state.params, updates)
            # Once a parameter is not finite it never is again, so the count says when.
            return _State(params, memory, state.steps + 1, state.finite_steps + _is_finite(params))

        def draw(state: _State, gap: jax.Array):
            state = lax.fori_loop(0, gap, step, state)
            return state, state.params

        start = _State(params, method.init(params), jnp.int32(0), jnp.int32(0))
        end, draws = lax.scan(draw, start, gaps)
        return draws, end.finite_steps

    return jax.vmap(chain)(keys, starts)


def _is_finite(params: Any) -> jax.Array:
    return jax.tree.reduce(operator.and_, jax.tree.map(lambda leaf: jnp.isfinite(leaf).all(), params))


def _starts(params: Any, key: jax.Array, chains: int) -> Any:
    if callable(params):
        return jax.vmap(params)(jax.random.split(key, chains))
    for leaf in jax.tree.leaves(params):
        kind = jnp.result_type(leaf)
        if not jnp.issubdtype(kind, jnp.floating):
            raise UserError(f"parameters of type {kind} cannot be sampled", "use floating-point arrays")
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (chains, *jnp.shape(leaf))), params)


def whole_number(name: str, value: int, least: int) -> None:
    """Refuse a setting that is not an integer of at least ``least``."""
    if not (isinstance(value, int | np.integer) and value >= least):
        raise UserError(f"{name}={value} is out of range", f"use an integer of at least {least}")


def _check_step_sizes(sizes: Any) -> None:
    if not (np.all(np.isfinite(sizes)) and np.min(sizes) > 0):
        raise UserError("every step size must be above 0", "use a positive learning rate, or a schedule of them")


def _check_finite(finite_steps: np.ndarray, steps: int) -> None:
    if finite_steps.min() < steps:
        chain, step = finite_steps.argmin(), finite_steps.min() + 1
        raise UserError(
            f"parameters of chain {chain} are not finite after step {step} of {steps}",
            "check for data or initial parameters at which the loss is not finite"
            if step == 1
            else "use a smaller learning rate (below 2 / h, h the largest curvature of the loss), or check the loss",
        )
