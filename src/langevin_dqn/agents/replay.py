"""Replay buffers on the device, one for the whole ensemble or one per member (alg3)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn import prng
from langevin_dqn.environments.base import Space
from langevin_dqn.networks.base import example_observation


class Transition(NamedTuple):
    """What an update learns from.

    Attributes:
        obs: the observation acted on.
        action: the action taken.
        reward: its reward.
        next_obs: the observation after it.
        continues: 1, or 0 where the step terminated the episode (not where it was truncated).
        extras: a tree that belongs to the agent: whatever it needs to remember with the transition.
            Its leaves lead with the members that share the buffer.
    """

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    continues: Any
    extras: Any = None


class Replay(NamedTuple):
    """Ring buffers: every array leads with (buffers, capacity).

    Attributes:
        data: the transitions.
        size: transitions held, per buffer. This is |D| of alg2.
        cursor: where the next one goes, per buffer.
    """

    data: Transition
    size: jax.Array
    cursor: jax.Array

    @property
    def capacity(self) -> int:
        return self.data.action.shape[1]

    def with_capacity(self, capacity: int) -> "Replay":
        """The buffers as they would be if they had been made for so many transitions, of which none was given up."""

        def fit(x: jax.Array) -> jax.Array:
            added = jnp.zeros((x.shape[0], max(capacity - x.shape[1], 0), *x.shape[2:]), x.dtype)
            return jnp.concatenate([x[:, :capacity], added], axis=1)

        return Replay(jax.tree.map(fit, self.data), self.size, self.size % capacity)


@dataclass(frozen=True)
class Layout:
    """How the transitions of an ensemble are kept: in one buffer for all members, or in a separate one for each."""

    members: int
    separate: bool

    @property
    def buffers(self) -> int:
        return self.members if self.separate else 1

    def init(self, space: Space, extras: Any, capacity: int) -> Replay:
        """Empty buffers.

        Args:
            space: what is observed.
            extras: the shapes of a transition's extras; leaves lead with the members.
            capacity: transitions that each buffer holds.
        """
        obs = example_observation(space)
        sharing = self.members // self.buffers

        def empty(shape: tuple[int, ...], dtype: Any = jnp.float32) -> jax.Array:
            return jnp.zeros((self.buffers, capacity, *shape), dtype)

        data = Transition(
            obs=empty(obs.shape, obs.dtype),
            action=empty((), jnp.int32),
            reward=empty(()),
            next_obs=empty(obs.shape, obs.dtype),
            continues=empty(()),
            extras=jax.tree.map(lambda x: empty((sharing, *x.shape[1:]), x.dtype), extras),
        )
        count = jnp.zeros(self.buffers, jnp.int32)
        return Replay(data, count, count)

    def add(
        self, key: jax.Array, replay: Replay, transition: Transition, insert: jax.Array, random_out: bool
    ) -> Replay:
        """Put one transition into each buffer with ``insert`` set.

        Args:
            key: chooses the place where a full buffer gives up a random transition.
            replay: the buffers.
            transition: one transition; the leaves of its extras lead with the members.
            insert: one boolean per buffer.
            random_out: give up a random transition instead of the oldest.
        """
        sharing = self.members // self.buffers
        common = transition._replace(extras=None)
        per_buffer = jax.tree.map(lambda x: jnp.broadcast_to(x, (self.buffers, *jnp.shape(x))), common)._replace(
            extras=jax.tree.map(lambda x: x.reshape(self.buffers, sharing, *x.shape[1:]), transition.extras)
        )
        capacity = replay.capacity
        slot = replay.cursor
        if random_out:
            full = replay.size == capacity
            slot = jnp.where(full, prng.integers(key, slot.shape, jnp.int32(capacity)), slot)
        buffers = jnp.arange(self.buffers)

        def write(store, new):
            keep = insert.reshape(-1, *[1] * (new.ndim - 1))
            return store.at[buffers, slot].set(jnp.where(keep, new, store[buffers, slot]))

        data = jax.tree.map(write, replay.data, per_buffer)
        cursor = jnp.where(insert, (replay.cursor + 1) % capacity, replay.cursor)
        size = jnp.where(insert, jnp.minimum(replay.size + 1, capacity), replay.size)
        return Replay(data, size, cursor)

    def sample(
        self, key: jax.Array, replay: Replay, batch_size: int, shared: bool, recent: tuple[int, jax.Array] | None = None
    ) -> Transition:
        """Minibatches drawn uniformly with replacement: leaves lead with (members, batch).

        Args:
            key: the draw.
            replay: the buffers.
            batch_size: transitions per member.
            shared: give all members the same draw of places.
            recent: how many of the transitions to draw from the last so many that were added, instead of from all.
        """
        members = self.members
        member = jnp.arange(members)[:, None]
        buffer, part = (member, 0 * member) if self.buffers > 1 else (0 * member, member)
        draws = prng.bits(key, (1 if shared else members, batch_size))
        size = jnp.maximum(replay.size, 1).astype(jnp.uint32)[:, None]
        place = (draws % size).astype(jnp.int32)
        if recent is not None:
            count, window = recent
            back = draws[:, :count] % jnp.minimum(size, window.astype(jnp.uint32))
            newest = (replay.cursor[:, None] - 1 - back.astype(jnp.int32)) % replay.capacity
            rest = jnp.broadcast_to(place[:, count:], (newest.shape[0], batch_size - count))
            place = jnp.concatenate([newest, rest], axis=1)
        if shared and self.buffers == 1:
            return self._read_once(replay, place[0])
        place = jnp.broadcast_to(place, (members, batch_size))
        common = jax.tree.map(lambda x: x[buffer, place], replay.data._replace(extras=None))
        return common._replace(extras=jax.tree.map(lambda x: x[buffer, place, part], replay.data.extras))

    def _read_once(self, replay: Replay, place: jax.Array) -> Transition:
        """The same places of the only buffer for every member."""
        found = jax.tree.map(lambda x: x[0, place], replay.data)
        common = jax.tree.map(lambda x: jnp.broadcast_to(x, (self.members, *x.shape)), found._replace(extras=None))
        return common._replace(extras=jax.tree.map(lambda x: jnp.swapaxes(x, 0, 1), found.extras))
