"""Our agents and the matrix-product floor, wrapped like the peers: ``build(...)`` gives ``run(n)``."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from langevin_dqn import prng
from langevin_dqn.agent import Agent, AgentState, make_agent
from langevin_dqn.environments import make_env
from langevin_dqn.presets import preset
from langevin_dqn.replay import Replay

Run = Callable[[int], None]


def build(agent: str, depth: int, members: int, *, capacity: int = 10_000, row_updates: str = "auto") -> Run:
    """An agent on a full buffer of random deep-sea episodes; ``run(n)`` makes n updates of every member."""
    environment = make_env(f"deep_sea:depth={depth}")
    space, actions = environment.observation_space, environment.num_actions
    built = make_agent(preset(agent, members=members, row_updates=row_updates), space=space)
    key = jax.random.key(0, impl=prng.PRNG)
    state = jax.jit(lambda agent, key: agent.init(key, space, actions))(built, key)
    replay = _fill(built, environment, key, state, built.init_replay(space, actions, capacity), capacity // depth)
    learn = jax.jit(Agent.learn_many, donate_argnums=2)

    def run(n: int) -> None:
        nonlocal state
        state = jax.block_until_ready(learn(built, jax.random.fold_in(key, state.updates), state, replay, jnp.int32(n)))

    run(300)  # past the rows' warm-up
    return run


@jax.jit
def _fill(agent: Agent, environment, key: jax.Array, state: AgentState, replay: Replay, episodes) -> Replay:
    def episode(number, replay):
        env_state, obs = environment.reset(key)

        def step(row, carry):
            env_state, obs, replay = carry
            step_key = jax.random.fold_in(jax.random.fold_in(key, number), row)
            action = jax.random.bernoulli(step_key).astype(jnp.int32)
            env_state, next_obs, reward, terminated, _ = environment.step(step_key, env_state, action)
            replay = agent.observe(step_key, state, replay, obs, action, reward, next_obs, terminated)
            return env_state, next_obs, replay

        return lax.fori_loop(0, environment.max_steps, step, (env_state, obs, replay))[2]

    return lax.fori_loop(0, episodes, episode, replay)


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
