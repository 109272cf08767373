"""What may be kept of Q while an agent trains: how far each value spread over the last episodes.

At the start of an episode, after its updates, the Q-values of the member that is about to act
are taken at every state. For one member those of the last ten episodes are the paper's sample
of its uncertainty (Section 5, fig5). For an ensemble they are the ten functions that were acted
on: a sample of what alg3 takes for its posterior, of which one member's path, all but still for
ten episodes, would show little.

Room is bounded: there is a map after every tenth episode, and once a run has 200 of them, every
other one is dropped and the stride doubles.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn.agent import Agent, AgentState
from langevin_dqn.environments import Environment, HostEnvironment
from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.errors import UserError, unknown
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


def check(record: str, environment: Environment | HostEnvironment, agent: Agent) -> None:
    """Refuse what cannot be recorded."""
    if record not in RECORDS:
        raise unknown("record", record, RECORDS)
    space = environment.observation_space
    if isinstance(environment, HostEnvironment) or not isinstance(space, IndexSpace):
        raise UserError(
            "record=q needs an environment of ours that is observed as an index",
            "deep_sea is one; see langevin-dqn list",
        )
    if space.n > MAX_STATES:
        raise UserError(f"record=q keeps at most {MAX_STATES} states, not {space.n}", "use a smaller environment")
    if agent.structure.sleeping_rows:
        # A sleeping row's noise is drawn when it is read. To read it here would change the run; a copy brought up
        # to date for each map would have the right law at each, but not from one to the next, which a spread is of.
        raise UserError("record=q needs every row of the first layer at every update", "set row_updates=dense")


def init(space: Space, num_actions: int) -> Recorder:
    assert isinstance(space, IndexSpace), "other environments are refused before"
    return Recorder(
        recent=jnp.zeros((WINDOW, space.n, num_actions)),
        visits=jnp.zeros(space.n, jnp.int32),
        stride=jnp.int32(WINDOW),
        spread=jnp.zeros((MAX_MAPS, space.n, num_actions)),
        seen=jnp.zeros((MAX_MAPS, space.n), jnp.int32),
    )


def look(agent: Agent, recorder: Recorder, state: AgentState) -> Recorder:
    """Take Q of every state as an episode begins.

    Each episode writes where the next map belongs; the one that the map is for comes last.
    """
    states = jnp.arange(recorder.visits.shape[0])
    q = jax.vmap(lambda obs: agent.member_values(state, state.member, obs))(states)
    before = state.episode - 1
    recorder = recorder._replace(recent=recorder.recent.at[before % WINDOW].set(q))
    full = before // recorder.stride >= MAX_MAPS
    recorder = lax.fori_loop(0, full.astype(int), lambda _, r: _thinned(r), recorder)  # ``cond`` would copy the maps
    place = before // recorder.stride
    return recorder._replace(
        spread=recorder.spread.at[place].set(recorder.recent.std(0)),
        seen=recorder.seen.at[place].set(recorder.visits),
    )


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
