"""A trained agent, and how well it does when it only exploits."""

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import keys
from langevin_dqn.agents.base import BaseAgent, Step
from langevin_dqn.environments import Environment, HostEnvironment, Space, as_environment, is_made_here
from langevin_dqn.environments.guarded import Guarded
from langevin_dqn.errors import MOST_SEED, UserError, whole_number
from langevin_dqn.loops import compiled, host
from langevin_dqn.pytrees import pytree, static


@pytree
@dataclass(frozen=True)
class TrainedAgent:
    """An agent and its learned state.

    Attributes:
        agent: the agent.
        state: its state, without the replay buffer.
        space: its observation space.
        num_actions: number of actions.
    """

    agent: Any
    state: Any
    space: Space = static()
    num_actions: int = static()

    def begin_episode(self, key: jax.Array) -> "TrainedAgent":
        """The same, with what it acts on drawn anew: for an ensemble, the member."""
        return replace(self, state=self.agent.begin_episode(key, self.state))

    @property
    def is_finite(self) -> bool:
        """False if it has diverged: its actions then mean nothing."""
        return bool(self.agent.is_finite(self.state))

    def act(self, key: jax.Array, obs: jax.Array) -> jax.Array:
        """Its action without exploration by random actions."""
        return self.agent.exploit(key, self.state, obs)


@dataclass(frozen=True)
class Player(BaseAgent):
    """A trained agent as one that acts without exploration and learns nothing, for the training loops."""

    trained: TrainedAgent

    @property
    def _agent(self) -> Any:
        return self.trained.agent

    def init(self, key: jax.Array, space: Any, num_actions: int, capacity: int | None) -> Any:
        del key, space, num_actions, capacity
        return self._agent.without_memory(self.trained.state)

    def begin_episode(self, key: jax.Array, state: Any) -> Any:
        return self._agent.begin_episode(key, state)

    def act(self, key: jax.Array, state: Any, obs: jax.Array) -> jax.Array:
        return self._agent.exploit(key, state, obs)

    def observe(self, key: jax.Array, state: Any, step: Step) -> Any:
        del key, step
        return state

    def learn(self, key: jax.Array, state: Any, steps: jax.Array) -> Any:
        del key, steps
        return state

    def is_finite(self, state: Any) -> jax.Array:
        del state
        return jnp.bool_(True)  # nothing changes, so nothing can diverge

    def describe(self) -> dict[str, Any]:
        return self._agent.describe()


def evaluate(
    trained: TrainedAgent, env: str | Environment | HostEnvironment, episodes: int = 20, seed: int = 0
) -> np.ndarray:
    """Run greedy episodes without learning, and return their returns.

    As in training, an ensemble draws one member per episode to act, as in Algorithm 3; there is no
    majority vote of the members.

    Args:
        trained: ``train(..., keep_agent=True).trained``.
        env: an environment or its id.
        episodes: how many.
        seed: random seed; the same seed gives the same returns.

    Examples:
        >>> import langevin_dqn
        >>> result = langevin_dqn.train("dqn", "probe_action", episodes=200, epsilon=0.5, keep_agent=True)
        >>> langevin_dqn.evaluate(result.trained, "probe_action", episodes=3).tolist()
        [1.0, 1.0, 1.0]
    """
    whole_number("episodes", episodes, least=1)
    whole_number("seed", seed, least=0, most=MOST_SEED)
    if not isinstance(trained, TrainedAgent):
        own = getattr(trained, "trained", None)
        hint = "pass its .trained" if isinstance(own, TrainedAgent) else "pass train(..., keep_agent=True).trained"
        raise UserError(f"evaluate takes a trained agent, not a {type(trained).__name__}", hint)
    if not trained.is_finite:
        raise UserError("the parameters of the agent are not finite: its training diverged", "train it again")
    environment = as_environment(env)
    if (environment.observation_space, environment.num_actions) != (trained.space, trained.num_actions):
        raise UserError(
            f"the agent cannot act in {env}: observations or actions differ",
            "use an environment with the observations and actions of the training environment",
        )
    player = Player(trained)
    key = keys.run_key(seed)
    limits: dict[str, Any] = {"episodes": episodes, "steps": None, "check_every": None, "seconds": np.inf}
    if not isinstance(environment, HostEnvironment):
        *_, last = compiled.run(player, environment, key, **limits)
        return np.asarray(last.returns)
    try:
        own = getattr(environment, "env", environment)  # what an adapter wraps
        guarded = Guarded(environment, env if isinstance(env, str) else type(own).__name__)
        *_, last = host.run(player, guarded, key, seed=seed, **limits)
        if last.fault is not None:
            raise last.fault
        return np.asarray(last.returns, np.float64)
    finally:
        if is_made_here(env):
            environment.close()
