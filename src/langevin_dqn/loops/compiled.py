"""The loop for compiled environments: one program per chunk of episodes; the host only monitors progress."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import compile_time, keys
from langevin_dqn.agents import episode
from langevin_dqn.environments import Environment
from langevin_dqn.environments.time_limit import warned_if_endless, with_time_limit
from langevin_dqn.errors import UserError
from langevin_dqn.loops import recording
from langevin_dqn.loops.capacity import Room, exact_room, refitted_state, rounded_room
from langevin_dqn.loops.recording import Recorder
from langevin_dqn.loops.snapshot import Milestones, Snapshot
from langevin_dqn.pytrees import Program
from langevin_dqn.runs import metrics

_FIRST_CHUNK = 5
_NEVER = np.iinfo(np.int32).max
#: Relative errors of the regret on the device, four times over: it returns to the host a little early, never late.
_DOUBT = 2.0**-21


class Carry(NamedTuple):
    """What goes from one episode to the next.

    Attributes:
        state: the agent's.
        episodes: episodes run, the last one included if it was cut.
        returns: by episode, as are ``lengths`` and each of ``measures``.
        lengths: see ``returns``.
        measures: see ``returns``.
        steps: of the last episode.
        all_steps: in all.
        cut: the last episode was cut off by the limit of steps.
        regret: summed over episodes; between chunks the host replaces it by the sum in float64, rounded once.
        finite: the agent has not diverged.
        recorder: None where nothing is recorded: no part of the program then.
    """

    state: Any
    episodes: jax.Array
    returns: jax.Array
    lengths: jax.Array
    measures: dict[str, jax.Array]
    steps: jax.Array
    all_steps: jax.Array
    cut: jax.Array
    regret: jax.Array | np.ndarray
    finite: jax.Array
    recorder: Recorder | None


class Limits(NamedTuple):
    """Where a chunk of episodes ends, traced.

    Attributes:
        episodes: maximum number of episodes in total.
        steps: cut an episode here.
        check: begin no episode after this many steps.
        regret_share: stop once the regret is below this share of the episodes.
    """

    episodes: jax.Array | np.int32
    steps: jax.Array | np.int32
    check: jax.Array | np.int32
    regret_share: jax.Array | np.float32


def run(
    agent: Any,
    environment: Environment,
    key: jax.Array,
    *,
    episodes: int | None,
    steps: int | None,
    seconds: float,
    check_every: int | None = None,
    metrics_every: int | None = None,
    stop_when_solved: bool = False,
    records: bool = False,
    resumed: Carry | None = None,
) -> Iterator[Snapshot]:
    """Run in chunks of about ``seconds`` seconds, and yield a snapshot after each.

    A check falls on the first end of an episode after each multiple of ``check_every`` steps, and metrics are due
    likewise. A run resumed from ``resumed`` yields that first.
    """
    most = most_episodes(episodes, steps)
    carry = begin(agent, environment, key, most, steps, records) if resumed is None else resumed
    learned = getattr(environment, "learned_regret", None) if stop_when_solved else None
    program = RUN_CHUNK.compiled_for(agent, environment)
    done, all_steps, chunk = int(carry.episodes), int(carry.all_steps), _FIRST_CHUNK
    carry = with_exact_regret(carry, environment)
    checks, rows = Milestones(check_every, all_steps), Milestones(metrics_every, all_steps)

    def over() -> bool:
        return done >= most or (steps is not None and all_steps >= steps)

    def snapshot() -> Snapshot:
        ended, cut = done - int(carry.cut), bool(carry.cut)
        current = carry
        return Snapshot(
            state=carry.state,
            returns=np.array(carry.returns)[:ended],  # sliced here: JAX would compile a program for every length
            lengths=np.array(carry.lengths)[:ended],
            measures={name: np.array(values)[:ended] for name, values in carry.measures.items()},
            steps=all_steps,
            finite=bool(carry.finite),
            to_save=lambda: current,
            check=not cut and checks.reached(all_steps),
            metrics=not cut and rows.reached(all_steps),
            record=None if carry.recorder is None else recording.maps_of(carry.recorder, ended),
        )

    if resumed is not None:
        yield snapshot()._replace(resumed=True)
    while not over():
        before = time.perf_counter()
        limits = Limits(  # numbers of NumPy's, which cost nothing to make
            episodes=np.int32(min(done + chunk, most)),
            steps=np.int32(steps or _NEVER),
            check=np.int32(min(checks.next, rows.next, steps or _NEVER, _NEVER)),
            regret_share=np.float32(-np.inf if learned is None else learned),
        )
        carry = with_exact_regret(_call(program, agent, environment, key, carry, limits), environment)
        ran, done, all_steps = int(carry.episodes) - done, int(carry.episodes), int(carry.all_steps)
        yield snapshot()
        rate = ran / max(time.perf_counter() - before, 1e-6)
        chunk = int(np.clip(rate * seconds, 1, 4 * chunk))


def with_exact_regret(carry: Carry, environment: Environment) -> Carry:
    """``carry`` with the regret of its returns, summed in float64: in float32 a million terms lose whole episodes.

    It depends on the returns alone, not on how the run was cut into chunks.
    """
    ended, returns = np.asarray(carry.episodes), np.asarray(carry.returns)
    best = float(environment.max_return or 0.0)
    sums = [metrics.total_regret(returns[place][:count], best) for place, count in np.ndenumerate(ended)]
    return carry._replace(regret=np.array(sums, np.float32).reshape(ended.shape))


def most_episodes(episodes: int | None, steps: int | None) -> int:
    """The most episodes that a run may have: one has at least one step."""
    return min(episodes or _NEVER, steps or _NEVER)


def layout(agent: Any, environment: Environment, key: jax.Array, room: Room, records: bool) -> Carry:
    """The shapes of what ``begin`` gives."""
    return jax.eval_shape(
        lambda agent, environment, key: _begin(agent, environment, key, room, records), agent, environment, key
    )


def refitted(agent: Any, environment: Environment, key: jax.Array, carry: Carry, most: int, steps: int | None) -> Carry:
    """``carry`` for a run of other limits: at most ``most`` episodes and ``steps`` steps.

    The run is the one that had these limits from its start, which cannot be where an episode has been cut off.
    """
    ended, cut = int(carry.episodes) - int(carry.cut), bool(carry.cut)
    if ended > most or (steps is not None and int(carry.all_steps) > steps):
        raise UserError(
            f"the checkpoint has {ended} episodes and {int(carry.all_steps)} steps, more than requested",
            "request more episodes or steps",
        )
    if cut and int(carry.all_steps) != steps:
        raise UserError(
            f"the limit of {int(carry.all_steps)} steps cut off an episode, so the run cannot be resumed "
            "with another limit",
            "train again with more steps, or resume with the same limit",
        )

    room = rounded_room(environment, most, steps)

    def fit(values: jax.Array) -> jax.Array:
        kept = np.zeros(room.episodes, values.dtype)
        kept[: min(len(values), most)] = np.asarray(values)[:most]
        return jnp.array(kept)

    expected = layout(agent, environment, key, room, carry.recorder is not None)
    state = refitted_state(agent, carry.state, expected.state, room.steps)
    measures = {name: fit(values) for name, values in carry.measures.items()}
    return carry._replace(state=state, returns=fit(carry.returns), lengths=fit(carry.lengths), measures=measures)


def begin(
    agent: Any, environment: Environment, key: jax.Array, episodes: int, steps: int | None = None, records: bool = False
) -> Carry:
    """The start of a run with these limits of episodes and steps."""
    room = rounded_room(environment, episodes, steps)
    program = BEGIN.compiled_for(agent, environment)
    return compile_time.call(program, agent, environment, key, room, records)


def run_chunk(agent: Any, environment: Environment, key: jax.Array, carry: Carry, limits: Limits) -> Carry:
    """Run episodes up to a limit; ``carry`` is used up."""
    return _call(RUN_CHUNK.compiled_for(agent, environment), agent, environment, key, carry, limits)


def _call(program: Any, agent: Any, environment: Environment, key: jax.Array, carry: Carry, limits: Limits) -> Carry:
    if environment.max_steps is not None:
        return compile_time.call(program, agent, environment, key, carry, limits)
    with warned_if_endless(environment):
        carry = compile_time.call(program, agent, environment, key, carry, limits)
        done: Any = carry.episodes
        while not done.is_ready():  # wait here, in Python, so that Ctrl-C can end a program that does not
            time.sleep(0.001)
    return carry


def as_function(agent: Any, environment: Environment, episodes: int) -> Callable[[jax.Array], dict[str, Any]]:
    """The whole loop as one function of a key, for ``jit`` and ``vmap``."""

    def train(key: jax.Array) -> dict[str, Any]:
        # As constants of the program, numbers such as the learning rate would be folded into others: other rounding.
        traced_agent, traced_environment = lax.optimization_barrier((agent, environment))
        limits = Limits(jnp.int32(episodes), jnp.int32(_NEVER), jnp.int32(_NEVER), jnp.float32(-jnp.inf))
        start = _begin(traced_agent, traced_environment, key, exact_room(environment, episodes, None))
        carry = _run_chunk(traced_agent, traced_environment, key, start, limits)
        return {
            "returns": carry.returns,
            "lengths": carry.lengths,
            "measures": carry.measures,
            "episodes": carry.episodes,
            "steps": carry.all_steps,
            "finite": carry.finite,
            "statistics": agent.statistics(carry.state),
            "state": agent.without_memory(carry.state),
        }

    return train


def _begin(agent: Any, environment: Environment, key: jax.Array, room: Room, records: bool = False) -> Carry:
    """Lines 1-4 of alg3, and room for the results."""
    environment = with_time_limit(environment)
    space, actions = environment.observation_space, environment.num_actions
    measures = jax.eval_shape(lambda: environment.measure(environment.reset(key)[0]))
    state = agent.init(keys.init_key(key), space, actions, room.steps)
    if agent.random_steps > 0:
        prepare_key = keys.prepare_key(key)
        state = agent.prepare(prepare_key, state, episode.random_steps(environment, prepare_key, agent.random_steps))
    return Carry(
        state=state,
        episodes=jnp.int32(0),
        returns=jnp.zeros(room.episodes),
        lengths=jnp.zeros(room.episodes, jnp.int32),
        measures={name: jnp.zeros(room.episodes) for name in measures},
        steps=jnp.int32(0),
        all_steps=jnp.int32(0),
        cut=jnp.bool_(False),
        regret=jnp.float32(0),
        finite=jnp.bool_(True),
        recorder=recording.init(space, actions) if records else None,
    )


def _run_chunk(agent: Any, environment: Environment, key: jax.Array, carry: Carry, limits: Limits) -> Carry:
    """Run episodes up to a limit, until the run has learned, or until the agent has diverged."""
    environment = with_time_limit(environment)
    best = 0.0 if environment.max_return is None else environment.max_return

    def one_more(loop: tuple[Carry, jax.Array]) -> tuple[Carry, jax.Array]:
        carry, lost = loop
        number = carry.episodes + 1
        episode_keys = keys.episode_keys(key, number)
        state = episode.begin(agent, episode_keys, carry.state, carry.steps)
        recorder = carry.recorder
        if recorder is not None:
            recorder = recording.record_values(agent, recorder, state, carry.episodes)
        now = episode.run(
            agent,
            environment,
            episode_keys,
            state,
            max_steps=limits.steps - carry.all_steps,
            visits=None if recorder is None else recorder.visits,
        )
        behind = best - now.total
        regret = carry.regret + behind
        first = jnp.abs(carry.regret) >= jnp.abs(behind)
        lost += jnp.where(first, (carry.regret - regret) + behind, (behind - regret) + carry.regret)  # Neumaier's sum
        carry = Carry(
            state=now.agent_state,
            episodes=number,
            returns=carry.returns.at[number - 1].set(now.total),
            lengths=carry.lengths.at[number - 1].set(now.steps),
            measures={
                name: carry.measures[name].at[number - 1].set(value)
                for name, value in environment.measure(now.env_state).items()
            },
            steps=now.steps,
            all_steps=carry.all_steps + now.steps,
            cut=~now.ended,
            regret=regret,
            finite=agent.is_finite(now.agent_state),
            recorder=recording.with_visits(recorder, now.visits),
        )
        return carry, lost

    start = carry.episodes

    def going(loop: tuple[Carry, jax.Array]) -> jax.Array:
        carry, lost = loop
        done = carry.episodes
        doubt = _DOUBT * (jnp.abs(carry.regret) + abs(best) * done)
        # A host that came back has decided to go on, so the first episode always runs.
        learned = (carry.regret + lost - doubt < (1 + _DOUBT) * limits.regret_share * done) & (done > start)
        return (done < limits.episodes) & (carry.all_steps < limits.check) & ~learned & carry.finite

    return lax.while_loop(going, one_more, (carry, jnp.float32(0)))[0]


BEGIN = Program(_begin, static_argnums=(3, 4))
RUN_CHUNK = Program(_run_chunk, donate_argnums=3)
