r"""Learning in units of the returns: rewards are divided by one positive number $s$.

Noise and prior are in units of reward, so an agent set up for returns of about 1 explores too little where
they are 1,000 times as large. Dividing rewards by $s$ is the same as multiplying $\sigma_w$ and the
prior's scale by $s$: the posterior keeps its meaning, and the greedy action stays what it is.

Four rules (``value_scaling``) for $s$:

- ``fixed``: it is ``value_scale``.
- ``grow``: it starts there, as a guess of what there may be to win. It is doubled until the absolute return of an
  episode, so far, does not exceed it; and once such a return was above zero, it is the largest that was seen, in powers
  of two of the guess, even if that is less. Costs alone do not lower it: in the deep sea they are all that is seen at
  first, and normalised by them, a single cost would be as bad as the treasure is good.
- ``discounted``: as ``grow``, with the discounted sum $\sum_k \gamma^{t-k} r_k$ of the episode's rewards so far in
  place of the return. Values are sums of that kind. In an episode of 1,000 steps with a cost of 1 each and $\gamma =
  0.99$, they reach 100 and the return 1,000: in units of the return, steps of Adam are ten times too large for them.
- ``warmup``: as ``grow``, from the largest absolute return in random steps before training, costs or not.

When $s$ grows, the last layers of network and target are divided by as much, so that their values in units of reward
stay the same. When it falls, they are left alone.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class ValueScale(NamedTuple):
    """The scale of one run.

    Attributes:
        scale: s.
        least: s is at least this: the guess, or much less once a return was above zero.
        largest: the largest absolute return, or discounted sum, seen.
        total: the return of the episode so far, or the discounted sum.
    """

    scale: jax.Array
    least: jax.Array
    largest: jax.Array
    total: jax.Array


def init(scale: jax.Array) -> ValueScale:
    return ValueScale(scale, scale, jnp.float32(0), jnp.float32(0))


def with_reward(state: ValueScale, reward: jax.Array, guess: jax.Array, discount: jax.Array | float = 1) -> ValueScale:
    """The scale after one more reward; ``guess`` is where it started, ``discount`` that of the sum of rewards."""
    total = discount * state.total + reward
    largest = jnp.maximum(state.largest, jnp.abs(total))
    least = jnp.where(total > 0, _tiny(guess), state.least)
    return ValueScale(grown(least, largest), least, largest, total)


def _tiny(scale: jax.Array) -> jax.Array:
    """A power of two of ``scale`` that any return reaches."""
    return jnp.ldexp(scale, jnp.int32(-60))


def grown(scale: jax.Array, to: jax.Array) -> jax.Array:
    """``scale`` times the least power of two, at least 1, with which it reaches ``to``."""
    doublings = jnp.ceil(jnp.log2(jnp.maximum(to / scale, 1.0)))
    far = jnp.ceil(jnp.log2(to)) - jnp.floor(jnp.log2(scale))  # where the ratio is too large for a float
    doublings = jnp.where(jnp.isfinite(doublings), doublings, far)
    # ldexp is exact; exp2 may not be.
    return jnp.ldexp(scale, jnp.where(jnp.isfinite(doublings), doublings, 0).astype(jnp.int32))


def warmed_up(scale: jax.Array, rewards: jax.Array, ended: jax.Array) -> ValueScale:
    """``scale`` times the power of two with which it just reaches the largest absolute return in some steps.

    Without a reward it stays what it was.
    """

    def add(total, step):
        reward, end = step
        total = total + reward
        return jnp.where(end, 0.0, total), jnp.abs(total)

    _, returns = jax.lax.scan(add, jnp.float32(0), (rewards.astype(jnp.float32), ended))
    largest = returns.max()
    return init(jnp.where(largest > 0, grown(_tiny(scale), largest), scale))._replace(largest=largest)
