"""Replay buffers on the device, one per ensemble or one per member (alg3)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn import prng
from langevin_dqn.environments.base import IndexSpace, Space


class Transition(NamedTuple):
    """What an update learns from. ``None`` stands for parts an agent does not use.

    In a buffer the members' parts have an axis for the members that share the buffer.

    Attributes:
        obs: the observation acted on.
        action: the action taken.
        reward: what came of it.
        next_obs: the observation after it.
        continues: 1, or 0 where the step terminated the episode (not where it was truncated).
        prior: each member's scaled prior value of (obs, action).
        next_prior: each member's scaled prior values of next_obs, one per action.
        target_noise: each member's draw of noise on the reward.
        mask: 1 where the member may learn from this transition.
    """

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    continues: Any
    prior: Any = None
    next_prior: Any = None
    target_noise: Any = None
    mask: Any = None


class Replay(NamedTuple):
    """Ring buffers: every array leads with (buffers, capacity).

    Attributes:
        data: the transitions.
        size: transitions held, per buffer. This is |D| of alg2.
        cursor: where the next one goes once there is no free place, per buffer.
    """

    data: Transition
    size: jax.Array
    cursor: jax.Array

    @property
    def capacity(self) -> int:
        return self.data.action.shape[1]


def init(template: Transition, buffers: int, capacity: int) -> Replay:
    """Empty buffers for transitions shaped like ``template`` (already per buffer)."""
    data = jax.tree.map(lambda x: jnp.zeros((buffers, capacity, *x.shape[1:]), x.dtype), template)
    return Replay(data, jnp.zeros(buffers, jnp.int32), jnp.zeros(buffers, jnp.int32))


def add(key: jax.Array, replay: Replay, transition: Transition, insert: jax.Array, random_out: bool) -> Replay:
    """Add a transition to each buffer where ``insert`` holds.

    Args:
        key: used where a full buffer gives up a random transition.
        replay: the buffers.
        transition: leaves lead with the buffers' axis.
        insert: one boolean per buffer.
        random_out: give up a random transition instead of the oldest.
    """
    capacity = replay.capacity
    full = replay.size == capacity
    slot = replay.cursor
    if random_out:
        slot = jnp.where(full, prng.integers(key, slot.shape, jnp.int32(capacity)), slot)
    buffers = jnp.arange(slot.shape[0])

    def write(store, new):
        keep = insert.reshape(-1, *[1] * (new.ndim - 1))
        return store.at[buffers, slot].set(jnp.where(keep, new, store[buffers, slot]))

    data = jax.tree.map(write, replay.data, transition)
    cursor = jnp.where(insert, (replay.cursor + 1) % capacity, replay.cursor)
    size = jnp.where(insert, jnp.minimum(replay.size + 1, capacity), replay.size)
    return Replay(data, size, cursor)


def sample(key: jax.Array, replay: Replay, members: int, batch_size: int, shared: bool) -> Transition:
    """Minibatches drawn uniformly with replacement: leaves lead with (members, batch).

    Args:
        key: the draw.
        replay: one buffer for all members, or one for each.
        members: the number of members.
        batch_size: transitions per member.
        shared: give all members the same draw of places.
    """
    buffers = replay.size.shape[0]
    member = jnp.arange(members)[:, None]
    buffer, part = (member, 0 * member) if buffers > 1 else (0 * member, member)
    draws = prng.bits(key, (1 if shared else members, batch_size))
    size = jnp.maximum(replay.size, 1).astype(jnp.uint32)[:, None]
    place = jnp.broadcast_to((draws % size).astype(jnp.int32), (members, batch_size))
    common = {name: getattr(replay.data, name)[buffer, place] for name in Transition._fields[:5]}
    return Transition(**common, **jax.tree.map(lambda x: x[buffer, place, part], _members_parts(replay.data)))


def template(space: Space, buffers: int, members: int, num_actions: int, **has: bool) -> Transition:
    """A transition of zeros per buffer, to shape the storage by.

    Args:
        space: what is observed.
        buffers: how many buffers there are.
        members: how many members share them.
        num_actions: actions per state.
        **has: which of the members' parts are kept, by name.
    """
    shape, dtype = ((), "int32") if isinstance(space, IndexSpace) else (space.shape, space.dtype)
    obs = jnp.zeros((buffers, *shape), dtype)
    scalar, per_member = jnp.zeros(buffers), jnp.zeros((buffers, members // buffers))
    parts = {
        "prior": per_member,
        "next_prior": jnp.zeros((*per_member.shape, num_actions)),
        "target_noise": per_member,
        "mask": per_member,
    }
    return Transition(
        obs, jnp.zeros(buffers, jnp.int32), scalar, obs, scalar, **{k: v for k, v in parts.items() if has.get(k)}
    )


def _members_parts(data: Transition) -> dict[str, Any]:
    return {name: getattr(data, name) for name in Transition._fields[5:]}
