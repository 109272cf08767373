"""One episode of alg3, written once, for compiled and for host environments, for training and evaluation.

Lines of alg3, in its order:

| lines | what | here |
|---|---|---|
| 6-8 | update every member | ``begin``, where an agent learns between episodes |
| 9 | draw the member that acts | ``begin`` |
| 11 | observe the first state | the environment's ``reset`` |
| 13 | act | ``act`` |
| 14 | observe reward and next state | the environment's ``step`` |
| 15-19 | add the transition to the buffers | ``remember`` |

An agent that learns within episodes makes its updates at the end of ``remember`` instead.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn import keys
from langevin_dqn.agents.base import Step
from langevin_dqn.keys import EpisodeKeys, StepKeys
from langevin_dqn.pytrees import apply_if


class Episode(NamedTuple):
    """An episode after some of its steps.

    Attributes:
        agent_state: the agent's.
        env_state: the environment's.
        obs: what is acted on next.
        visits: how often each state was acted in, where that is counted; else None.
        total: the sum of rewards.
        steps: steps made.
        ended: terminated or truncated.
    """

    agent_state: Any
    env_state: Any
    obs: jax.Array
    visits: jax.Array | None
    total: jax.Array
    steps: jax.Array
    ended: jax.Array


def random_steps(environment: Any, key: jax.Array, count: int) -> Step:
    """So many steps of random actions in a compiled environment, one episode after the other."""

    def step(carry: tuple[Any, jax.Array], number: jax.Array) -> tuple[tuple[Any, jax.Array], Step]:
        env_state, obs = carry
        reset_key, act_key, env_key = jax.random.split(jax.random.fold_in(key, number), 3)
        action = jax.random.randint(act_key, (), 0, environment.num_actions)
        env_state, next_obs, reward, terminated, truncated = environment.step(env_key, env_state, action)
        made = Step(obs, action, reward, next_obs, terminated, truncated)
        again = environment.reset(reset_key)
        ended = terminated | truncated
        return jax.tree.map(lambda new, old: jnp.where(ended, new, old), again, (env_state, next_obs)), made

    return lax.scan(step, environment.reset(jax.random.fold_in(key, count)), jnp.arange(count))[1]


def begin(agent: Any, episode: EpisodeKeys, state: Any, last_steps: jax.Array) -> Any:
    """Lines 6-9 of alg3: learn from the last episode, which had ``last_steps`` steps, and draw what to act on."""
    if not agent.learns_within:
        state = agent.learn(episode.learn, state, last_steps)
    return agent.begin_episode(episode.begin, state)


def act(agent: Any, step: StepKeys, state: Any, obs: jax.Array, unless: jax.Array | None = None) -> tuple[Any, Any]:
    """Line 13 of alg3: the state prepared for ``obs``, and the action.

    ``unless`` is true where the action will not be used, and the state must stay as it is.
    """
    prepared = agent.attend(step.attend, state, obs)
    if unless is not None and prepared is not state:
        prepared = apply_if(~unless, lambda state: agent.attend(step.attend, state, obs), state)
    return prepared, agent.act(step.act, prepared, obs)


def remember(agent: Any, step_keys: StepKeys, state: Any, step: Step) -> Any:
    """Lines 15-19 of alg3: add the transition to the buffers; learn from it at once, if the agent does that."""
    state = agent.observe(step_keys.observe, state, step)
    if agent.learns_within:
        state = agent.learn(step_keys.learn, state, jnp.int32(1))
    return state


def run(
    agent: Any,
    environment: Any,
    episode: EpisodeKeys,
    state: Any,
    *,
    max_steps: jax.Array,
    visits: jax.Array | None = None,
) -> Episode:
    """Lines 10-21 of alg3 in a compiled environment, or as much of them as ``max_steps`` allows."""
    env_state, obs = environment.reset(episode.reset)

    def step(now: Episode) -> Episode:
        step_keys = keys.step_keys(episode.steps, now.steps)
        state, action = act(agent, step_keys, now.agent_state, now.obs)
        visits = None if now.visits is None else now.visits.at[now.obs].add(1)
        env_state, next_obs, reward, terminated, truncated = environment.step(
            step_keys.environment, now.env_state, action
        )
        state = remember(agent, step_keys, state, Step(now.obs, action, reward, next_obs, terminated, truncated))
        return Episode(state, env_state, next_obs, visits, now.total + reward, now.steps + 1, terminated | truncated)

    start = Episode(state, env_state, obs, visits, jnp.float32(0), jnp.int32(0), jnp.bool_(False))
    return lax.while_loop(lambda now: ~now.ended & (now.steps < max_steps), step, start)
