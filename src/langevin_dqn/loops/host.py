"""The loop for environments that live on the host: one compiled call per environment step.

The same episode, with the same keys, as in the compiled loop: an environment that exists in both
forms gives the same run in both.
"""

import math
import time
from array import array
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import compile_time, keys
from langevin_dqn.agents import episode
from langevin_dqn.agents.base import Step
from langevin_dqn.environments import HostEnvironment, Space
from langevin_dqn.errors import EnvironmentFault, UserError
from langevin_dqn.loops.capacity import refitted_state, rounded_steps
from langevin_dqn.loops.snapshot import Milestones, Snapshot
from langevin_dqn.networks.base import example_observation
from langevin_dqn.pytrees import Program


class Carry(NamedTuple):
    """What goes from one compiled call to the next.

    Attributes:
        state: the agent's.
        steps_key: the key of the episode's steps.
        step: steps of the episode.
        obs: what was last acted on.
        action: what was done.
    """

    state: Any
    steps_key: jax.Array
    step: jax.Array
    obs: jax.Array
    action: jax.Array


class HostRun(NamedTuple):
    """A run as it can be saved: numbers only, from which ``langevin_dqn.loops.replaying`` restores the environment.

    Attributes:
        carry: what goes into the next compiled call.
        returns: one entry per episode that has ended, as in ``lengths``.
        lengths: see ``returns``.
        actions: every action so far.
        begun: episodes begun.
        total: the return of the last one so far.
        ended: the last one has ended.
        restorable: false once the environment was found to answer otherwise when its actions are repeated.
        environment: its own state, where it can save it.
    """

    carry: Carry
    returns: np.ndarray
    lengths: np.ndarray
    actions: np.ndarray
    begun: np.ndarray
    total: np.ndarray
    ended: np.ndarray
    restorable: np.ndarray
    environment: dict[str, np.ndarray]


def run(
    agent: Any,
    environment: HostEnvironment,
    key: jax.Array,
    *,
    seed: int,
    episodes: int | None,
    steps: int | None,
    seconds: float,
    check_every: int | None = None,
    metrics_every: int | None = None,
    resumed: HostRun | None = None,
) -> Iterator[Snapshot]:
    """Run until ``episodes`` have ended or ``steps`` are done, yielding a snapshot every ``seconds`` seconds.

    A check falls on the first end of an episode after each multiple of ``check_every`` steps, and metrics are due
    likewise. A run resumed from ``resumed`` yields that first; its environment has been restored.
    """
    begin, proceed, is_finite = (
        partial(compile_time.call, program.compiled_for(agent)) for program in (_BEGIN_EPISODE, _AFTER_STEP, _IS_FINITE)
    )
    room = rounded_steps(environment.observation_space, steps)
    now = _start(agent, environment, key, seed, room) if resumed is None else resumed
    carry, returns, lengths, actions = now.carry, now.returns.tolist(), now.lengths.tolist(), array("i", now.actions)
    begun, total, ended, restorable = int(now.begun), np.float32(now.total), bool(now.ended), bool(now.restorable)
    done = len(actions)
    began = done - int(carry.step)
    most_episodes, most_steps = (math.inf if n is None else n for n in (episodes, steps))
    checks, rows = (Milestones(every, done if ended else began) for every in (check_every, metrics_every))
    finite, shown = True, time.perf_counter()

    def to_save() -> HostRun:
        save_state = getattr(environment, "save_state", dict)
        return HostRun(
            carry,
            np.array(returns, np.float32),
            np.array(lengths, np.int32),
            np.array(actions, np.int32),
            begun=np.array(begun, np.int32),
            total=np.array(total),
            ended=np.array(ended),
            restorable=np.array(restorable),
            environment={name: np.asarray(value) for name, value in save_state().items()},
        )

    def snapshot(check: bool = False, metrics: bool = False) -> Snapshot:
        now = np.array(returns, np.float32), np.array(lengths, np.int32)
        return Snapshot(carry.state, *now, {}, done, finite, to_save, check, metrics)

    def over() -> bool:
        return len(returns) >= most_episodes or done >= most_steps or not finite

    if resumed is not None:
        finite = bool(is_finite(agent, carry.state))
        yield snapshot()._replace(resumed=True)
    try:
        while not over():
            if ended:
                obs = environment.reset(_seed_of_reset(seed, begun, restorable))
                begun += 1
                carry = begin(agent, key, np.int32(begun), carry, obs)
                total, ended, began = np.float32(0), False, done
            while finite and not (ended or done >= most_steps):
                action = int(carry.action)
                obs, reward, terminated, truncated = environment.step(action)
                actions.append(action)
                ended, done, total = terminated or truncated, done + 1, total + np.float32(reward)
                carry = proceed(agent, carry, obs, np.float32(reward), np.bool_(terminated), np.bool_(truncated))
                if time.perf_counter() - shown > seconds and not ended:
                    finite = bool(is_finite(agent, carry.state))
                    yield snapshot()
                    shown = time.perf_counter()
            if ended:
                returns.append(float(total))
                lengths.append(done - began)
            finite = bool(is_finite(agent, carry.state))
            check, metrics = ended and checks.reached(done), ended and rows.reached(done)
            if check or metrics or over() or time.perf_counter() - shown > seconds:
                yield snapshot(check, metrics)
                shown = time.perf_counter()
    except EnvironmentFault as fault:  # with the run as it was before: nothing that was learned is lost
        place = f"at the start of episode {begun + 1}" if ended else f"at step {done + 1}, in episode {begun}"
        yield snapshot()._replace(fault=fault.at(place))


def _start(agent: Any, environment: HostEnvironment, key: jax.Array, seed: int, room: int | None) -> HostRun:
    carry = _INIT.compiled_for(agent)(agent, key, environment.observation_space, environment.num_actions, room)
    if agent.random_steps > 0:
        made = random_steps(environment, seed, agent.random_steps)
        carry = carry._replace(state=_PREPARE.compiled_for(agent)(agent, key, carry.state, made))
    return empty_run(carry)


def empty_run(carry: Carry) -> HostRun:
    """A run of no episodes yet."""
    counts, yes = np.zeros(0, np.int32), np.array(True)
    begun, total = np.array(0, np.int32), np.array(0, np.float32)
    returns = np.zeros(0, np.float32)
    return HostRun(carry, returns, counts, counts, begun, total, ended=yes, restorable=yes, environment={})


def _seed_of_reset(seed: int, begun: int, restorable: bool) -> int | None:
    """The environment is seeded once, before its first episode; after a resume that could not restore it, again."""
    if restorable:
        return None if begun else seed
    return int(np.random.default_rng([seed, begun]).integers(2**31))


def layout(agent: Any, environment: HostEnvironment, key: jax.Array, room: int | None) -> Carry:
    """The shapes of a run's carry, with a replay for so many steps."""
    space, actions = environment.observation_space, environment.num_actions

    def start(agent: Any, key: jax.Array) -> Carry:
        carry = _init(agent, key, space, actions, room)
        if agent.random_steps == 0:
            return carry
        obs, no = example_observation(space), jnp.bool_(False)
        step = Step(obs, jnp.int32(0), jnp.float32(0), obs, no, no)
        made = jax.tree.map(lambda x: jnp.zeros((agent.random_steps, *x.shape), x.dtype), step)
        return carry._replace(state=_prepare(agent, key, carry.state, made))

    return jax.eval_shape(start, agent, key)


def refitted(
    agent: Any, environment: HostEnvironment, key: jax.Array, run: HostRun, episodes: int | None, steps: int | None
) -> HostRun:
    """``run`` for other limits: the run that had them from its start."""
    if len(run.returns) > (episodes or math.inf) or len(run.actions) > (steps or math.inf):
        raise UserError(
            f"the checkpoint has {len(run.returns)} episodes and {len(run.actions)} steps, more than requested",
            "request more episodes or steps",
        )
    room = rounded_steps(environment.observation_space, steps)
    expected = layout(agent, environment, key, room)
    state = refitted_state(agent, run.carry.state, expected.state, room)
    return run._replace(carry=run.carry._replace(state=state))


def random_steps(environment: HostEnvironment, seed: int, count: int) -> Step:
    """So many steps of random actions, one episode after the other."""
    rng, obs, made = np.random.default_rng(seed), environment.reset(seed), []
    for _ in range(count):
        action = int(rng.integers(environment.num_actions))
        next_obs, reward, terminated, truncated = environment.step(action)
        made.append(Step(obs, action, np.float32(reward), next_obs, bool(terminated), bool(truncated)))
        obs = environment.reset(None) if terminated or truncated else next_obs
    return Step(*(np.stack(values) for values in zip(*made, strict=True)))


def _prepare(agent: Any, key: jax.Array, state: Any, steps: Step) -> Any:
    return agent.prepare(keys.prepare_key(key), state, steps)


def _init(agent: Any, key: jax.Array, space: Space, actions: int, room: int | None) -> Carry:
    return Carry(
        state=agent.init(keys.init_key(key), space, actions, room),
        steps_key=keys.init_key(key),
        step=jnp.int32(0),
        obs=jnp.zeros_like(example_observation(space)),
        action=jnp.int32(0),
    )


def _begin_episode(agent: Any, key: jax.Array, number: jax.Array, carry: Carry, obs) -> Carry:
    """Lines 6-13 of alg3: learn from what there is, draw what to act on, act for the first time."""
    episode_keys = keys.episode_keys(key, number)
    state = episode.begin(agent, episode_keys, carry.state, carry.step)
    carry = carry._replace(state=state, steps_key=episode_keys.steps, step=jnp.int32(0), obs=jnp.asarray(obs))
    return _act(agent, carry)


def _after_step(agent: Any, carry: Carry, obs, reward, terminated, truncated) -> Carry:
    """Lines 15-19 of alg3, then line 13 of the next step.

    After the last step of an episode the action is not used, which is cheaper than a second program.
    """
    step_keys = keys.step_keys(carry.steps_key, carry.step)
    step = Step(carry.obs, carry.action, reward, obs, terminated, truncated)
    state = episode.remember(agent, step_keys, carry.state, step)
    carry = carry._replace(state=state, step=carry.step + 1, obs=jnp.asarray(obs))
    return _act(agent, carry, ended=terminated | truncated)


def _act(agent: Any, carry: Carry, ended: jax.Array | None = None) -> Carry:
    step_keys = keys.step_keys(carry.steps_key, carry.step)
    state, action = episode.act(agent, step_keys, carry.state, carry.obs, unless=ended)
    return carry._replace(state=state, action=action)


def _is_finite(agent: Any, state: Any) -> jax.Array:
    return agent.is_finite(state)


_INIT = Program(_init, static_argnums=(2, 3, 4))
_PREPARE = Program(_prepare)
_BEGIN_EPISODE = Program(_begin_episode, donate_argnums=3)
_AFTER_STEP = Program(_after_step, donate_argnums=1)
_IS_FINITE = Program(_is_finite)
