"""Agents with a memory of random episodes in a small deep sea, for comparing learners."""

import jax
import jax.numpy as jnp
import numpy as np
from small_agents import key, quick_jit

import langevin_dqn
from langevin_dqn.agents import Step

DEPTH = 6
ENV = langevin_dqn.make_env(f"deep_sea:depth={DEPTH}")


@quick_jit
def filled(agent, state, fill_key):
    """The state with random episodes in its memory."""

    def step(row, carry):
        state, env_state, obs, episode_key = carry
        step_key = jax.random.fold_in(episode_key, row)
        action = jax.random.bernoulli(step_key).astype(jnp.int32)
        env_state, following, reward, terminated, truncated = ENV.step(step_key, env_state, action)
        state = agent.observe(step_key, state, Step(obs, action, reward, following, terminated, truncated))
        return state, env_state, following, episode_key

    def episode(state, episode_key):
        return jax.lax.fori_loop(0, DEPTH, step, (state, *ENV.reset(episode_key), episode_key))[0], None

    return jax.lax.scan(episode, state, jax.random.split(fill_key, 20))[0]


@quick_jit
def _begin(agent, k):
    return agent.init(k, ENV.observation_space, 2, 200)


def prepared(name, row_updates, space=ENV.observation_space, **changes):
    """An agent and its state, before the first update."""
    config = langevin_dqn.preset(name, "paper", row_updates=row_updates, **changes)
    agent = langevin_dqn.make_agent(config, space=space)
    return agent, filled(agent, _begin(agent, key(1)), key(2))


@quick_jit
def learn(agent, k, state, count):
    """``count`` updates."""
    return state._replace(learner=agent.learner.learn(k, state.learner, state.replay, count))


@quick_jit
def _everywhere(agent, state):
    return jax.vmap(lambda cell: agent.ensemble_values(state, cell))(jnp.arange(DEPTH**2))


def everywhere(agent, state):
    """Q of every member at every cell."""
    return np.asarray(_everywhere(agent, state))
