"""Training where the environment is compiled too: one program per chunk of episodes, and a host that only looks on."""

import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import recording
from langevin_dqn import schedule as schedules
from langevin_dqn.agent import Agent, AgentState
from langevin_dqn.environments import Environment
from langevin_dqn.pytrees import classes_of
from langevin_dqn.recording import Recorder
from langevin_dqn.replay import Replay
from langevin_dqn.results import Snapshot
from langevin_dqn.schedule import Schedule

_FIRST_CHUNK = 5


class Carry(NamedTuple):
    """What goes from one episode to the next."""

    state: AgentState
    replay: Replay
    returns: jax.Array
    lengths: jax.Array
    measures: dict[str, jax.Array]
    steps: jax.Array  # of the last episode
    all_steps: jax.Array
    cut: jax.Array  # the last episode, by the budget of steps
    regret: jax.Array
    finite: jax.Array
    recorder: Recorder | None  # None where nothing is recorded: no part of the program then


class Limits(NamedTuple):
    """Where a chunk of episodes ends, traced."""

    episodes: jax.Array
    steps: jax.Array  # cut an episode here
    check: jax.Array  # begin no episode after so many steps
    regret_share: jax.Array  # of the episodes: less is learned


def run(
    agent: Agent,
    environment: Environment,
    schedule: Schedule,
    key: jax.Array,
    *,
    episodes: int | None,
    steps: int | None,
    check_every: int | None,
    within: bool,
    seconds: float,
    stop_when_solved: bool,
    records: bool = False,
) -> Iterator[Snapshot]:
    """Train in chunks of about so many ``seconds``, and show a snapshot after each.

    A check falls on the first end of an episode after each multiple of ``check_every`` steps.
    """
    never = np.iinfo(np.int32).max
    most = min(episodes or never, steps or never)  # an episode has at least one step
    classes = classes_of(environment)
    carry = begin(agent, environment, key, most, steps, records, classes)
    learned = getattr(environment, "learned_regret", None) if stop_when_solved else None
    done, chunk, next_check = 0, _FIRST_CHUNK, check_every
    while True:
        before = time.perf_counter()
        limits = Limits(
            episodes=jnp.int32(min(done + chunk, most)),
            steps=jnp.int32(steps or never),
            check=jnp.int32(min(next_check or never, steps or never)),
            regret_share=jnp.float32(-jnp.inf if learned is None else learned),
        )
        carry = run_chunk(agent, environment, schedule, key, carry, limits, within, classes)
        ran, done, all_steps = int(carry.state.episode) - done, int(carry.state.episode), int(carry.all_steps)
        ended = done - int(carry.cut)
        check = next_check is not None and all_steps >= next_check and not bool(carry.cut)
        yield Snapshot(
            state=carry.state,
            returns=np.array(carry.returns)[:ended],  # cut here: JAX would compile a program for every length
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


@partial(jax.jit, static_argnums=(3, 4, 5, 6))
def begin(
    agent: Agent,
    environment: Environment,
    key: jax.Array,
    episodes: int,
    steps: int | None = None,
    records: bool = False,
    _classes: tuple[type, ...] = (),
) -> Carry:
    space, actions = environment.observation_space, environment.num_actions
    longest = environment.max_steps
    most = np.iinfo(np.int32).max if longest is None else episodes * longest
    measures = jax.eval_shape(lambda: environment.measure(environment.reset(key)[0]))
    return Carry(
        state=agent.init(jax.random.fold_in(key, 0), space, actions),
        replay=agent.init_replay(space, actions, capacity=min(most, steps or most)),
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


@partial(jax.jit, static_argnums=(6, 7), donate_argnums=4)
def run_chunk(
    agent: Agent,
    environment: Environment,
    schedule: Schedule,
    key: jax.Array,
    carry: Carry,
    limits: Limits,
    within: bool,
    _classes: tuple[type, ...] = (),
) -> Carry:
    """Run episodes up to a limit, until the run has learned, or until it has diverged."""
    best = 0.0 if environment.max_return is None else environment.max_return

    def episode(carry: Carry) -> Carry:
        number = carry.state.episode + 1
        learn_key, begin_key, reset_key, steps_key = jax.random.split(jax.random.fold_in(key, number), 4)
        state = carry.state
        if not within:
            state = schedules.learn(agent, schedule, learn_key, state, carry.replay, carry.steps)
        state = agent.begin_episode(begin_key, state)
        recorder = carry.recorder
        if recorder is not None:
            recorder = recording.look(agent, recorder, state)
        state, replay, env_state, visits, total, steps, ended = _rollout(
            agent,
            environment,
            schedule,
            reset_key,
            steps_key,
            state,
            carry.replay,
            None if recorder is None else recorder.visits,
            limits.steps - carry.all_steps,
            within,
        )
        return Carry(
            state=state,
            replay=replay,
            returns=carry.returns.at[number - 1].set(total),
            lengths=carry.lengths.at[number - 1].set(steps),
            measures={
                name: carry.measures[name].at[number - 1].set(value)
                for name, value in environment.measure(env_state).items()
            },
            steps=steps,
            all_steps=carry.all_steps + steps,
            cut=~ended,
            regret=carry.regret + (best - total),
            finite=schedules.is_finite(state),
            recorder=None if recorder is None else recorder._replace(visits=visits),
        )

    start = carry.state.episode

    def going(carry: Carry) -> jax.Array:
        done = carry.state.episode
        # A host that came back has decided to go on, so the first episode always runs.
        learned = (carry.regret < limits.regret_share * done) & (done > start)
        return (done < limits.episodes) & (carry.all_steps < limits.check) & ~learned & carry.finite

    return lax.while_loop(going, episode, carry)


def _rollout(
    agent: Agent, environment: Environment, schedule, reset_key, key, state, replay, visits, room, within: bool
):
    """One episode of alg3, lines 10-19, or as much of it as there is ``room`` for in steps.

    Gives ``(state, replay, env_state, visits, return, steps, ended)``.
    """
    env_state, obs = environment.reset(reset_key)

    def step(loop):
        state, replay, env_state, obs, visits, total, steps, _ = loop
        attend_key, act_key, env_key, store_key, learn_key = jax.random.split(jax.random.fold_in(key, steps), 5)
        state = agent.attend(attend_key, state, obs)
        action = agent.act(act_key, state, obs)
        if visits is not None:
            visits = visits.at[obs].add(1)
        env_state, next_obs, reward, terminated, truncated = environment.step(env_key, env_state, action)
        replay = agent.observe(store_key, state, replay, obs, action, reward, next_obs, terminated)
        if within:
            state = schedules.learn(agent, schedule, learn_key, state, replay, 1)
        return state, replay, env_state, next_obs, visits, total + reward, steps + 1, terminated | truncated

    loop = (state, replay, env_state, obs, visits, jnp.float32(0), jnp.int32(0), jnp.bool_(False))
    loop = lax.while_loop(lambda loop: ~loop[-1] & (loop[-2] < room), step, loop)
    state, replay, env_state, _, visits, total, steps, ended = loop
    return state, replay, env_state, visits, total, steps, ended
