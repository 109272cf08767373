"""Several seeds at once: the compiled loop of one run, mapped over the keys of all of them.

A chunk of episodes is one program for all seeds, as an accelerator wants it. Seeds that have ended wait for the others.
"""

import functools
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import Environment
from langevin_dqn.loops import compiled
from langevin_dqn.loops.capacity import exact_room
from langevin_dqn.loops.compiled import Carry, Limits
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.pytrees import Program

_FIRST_CHUNK = 5
_NEVER = np.iinfo(np.int32).max


def run(
    agent: Any,
    environment: Environment,
    keys: jax.Array,
    *,
    episodes: int | None,
    steps: int | None,
    seconds: float,
    learned_regret: float | None = None,
    is_over: Callable[[int, Snapshot], bool] = lambda place, now: False,
) -> Iterator[list[Snapshot]]:
    """Run in chunks of about ``seconds`` seconds, and yield a snapshot of every seed after each.

    The state in a snapshot is without its memory.

    Args:
        agent: the agent.
        environment: a compiled environment.
        keys: the key of each run.
        episodes: maximum number of episodes.
        steps: maximum number of environment steps.
        seconds: of work between two snapshots.
        learned_regret: stop a run, in its program, once its regret per episode is below this.
        is_over: called after each chunk; true ends a run that could continue.
    """
    most = min(episodes or _NEVER, steps or _NEVER)
    carry = BEGIN.compiled_for(agent, environment)(agent, environment, keys, most, steps)
    chunk, going = _FIRST_CHUNK, np.ones(len(keys), bool)
    while True:
        before, done = time.perf_counter(), np.array(carry.episodes)
        limits = Limits(
            episodes=jnp.asarray(np.where(going, np.minimum(done + chunk, most), done), jnp.int32),
            steps=jnp.int32(steps or _NEVER),
            check=jnp.int32(steps or _NEVER),
            regret_share=jnp.float32(-jnp.inf if learned_regret is None else learned_regret),
        )
        carry = RUN_CHUNK.compiled_for(agent, environment)(agent, environment, keys, carry, limits)
        carry = compiled.with_exact_regret(carry, environment)
        snapshots = _snapshots(agent, carry)
        ran = int((np.array(carry.episodes) - done).max())
        going &= np.array(carry.episodes) < most
        going &= np.array(carry.all_steps) < (steps or _NEVER)
        going &= np.array(carry.finite)
        for place in np.flatnonzero(going):
            going[place] = not is_over(int(place), snapshots[place])
        yield snapshots
        if not going.any():
            return
        rate = ran / max(time.perf_counter() - before, 1e-6)
        chunk = int(np.clip(rate * seconds, 1, 4 * chunk))


def needed_bytes(agent: Any, environment: Environment, keys: jax.Array, episodes: int | None, steps: int | None) -> int:
    """What the state of all runs takes in memory, replay included."""
    most = min(episodes or _NEVER, steps or _NEVER)
    shapes = jax.eval_shape(lambda keys: _begin(agent, environment, keys, most, steps), keys)
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))


def _snapshots(agent: Any, carry: Carry) -> list[Snapshot]:
    ended = np.array(carry.episodes) - np.array(carry.cut)
    returns, lengths, steps, finite = (
        np.array(x) for x in (carry.returns, carry.lengths, carry.all_steps, carry.finite)
    )
    measures = {name: np.array(values) for name, values in carry.measures.items()}
    states = agent.without_memory(carry.state)
    return [
        Snapshot(
            state=jax.tree.map(lambda leaf, i=i: leaf[i], states),
            returns=returns[i, : ended[i]],
            lengths=lengths[i, : ended[i]],
            measures={name: values[i, : ended[i]] for name, values in measures.items()},
            steps=int(steps[i]),
            finite=bool(finite[i]),
            to_save=functools.partial(_of_one, carry, i),
        )
        for i in range(len(ended))
    ]


def _of_one(carry: Carry, place: int) -> Carry:
    return jax.tree.map(lambda leaf: leaf[place], carry)


def _begin(agent: Any, environment: Environment, keys: jax.Array, episodes: int, steps: int | None) -> Carry:
    room = exact_room(environment, episodes, steps)
    return jax.vmap(lambda key: compiled._begin(agent, environment, key, room))(keys)


def _run_chunk(agent: Any, environment: Environment, keys: jax.Array, carry: Carry, limits: Limits) -> Carry:
    def one(key: jax.Array, carry: Carry, episodes: Any) -> Carry:
        return compiled._run_chunk(agent, environment, key, carry, limits._replace(episodes=episodes))

    return jax.vmap(one)(keys, carry, limits.episodes)


BEGIN = Program(_begin, static_argnums=(3, 4))
RUN_CHUNK = Program(_run_chunk, donate_argnums=3)
