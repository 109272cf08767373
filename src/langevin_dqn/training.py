"""Training: the right loop for the environment, and what it yields made into a result."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn import keys
from langevin_dqn.agents.registry import resolve_agent
from langevin_dqn.environments import Environment, HostEnvironment, check_environment, make_env
from langevin_dqn.errors import UserError
from langevin_dqn.loops import compiled, host, recording
from langevin_dqn.loops.evaluation import TrainedAgent
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.runs.result import Result
from langevin_dqn.version import ALGORITHM_VERSION

__all__ = ["ALGORITHM_VERSION", "DEFAULT_EPISODES", "make_train", "train"]

DEFAULT_EPISODES = 1000

#: Seconds of work to aim for between two snapshots.
_CHUNK_SECONDS = 0.5


Progress = Callable[[Result], None]


def train(
    agent: Any,
    env: str | Environment | HostEnvironment,
    *,
    seed: int = 0,
    episodes: int | None = None,
    steps: int | None = None,
    preset: str = "paper",
    network: Any = None,
    stop_when_solved: bool = False,
    stop_when: Callable[[TrainedAgent], bool] | None = None,
    check_every: int = 5000,
    keep_agent: bool = False,
    record: str | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Result:
    """Train one seed and return what it did; ``langevin-dqn run`` does the same.

    Args:
        agent: a preset's name, a configuration, any :class:`~langevin_dqn.Agent`, or
            ``python:package.module:factory``.
        env: an environment or its id.
        seed: random seed; the same seed gives the same bits.
        episodes: how many to run; 1000 if neither this nor ``steps`` is given.
        steps: environment steps to make at most. An episode that this cuts off is not in ``returns``.
        preset: the variant of the paper, where ``agent`` is a preset's name.
        network: the value network, or ``python:package.module:factory``; by default the configuration's.
        stop_when_solved: stop at the episode in which the run has learned.
        stop_when: called between episodes with the agent as it is then; training stops if it returns true.
        check_every: ``stop_when`` is called at the first end of an episode after every so many environment steps.
        keep_agent: leave the trained agent in ``Result.trained``.
        record: ``"q"`` leaves maps of the uncertainty of Q in ``Result.record``, for an environment that is
            observed as an index; returns stay the same to the bit.
        progress: called with the result so far, about twice a second.
        **changes: fields of :class:`~langevin_dqn.AgentConfig` to change, or arguments of the factory.

    Example:
        >>> import langevin_dqn
        >>> result = langevin_dqn.train("dqn", "probe_action", seed=0, episodes=50)
        >>> result.episodes
        50
    """
    for unit, count in {"episodes": episodes, "steps": steps, "check_every": check_every}.items():
        if count is not None and count < 1:
            raise UserError(f"{unit}={count} is out of range", f"{unit} must be at least 1")
    if episodes is None and steps is None:
        episodes = DEFAULT_EPISODES

    environment = make_env(env) if isinstance(env, str) else env
    if environment is env:
        check_environment(environment, type(env).__name__)
    try:
        found = resolve_agent(agent, environment, preset=preset, network=network, changes=changes)
        built = found.agent
        if stop_when_solved and getattr(environment, "learned_regret", None) is None:
            raise UserError(
                f"{env} does not define when it is solved", "use episodes or steps instead of stop_when_solved"
            )
        if record is not None:
            recording.check(record, environment, built)
        started = time.perf_counter()

        def result(now: Snapshot) -> Result:
            return Result(
                agent=found.name,
                env=env if isinstance(env, str) else type(env).__name__,
                seed=seed,
                preset=found.preset,
                config=found.config,
                max_return=environment.max_return,
                learned_regret=getattr(environment, "learned_regret", None),
                returns=now.returns,
                updates=int(built.statistics(now.state).get("updates", 0)),
                seconds=time.perf_counter() - started,
                lengths=now.lengths,
                measures=now.measures,
                steps=now.steps,
                diverged=None if now.finite else built.explain_divergence(now.state),
                record=now.record,
            )

        limits: dict[str, Any] = {
            "episodes": episodes,
            "steps": steps,
            "check_every": None if stop_when is None else check_every,
            "seconds": _CHUNK_SECONDS,
        }
        key = keys.run_key(seed)
        if isinstance(environment, HostEnvironment):
            loop = host.run(built, environment, key, seed=seed, **limits)
        else:
            loop = compiled.run(
                built, environment, key, stop_when_solved=stop_when_solved, records=record is not None, **limits
            )
        for now in loop:
            current = result(now)
            if progress is not None:
                progress(current)
            if current.diverged or (stop_when_solved and current.solved):
                break
            if stop_when is not None and now.check and stop_when(_copy(built, now.state, environment)):
                break
        return replace(current, trained=_copy(built, now.state, environment)) if keep_agent else current
    finally:
        if environment is not env and isinstance(environment, HostEnvironment):
            environment.close()


def make_train(
    agent: Any,
    env: str | Environment,
    *,
    episodes: int,
    preset: str = "paper",
    network: Any = None,
    **changes: Any,
) -> Callable[[jax.Array], dict[str, Any]]:
    """The compiled training loop as one pure function of a key, to ``jit`` and to ``vmap`` over seeds.

    The function returns a dict: ``returns``, ``lengths`` and ``measures`` by episode, ``episodes`` and
    ``steps`` run, ``finite``, the agent's ``statistics``, and its ``state`` without its memory. With the key
    ``langevin_dqn.run_key(seed)`` it does what :func:`train` does with that seed.

    Args:
        agent: as for :func:`train`. A :class:`~langevin_dqn.agents.ValueAgent` whose numbers are arrays
            (``agent.with_numbers(noise_variance=…)``) may be mapped over as well.
        env: a compiled environment or its id.
        episodes: how many to run.
        preset: as for :func:`train`.
        network: as for :func:`train`.
        **changes: as for :func:`train`.

    Example:
        >>> import jax, langevin_dqn
        >>> train = langevin_dqn.make_train("dqn", "probe_action", episodes=20)
        >>> keys = jax.vmap(langevin_dqn.run_key)(jax.numpy.arange(4))
        >>> jax.jit(jax.vmap(train))(keys)["returns"].shape
        (4, 20)
    """
    environment = make_env(env) if isinstance(env, str) else env
    if isinstance(environment, HostEnvironment):
        raise UserError(f"{env} cannot be compiled", "use train, which steps it on the host")
    found = resolve_agent(agent, environment, preset=preset, network=network, changes=changes)
    return compiled.as_function(found.agent, environment, episodes)


def _copy(agent: Any, state: Any, environment: Environment | HostEnvironment) -> TrainedAgent:
    """An agent that stays as it is when training goes on, which reuses the memory of its state."""
    copied = jax.tree.map(jnp.copy, agent.without_memory(state))
    return TrainedAgent(agent, copied, environment.observation_space, environment.num_actions)
