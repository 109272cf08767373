"""The loop for environments that live on the host: one compiled call per environment step.

The same episode, with the same keys, as in the compiled loop: an environment that exists in both
forms gives the same run in both.
"""

import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import keys
from langevin_dqn.agents import episode
from langevin_dqn.agents.base import Step
from langevin_dqn.environments import HostEnvironment, Space
from langevin_dqn.loops.snapshot import Snapshot
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


def run(
    agent: Any,
    environment: HostEnvironment,
    key: jax.Array,
    *,
    seed: int,
    episodes: int | None,
    steps: int | None,
    check_every: int | None,
    seconds: float,
) -> Iterator[Snapshot]:
    """Run until ``episodes`` have ended or ``steps`` are done, yielding a snapshot every so many ``seconds``.

    A check falls on the first end of an episode after each multiple of ``check_every`` steps.
    """
    init, begin, proceed, is_finite = (
        program.compiled_for(agent) for program in (_INIT, _BEGIN_EPISODE, _AFTER_STEP, _IS_FINITE)
    )
    carry = init(agent, key, environment.observation_space, environment.num_actions, steps)
    most_episodes, most_steps, every = (math.inf if n is None else n for n in (episodes, steps, check_every))
    returns: list[float] = []
    lengths: list[int] = []
    done, begun, next_check, finite, shown = 0, 0, every, True, time.perf_counter()

    def snapshot(check: bool = False) -> Snapshot:
        return Snapshot(
            carry.state, np.array(returns, np.float32), np.array(lengths, np.int32), {}, done, finite, check
        )

    def over() -> bool:
        return len(returns) >= most_episodes or done >= most_steps or not finite

    while not over():
        obs = environment.reset(None if returns else seed)
        begun += 1
        carry = begin(agent, key, np.int32(begun), carry, obs)
        total, ended, began = np.float32(0), False, done
        while not (ended or done >= most_steps):
            obs, reward, terminated, truncated = environment.step(int(carry.action))
            ended, done, total = terminated or truncated, done + 1, total + np.float32(reward)
            carry = proceed(agent, carry, obs, np.float32(reward), np.bool_(terminated), np.bool_(truncated))
            if time.perf_counter() - shown > seconds and not ended:
                yield snapshot()
                shown = time.perf_counter()
        if ended:
            returns.append(float(total))
            lengths.append(done - began)
        finite = bool(is_finite(agent, carry.state))
        due = ended and done >= next_check
        if due or over() or time.perf_counter() - shown > seconds:
            yield snapshot(due)
            shown = time.perf_counter()
        if due:
            next_check = (done // every + 1) * every


def _init(agent: Any, key: jax.Array, space: Space, actions: int, steps: int | None) -> Carry:
    return Carry(
        state=agent.init(keys.init_key(key), space, actions, steps),
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
_BEGIN_EPISODE = Program(_begin_episode, donate_argnums=3)
_AFTER_STEP = Program(_after_step, donate_argnums=1)
_IS_FINITE = Program(_is_finite)
