"""What an agent is: six pure functions on a state, and a few with defaults.

Before an episode an agent draws what to act on; then it acts, remembers and learns. The training
loops, recording, evaluation and saved files know nothing else about it. An agent is a frozen
dataclass that is a pytree: numbers are leaves, what decides shapes is static
(``langevin_dqn.pytrees.static``). Its state is any pytree of arrays, its memory of transitions
included.
"""

import dataclasses
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError
from langevin_dqn.pytrees import pytree

State = TypeVar("State")


class Step(NamedTuple):
    """One step in an environment.

    Attributes:
        obs: the observation acted on.
        action: the action taken.
        reward: its reward.
        next_obs: the observation after it.
        terminated: the episode ended in a terminal state: no bootstrapping.
        truncated: the episode was cut off, for instance by a time limit: the target bootstraps.
    """

    obs: Any
    action: Any
    reward: Any
    next_obs: Any
    terminated: Any
    truncated: Any


class Agent(Protocol[State]):
    """The methods that every agent must have. ``BaseAgent`` adds the optional ones, with defaults."""

    @property
    def learns_within(self) -> bool:
        """True to learn after every step, False to learn before every episode; static."""
        ...

    def init(self, key: jax.Array, space: Space, num_actions: int, capacity: int | None) -> State:
        """The initial state. A run makes at most ``capacity`` steps; None if that is not known."""
        ...

    def begin_episode(self, key: jax.Array, state: State) -> State:
        """Draw what to act on in the next episode."""
        ...

    def act(self, key: jax.Array, state: State, obs: jax.Array) -> jax.Array:
        """The action for one observation: an integer."""
        ...

    def observe(self, key: jax.Array, state: State, step: Step) -> State:
        """Remember a step."""
        ...

    def learn(self, key: jax.Array, state: State, steps: jax.Array) -> State:
        """Update the agent: ``steps`` environment steps were made since the last call; it decides how many updates."""
        ...

    def describe(self) -> dict[str, Any]:
        """What defines the agent, as JSON: part of results, of the key of stored runs and of saved files.

        It has a ``version``, which the author raises when the same settings give other results. The
        default of ``BaseAgent`` lists the fields and takes ``version`` from the class.
        """
        ...


class BaseAgent:
    """Base class with defaults for the optional methods; a subclass is a frozen dataclass, registered as a pytree."""

    learns_within: Any = False

    #: True where ``values`` without a key is exactly what the agent acts on, so that it may be recorded.
    values_are_exact: Any = False

    #: How many random steps to make before training, for ``prepare``; static. They count as no episode.
    random_steps: Any = 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        pytree(cls)

    def prepare(self, key: jax.Array, state: Any, steps: Step) -> Any:
        """The initial state after a look at ``random_steps`` random steps, whose leaves lead with the step."""
        del key, steps
        return state

    def describe(self) -> dict[str, Any]:
        """By default: the class, its settings and its ``version``, which a subclass sets."""
        settings = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in settings.items()}
        return {"agent": type(self).__qualname__, "version": getattr(self, "version", None), **plain}

    def attend(self, key: jax.Array, state: Any, obs: jax.Array) -> Any:
        """Prepare the state for acting on ``obs``; called once before each ``Agent.act``."""
        del key, obs
        return state

    def exploit(self, key: jax.Array, state: Any, obs: jax.Array) -> jax.Array:
        """The action in evaluation, without exploration by random actions; nothing is observed or learned there."""
        act_key, attend_key = key, jax.random.fold_in(key, 1)
        return self.act(act_key, self.attend(attend_key, state, obs), obs)  # type: ignore[attr-defined]

    def values(self, state: Any, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        """The values that the agent acts on, one per action; without a key, at their mean where they are random."""
        raise NotImplementedError(f"{class_name(self)} does not define values()")

    def statistics(self, state: Any) -> dict[str, Any]:
        """Numbers to watch, read between chunks of episodes; ``updates`` is shown in results."""
        del state
        return {}

    def metrics(self, key: jax.Array, state: Any) -> dict[str, Any]:
        """More numbers to watch, which take a computation: the loss of a minibatch drawn with ``key``, for instance.

        It is a program of its own, run between chunks of episodes where ``train(on_metrics=…)`` asks for it. Names are
        columns of a log: loss, td_error, gradient_norm, q_mean, q_spread, epsilon and replay_size are those of the
        agents here.
        """
        del key
        return self.statistics(state)

    def with_capacity(self, state: Any, capacity: int | None) -> Any:
        """The state as it would be in a run of at most ``capacity`` steps, or an unknown number.

        A run that is resumed with a larger limit needs it, if the shapes of the state depend on the capacity that
        ``init`` was given.
        """
        del state, capacity
        raise UserError(
            f"{class_name(self)} cannot be resumed with a different number of steps",
            "resume with the episodes and steps of the first run, or define with_capacity(state, capacity)",
        )

    def without_memory(self, state: Any) -> Any:
        """The state without what only learning needs; enough to act on, and what a saved agent keeps."""
        return state

    def is_finite(self, state: Any) -> jax.Array:
        """False once the agent has diverged; training then stops. By default: a NaN anywhere but in the memory."""
        leaves = [x for x in jax.tree.leaves(self.without_memory(state)) if jnp.issubdtype(x.dtype, jnp.inexact)]
        return ~jnp.array([jnp.isnan(x).any() for x in leaves], bool).any()

    def accumulators(self, state: Any) -> Any:
        """What else must stay finite, as a tree of arrays: the moments of an optimizer. Read between chunks."""
        del state
        return ()

    def nonfinite_step(self, state: Any, steps: int) -> tuple[int, str] | None:
        """The first of ``steps`` steps in the memory that is not finite, and its ``reward`` or ``observation``."""
        del state, steps
        return None

    def explain_divergence(self, state: Any) -> str:
        """Why ``is_finite`` became false, in a line."""
        del state
        return "the agent's state contains a NaN"


@dataclasses.dataclass(frozen=True)
class CompletedAgent(BaseAgent):
    """An agent that has the methods of ``Agent``, with the defaults for the optional ones that it lacks."""

    agent: Any

    @property
    def learns_within(self) -> bool:
        return self.agent.learns_within

    @property
    def values_are_exact(self) -> bool:
        return getattr(self.agent, "values_are_exact", False)

    @property
    def random_steps(self) -> int:
        return getattr(self.agent, "random_steps", 0)

    def init(self, key: jax.Array, space: Space, num_actions: int, capacity: int | None) -> Any:
        return self.agent.init(key, space, num_actions, capacity)

    def begin_episode(self, key: jax.Array, state: Any) -> Any:
        return self.agent.begin_episode(key, state)

    def act(self, key: jax.Array, state: Any, obs: jax.Array) -> jax.Array:
        return self.agent.act(key, state, obs)

    def observe(self, key: jax.Array, state: Any, step: Step) -> Any:
        return self.agent.observe(key, state, step)

    def learn(self, key: jax.Array, state: Any, steps: jax.Array) -> Any:
        return self.agent.learn(key, state, steps)

    def describe(self) -> dict[str, Any]:
        return self.agent.describe()

    def prepare(self, key: jax.Array, state: Any, steps: Step) -> Any:
        return self._optional("prepare", key, state, steps)

    def attend(self, key: jax.Array, state: Any, obs: jax.Array) -> Any:
        return self._optional("attend", key, state, obs)

    def exploit(self, key: jax.Array, state: Any, obs: jax.Array) -> jax.Array:
        return self._optional("exploit", key, state, obs)

    def values(self, state: Any, obs: jax.Array, key: jax.Array | None = None) -> jax.Array:
        return self._optional("values", state, obs, key)

    def statistics(self, state: Any) -> dict[str, Any]:
        return self._optional("statistics", state)

    def metrics(self, key: jax.Array, state: Any) -> dict[str, Any]:
        return self._optional("metrics", key, state)

    def with_capacity(self, state: Any, capacity: int | None) -> Any:
        return self._optional("with_capacity", state, capacity)

    def without_memory(self, state: Any) -> Any:
        return self._optional("without_memory", state)

    def is_finite(self, state: Any) -> jax.Array:
        return self._optional("is_finite", state)

    def accumulators(self, state: Any) -> Any:
        return self._optional("accumulators", state)

    def nonfinite_step(self, state: Any, steps: int) -> tuple[int, str] | None:
        return self._optional("nonfinite_step", state, steps)

    def explain_divergence(self, state: Any) -> str:
        return self._optional("explain_divergence", state)

    def _optional(self, name: str, *arguments: Any) -> Any:
        own = getattr(self.agent, name, None)
        return getattr(BaseAgent, name)(self, *arguments) if own is None else own(*arguments)


def class_name(agent: Any) -> str:
    """The name of the class that its author wrote."""
    return type(agent.agent if isinstance(agent, CompletedAgent) else agent).__name__


def completed(agent: Any) -> Any:
    """``agent`` with all optional methods."""
    return agent if isinstance(agent, BaseAgent) else CompletedAgent(agent)


def greedy(key: jax.Array, values: jax.Array) -> jax.Array:
    """The action of the highest value, ties uniformly."""
    return jnp.argmax(jnp.where(values == values.max(), jax.random.uniform(key, values.shape), -1.0))
