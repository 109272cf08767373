"""Our agents and the matrix-product floor, wrapped like the peers: ``build(...)`` gives ``run(n)``."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn import keys
from langevin_dqn.agents import Step, ValueAgent, make_agent
from langevin_dqn.environments import make_env
from langevin_dqn.presets import preset
from langevin_dqn.pytrees import Program

Run = Callable[[int], None]


def build(agent: str, depth: int, members: int, *, capacity: int = 10_000, **changes: Any) -> Run:
    """An agent on a full buffer of random deep-sea episodes; ``run(n)`` makes n updates of every member.

    Args:
        agent: its name; ``paper`` settings.
        depth: of the sea.
        members: of the ensemble.
        capacity: transitions.
        **changes: fields of the configuration.
    """
    environment = make_env(f"deep_sea:depth={depth}")
    space, actions = environment.observation_space, environment.num_actions
    built = make_agent(preset(agent, "paper", members=members, **changes), space=space)
    key = keys.run_key(0)
    state = jax.jit(lambda agent, key: agent.init(key, space, actions, capacity))(built, key)
    state = _fill(built, environment, key, state, capacity // depth)
    learn = Program(ValueAgent.learn, donate_argnums=2).compiled_for(built)

    def run(n: int) -> None:
        nonlocal state
        number = state.learner.counter.updates
        state = jax.block_until_ready(learn(built, jax.random.fold_in(key, number), state, jnp.int32(n)))

    run(300)  # past the warm-up of lazy rows
    return run


@jax.jit
def _fill(agent: ValueAgent, environment, key: jax.Array, state, episodes):
    def episode(number, state):
        env_state, obs = environment.reset(key)

        def step(row, carry):
            env_state, obs, state = carry
            step_key = jax.random.fold_in(jax.random.fold_in(key, number), row)
            action = jax.random.bernoulli(step_key).astype(jnp.int32)
            env_state, next_obs, reward, terminated, truncated = environment.step(step_key, env_state, action)
            state = agent.observe(step_key, state, Step(obs, action, reward, next_obs, terminated, truncated))
            return env_state, next_obs, state

        return lax.fori_loop(0, environment.max_steps, step, (env_state, obs, state))[2]

    return lax.fori_loop(0, episodes, episode, state)


def build_floor(members: int, *, batch_size: int = 128, hidden: int = 50) -> Run:
    """The four hidden-layer products of an update and nothing else: two forward, two backward."""

    @partial(jax.jit, donate_argnums=0)
    def products(carry, n):
        def once(_, carry):
            x, weights, target_x = carry
            y = x @ weights
            target_y = target_x @ weights
            weight_gradient = x.mT @ y
            gradient = target_y @ weights.mT
            return gradient, weight_gradient, y

        return lax.fori_loop(0, n, once, carry)

    shape = (batch_size, hidden) if members == 1 else (members, batch_size, hidden)
    carry = (jnp.full(shape, 0.01), jnp.full((*shape[:-2], hidden, hidden), 0.01), jnp.full(shape, 0.02))

    def run(n: int) -> None:
        nonlocal carry
        carry = jax.block_until_ready(products(carry, jnp.int32(n)))

    run(10)
    return run
