"""A trained agent, and how well it does when it only exploits."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import prng
from langevin_dqn.agent import Agent, AgentState, greedy
from langevin_dqn.environments import Environment, HostEnvironment, make_env
from langevin_dqn.errors import UserError
from langevin_dqn.pytrees import classes_of


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Trained:
    """An agent and the state it has learned."""

    agent: Agent
    state: AgentState

    def draw_member(self, key: jax.Array) -> "Trained":
        """The same, with the member that acts drawn anew."""
        return Trained(self.agent, self.agent.begin_episode(key, self.state))

    def act(self, key: jax.Array, obs: jax.Array) -> jax.Array:
        """The acting member's best action, without ε; rows that sleep are taken at their mean."""
        return greedy(key, self.agent.member_values(self.state, self.state.member, obs))


def evaluate(
    trained: Trained, env: str | Environment | HostEnvironment, episodes: int = 20, seed: int = 0
) -> np.ndarray:
    """The returns of ``episodes`` greedy episodes, in which nothing is learned.

    As in training, an ensemble draws the member that acts once per episode: what is measured
    is the policy that alg3 follows, and not a vote that no episode of it has seen.

    Args:
        trained: ``train(..., keep_agent=True).trained``.
        env: an environment or its id.
        episodes: how many.
        seed: everything random follows from it.

    Example:
        >>> import langevin_dqn
        >>> result = langevin_dqn.train("dqn", "probe_action", episodes=200, epsilon=0.5, keep_agent=True)
        >>> langevin_dqn.evaluate(result.trained, "probe_action", episodes=3).tolist()
        [1.0, 1.0, 1.0]
    """
    if episodes < 1:
        raise UserError(f"episodes={episodes} leaves nothing to run", "use at least 1 episode")
    environment = make_env(env) if isinstance(env, str) else env
    key = jax.random.key(seed, impl=prng.PRNG)
    if not isinstance(environment, HostEnvironment):
        return np.asarray(_returns(classes_of(environment), trained, environment, jax.random.split(key, episodes)))
    try:
        return _host_returns(trained, environment, key, episodes, seed)
    finally:
        if environment is not env:
            environment.close()


@partial(jax.jit, static_argnums=0)
def _returns(_classes: tuple[type, ...], trained: Trained, environment: Environment, keys: jax.Array) -> jax.Array:
    def episode(key):
        member_key, reset_key, steps_key = jax.random.split(key, 3)
        player = trained.draw_member(member_key)

        def step(loop):
            env_state, obs, total, steps, _ = loop
            act_key, env_key = jax.random.split(jax.random.fold_in(steps_key, steps))
            action = player.act(act_key, obs)
            env_state, obs, reward, terminated, truncated = environment.step(env_key, env_state, action)
            return env_state, obs, total + reward, steps + 1, terminated | truncated

        loop = (*environment.reset(reset_key), jnp.float32(0), jnp.int32(0), jnp.bool_(False))
        return lax.while_loop(lambda loop: ~loop[-1], step, loop)[2]

    return lax.map(episode, keys)


def _host_returns(trained: Trained, environment: HostEnvironment, key, episodes: int, seed: int) -> np.ndarray:
    returns = np.zeros(episodes)
    for number in range(episodes):
        episode_key = jax.random.fold_in(key, number)
        player = trained.draw_member(episode_key)
        obs = environment.reset(seed if number == 0 else None)
        steps, ended = 0, False
        while not ended:
            action = _act(player, episode_key, np.int32(steps), obs)
            obs, reward, terminated, truncated = environment.step(int(action))
            returns[number] += reward
            steps, ended = steps + 1, terminated or truncated
    return returns


@jax.jit
def _act(player: Trained, key: jax.Array, step, obs) -> jax.Array:
    return player.act(jax.random.fold_in(key, step), obs)
