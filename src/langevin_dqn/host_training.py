"""Training where the environment lives on the host: one compiled call per environment step.

The same algorithm, with the same keys, as the compiled loop of ``training.py``: an environment
that exists in both worlds gives the same run in both.
"""

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import schedule as schedules
from langevin_dqn.agent import Agent, AgentState
from langevin_dqn.environments import HostEnvironment, Space
from langevin_dqn.replay import Replay
from langevin_dqn.results import Snapshot
from langevin_dqn.schedule import Schedule


class Carry(NamedTuple):
    """What goes from one compiled call to the next.

    Attributes:
        state: the agent's.
        replay: its buffers.
        key: the episode's.
        step: steps of the episode.
        obs: what was last acted on.
        action: what was done.
    """

    state: AgentState
    replay: Replay
    key: jax.Array
    step: jax.Array
    obs: jax.Array
    action: jax.Array


def run(
    agent: Agent,
    environment: HostEnvironment,
    schedule: Schedule,
    key: jax.Array,
    *,
    seed: int,
    episodes: int | None,
    steps: int | None,
    check_every: int | None,
    within: bool,
    seconds: float,
) -> Iterator[Snapshot]:
    """Train until ``episodes`` have ended or ``steps`` are done, showing a snapshot every so many ``seconds``.

    A check falls on the first end of an episode after each multiple of ``check_every`` steps.
    """
    carry = _init(agent, key, environment.observation_space, environment.num_actions, steps)
    most_episodes, most_steps, every = (math.inf if n is None else n for n in (episodes, steps, check_every))
    returns: list[float] = []
    lengths: list[int] = []
    done, next_check, finite, looked = 0, every, True, time.perf_counter()

    def snapshot(check: bool = False) -> Snapshot:
        return Snapshot(
            carry.state, np.array(returns, np.float32), np.array(lengths, np.int32), {}, done, finite, check
        )

    def over() -> bool:
        return len(returns) >= most_episodes or done >= most_steps or not finite

    while not over():
        obs = environment.reset(None if returns else seed)
        carry = _begin_episode(agent, schedule, key, carry, obs, within)
        total, ended, began = np.float32(0), False, done
        while not (ended or done >= most_steps):
            obs, reward, terminated, truncated = environment.step(int(carry.action))
            ended, done, total = terminated or truncated, done + 1, total + np.float32(reward)
            outcome = obs, np.float32(reward), np.bool_(terminated), np.bool_(ended)
            carry = _after_step(agent, schedule, carry, *outcome, within)
            if time.perf_counter() - looked > seconds and not ended:
                yield snapshot()
                looked = time.perf_counter()
        if ended:
            returns.append(float(total))
            lengths.append(done - began)
        finite = bool(_finite(carry.state))
        due = ended and done >= next_check
        if due or over() or time.perf_counter() - looked > seconds:
            yield snapshot(due)
            looked = time.perf_counter()
        if due:
            next_check = (done // every + 1) * every


@partial(jax.jit, static_argnums=(2, 3, 4))
def _init(agent: Agent, key: jax.Array, space: Space, actions: int, steps: int | None) -> Carry:
    replay = agent.init_replay(space, actions, capacity=steps)
    return Carry(
        state=agent.init(jax.random.fold_in(key, 0), space, actions),
        replay=replay,
        key=jax.random.fold_in(key, 0),
        step=jnp.int32(0),
        obs=jnp.zeros_like(replay.data.obs[0, 0]),
        action=jnp.int32(0),
    )


@partial(jax.jit, static_argnames="within", donate_argnums=3)
def _begin_episode(agent: Agent, schedule: Schedule, key: jax.Array, carry: Carry, obs, within: bool) -> Carry:
    """Lines 5-11 of alg3: learn from what there is, draw a member, act for the first time."""
    learn_key, begin_key, _, steps_key = jax.random.split(jax.random.fold_in(key, carry.state.episode + 1), 4)
    state = carry.state
    if not within:
        state = schedules.learn(agent, schedule, learn_key, state, carry.replay, carry.step)
    state = agent.begin_episode(begin_key, state)
    return _act(agent, carry._replace(state=state, key=steps_key, step=jnp.int32(0), obs=jnp.asarray(obs)))


@partial(jax.jit, static_argnames="within", donate_argnums=2)
def _after_step(agent: Agent, schedule: Schedule, carry: Carry, obs, reward, terminated, ended, within: bool) -> Carry:
    """Lines 12-19 of alg3: remember, learn where it is time to, and act again.

    After the last step of an episode nobody does what this acts out, which is cheaper than
    compiling a second program.
    """
    store_key, learn_key = _step_keys(carry)[3:]
    state = carry.state
    replay = agent.observe(store_key, state, carry.replay, carry.obs, carry.action, reward, obs, terminated)
    if within:
        state = schedules.learn(agent, schedule, learn_key, state, replay, 1)
    return _act(agent, carry._replace(state=state, replay=replay, step=carry.step + 1, obs=jnp.asarray(obs)), ended)


def _act(agent: Agent, carry: Carry, ended=False) -> Carry:
    attend_key, act_key = _step_keys(carry)[:2]
    state = carry.state
    if agent.structure.sleeping_rows:  # a loop of at most one turn, because ``cond`` would copy the rows
        looks = 1 - jnp.int32(ended)
        state = lax.fori_loop(0, looks, lambda _, state: agent.attend(attend_key, state, carry.obs), state)
    return carry._replace(state=state, action=agent.act(act_key, state, carry.obs))


def _step_keys(carry: Carry) -> jax.Array:
    """Keys to attend, act, move the environment (unused here), store and learn with."""
    return jax.random.split(jax.random.fold_in(carry.key, carry.step), 5)


_finite = jax.jit(schedules.is_finite)
