"""Maps of the uncertainty of Q through training: the spread of each value over the last ten episodes.

At the start of an episode, after its updates, the values that are about to be acted on are read at
every state. For one member those of the last ten episodes are the paper's sample of its uncertainty
(Section 5, Figure 5). For an ensemble they are the ten functions that were acted on: a sample of what
alg3 takes for its posterior.

Memory is bounded: there is a map after every tenth episode, and once a run has 200 of them, every
other one is dropped and the stride doubles.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import Environment, HostEnvironment
from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.errors import UserError, unknown
from langevin_dqn.pytrees import apply_if
from langevin_dqn.runs.result import UncertaintyMaps

#: What can be recorded.
RECORDS = ("q",)
#: Episodes that a spread is taken over, and between two maps at first: maps share no episode.
WINDOW = 10
MAX_MAPS = 200
MAX_STATES = 5000


class Recorder(NamedTuple):
    """What a recorded run carries from episode to episode.

    Attributes:
        recent: Q at the start of the last episodes: (window, states, actions).
        visits: how often each state was acted in.
        stride: episodes between two maps.
        spread: standard deviations of Q, by map: (maps, states, actions).
        seen: ``visits`` as of each map.
    """

    recent: jax.Array
    visits: jax.Array
    stride: jax.Array
    spread: jax.Array
    seen: jax.Array


def check(record: str, environment: Environment | HostEnvironment, agent: Any) -> None:
    """Refuse what cannot be recorded."""
    if record not in RECORDS:
        raise unknown("record", record, RECORDS)
    space = environment.observation_space
    if isinstance(environment, HostEnvironment) or not isinstance(space, IndexSpace):
        raise UserError(
            "record=q needs a compiled environment with index observations",
            "for example, deep_sea; see langevin-dqn list",
        )
    if space.n > MAX_STATES:
        raise UserError(f"record=q supports at most {MAX_STATES} states, not {space.n}", "use a smaller environment")
    if not agent.values_are_exact:
        # The noise of a lazy row is drawn when it is read, and to read it here would change the run.
        hint = "set row_updates=dense; a custom agent needs values() and values_are_exact = True"
        raise UserError("record=q needs values that are exact at any time", hint)


def init(space: Space, num_actions: int) -> Recorder:
    assert isinstance(space, IndexSpace), "other environments are refused before"
    return Recorder(
        recent=jnp.zeros((WINDOW, space.n, num_actions)),
        visits=jnp.zeros(space.n, jnp.int32),
        stride=jnp.int32(WINDOW),
        spread=jnp.zeros((MAX_MAPS, space.n, num_actions)),
        seen=jnp.zeros((MAX_MAPS, space.n), jnp.int32),
    )


def record_values(agent: Any, recorder: Recorder, state: Any, before: jax.Array) -> Recorder:
    """Read Q of every state at the start of an episode; ``before`` is the number of episodes run already.

    Each episode overwrites the current map; the last one of the stride completes it.
    """
    states = jnp.arange(recorder.visits.shape[0])
    q = jax.vmap(lambda obs: agent.values(state, obs))(states)
    recorder = recorder._replace(recent=recorder.recent.at[before % WINDOW].set(q))
    full = before // recorder.stride >= MAX_MAPS
    recorder = apply_if(full, _thinned, recorder)
    place = before // recorder.stride
    return recorder._replace(
        spread=recorder.spread.at[place].set(recorder.recent.std(0)),
        seen=recorder.seen.at[place].set(recorder.visits),
    )


def with_visits(recorder: Recorder | None, visits: jax.Array | None) -> Recorder | None:
    return None if recorder is None or visits is None else recorder._replace(visits=visits)


def _thinned(recorder: Recorder) -> Recorder:
    """Every second map, at twice the stride."""

    def halve(maps):
        return maps.at[: MAX_MAPS // 2].set(maps[1::2])

    return recorder._replace(stride=2 * recorder.stride, spread=halve(recorder.spread), seen=halve(recorder.seen))


def maps_of(recorder: Recorder, episodes: int) -> UncertaintyMaps:
    """The maps there are once so many episodes have ended."""
    stride = int(recorder.stride)
    kept = episodes // stride

    def whole(maps: Any) -> np.ndarray:
        return np.array(maps)[:kept]  # cut here: JAX would compile a program for every length

    return UncertaintyMaps(
        episodes=stride * np.arange(1, kept + 1, dtype=np.int32),
        spread=whole(recorder.spread),
        visits=whole(recorder.seen),
    )
