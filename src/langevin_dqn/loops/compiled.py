"""The loop for compiled environments: one program per chunk of episodes; the host only monitors progress."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import keys
from langevin_dqn.agents import episode
from langevin_dqn.environments import Environment
from langevin_dqn.loops import recording
from langevin_dqn.loops.recording import Recorder
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.pytrees import Program

_FIRST_CHUNK = 5
_NEVER = np.iinfo(np.int32).max


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
        regret: summed over episodes.
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
    regret: jax.Array
    finite: jax.Array
    recorder: Recorder | None


class Limits(NamedTuple):
    """Where a chunk of episodes ends, traced.

    Attributes:
        episodes: run at most so many in all.
        steps: cut an episode here.
        check: begin no episode after so many steps.
        regret_share: stop once the regret is below this share of the episodes.
    """

    episodes: jax.Array
    steps: jax.Array
    check: jax.Array
    regret_share: jax.Array


def run(
    agent: Any,
    environment: Environment,
    key: jax.Array,
    *,
    episodes: int | None,
    steps: int | None,
    check_every: int | None,
    seconds: float,
    stop_when_solved: bool = False,
    records: bool = False,
) -> Iterator[Snapshot]:
    """Run in chunks of about so many ``seconds``, and yield a snapshot after each.

    A check falls on the first end of an episode after each multiple of ``check_every`` steps.
    """
    most = min(episodes or _NEVER, steps or _NEVER)  # an episode has at least one step
    carry = begin(agent, environment, key, most, steps, records)
    learned = getattr(environment, "learned_regret", None) if stop_when_solved else None
    done, chunk, next_check = 0, _FIRST_CHUNK, check_every
    while True:
        before = time.perf_counter()
        limits = Limits(
            episodes=jnp.int32(min(done + chunk, most)),
            steps=jnp.int32(steps or _NEVER),
            check=jnp.int32(min(next_check or _NEVER, steps or _NEVER)),
            regret_share=jnp.float32(-jnp.inf if learned is None else learned),
        )
        carry = run_chunk(agent, environment, key, carry, limits)
        ran, done, all_steps = int(carry.episodes) - done, int(carry.episodes), int(carry.all_steps)
        ended = done - int(carry.cut)
        check = next_check is not None and all_steps >= next_check and not bool(carry.cut)
        yield Snapshot(
            state=carry.state,
            returns=np.array(carry.returns)[:ended],  # sliced here: JAX would compile a program for every length
            lengths=np.array(carry.lengths)[:ended],
            measures={name: np.array(values)[:ended] for name, values in carry.measures.items()},
            steps=all_steps,
            finite=bool(carry.finite),
            check=check,
            record=None if carry.recorder is None else recording.maps_of(carry.recorder, ended),
        )
        if done >= most or (steps is not None and all_steps >= steps):
            return
        if check and check_every is not None:
            next_check = (all_steps // check_every + 1) * check_every
        rate = ran / max(time.perf_counter() - before, 1e-6)
        chunk = int(np.clip(rate * seconds, 1, 4 * chunk))


def begin(
    agent: Any, environment: Environment, key: jax.Array, episodes: int, steps: int | None = None, records: bool = False
) -> Carry:
    """The start of a run of at most so many episodes and steps."""
    program = BEGIN.compiled_for(agent, environment)
    return program(agent, environment, key, episodes, steps, records)


def run_chunk(agent: Any, environment: Environment, key: jax.Array, carry: Carry, limits: Limits) -> Carry:
    """Run episodes up to a limit; ``carry`` is used up."""
    return RUN_CHUNK.compiled_for(agent, environment)(agent, environment, key, carry, limits)


def as_function(agent: Any, environment: Environment, episodes: int) -> Callable[[jax.Array], dict[str, Any]]:
    """The whole loop as one function of a key, for ``jit`` and ``vmap``."""

    def train(key: jax.Array) -> dict[str, Any]:
        # As constants of the program, numbers such as the learning rate would be folded into others: other rounding.
        traced_agent, traced_environment = lax.optimization_barrier((agent, environment))
        limits = Limits(jnp.int32(episodes), jnp.int32(_NEVER), jnp.int32(_NEVER), jnp.float32(-jnp.inf))
        start = _begin(traced_agent, traced_environment, key, episodes)
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


def _begin(
    agent: Any, environment: Environment, key: jax.Array, episodes: int, steps: int | None = None, records: bool = False
) -> Carry:
    """Lines 1-4 of alg3, and room for the results."""
    space, actions = environment.observation_space, environment.num_actions
    longest = environment.max_steps
    capacity = steps if longest is None else min(episodes * longest, steps or episodes * longest)
    measures = jax.eval_shape(lambda: environment.measure(environment.reset(key)[0]))
    return Carry(
        state=agent.init(keys.init_key(key), space, actions, capacity),
        episodes=jnp.int32(0),
        returns=jnp.zeros(episodes),
        lengths=jnp.zeros(episodes, jnp.int32),
        measures={name: jnp.zeros(episodes) for name in measures},
        steps=jnp.int32(0),
        all_steps=jnp.int32(0),
        cut=jnp.bool_(False),
        regret=jnp.float32(0),
        finite=jnp.bool_(True),
        recorder=recording.init(space, actions) if records else None,
    )


def _run_chunk(agent: Any, environment: Environment, key: jax.Array, carry: Carry, limits: Limits) -> Carry:
    """Run episodes up to a limit, until the run has learned, or until the agent has diverged."""
    best = 0.0 if environment.max_return is None else environment.max_return

    def one_more(carry: Carry) -> Carry:
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
        return Carry(
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
            regret=carry.regret + (best - now.total),
            finite=agent.is_finite(now.agent_state),
            recorder=recording.with_visits(recorder, now.visits),
        )

    start = carry.episodes

    def going(carry: Carry) -> jax.Array:
        done = carry.episodes
        # A host that came back has decided to go on, so the first episode always runs.
        learned = (carry.regret < limits.regret_share * done) & (done > start)
        return (done < limits.episodes) & (carry.all_steps < limits.check) & ~learned & carry.finite

    return lax.while_loop(going, one_more, carry)


BEGIN = Program(_begin, static_argnums=(3, 4, 5))
RUN_CHUNK = Program(_run_chunk, donate_argnums=3)
