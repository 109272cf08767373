"""Training: the right loop for the environment, and what it shows made into a result."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn import compiled_training, host_training, prng, recording
from langevin_dqn.agent import Agent, AgentState, make_agent
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments import Environment, HostEnvironment, make_env
from langevin_dqn.errors import UserError
from langevin_dqn.evaluation import Trained
from langevin_dqn.presets import preset as preset_config
from langevin_dqn.results import Snapshot
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.version import ALGORITHM_VERSION as ALGORITHM_VERSION
from langevin_dqn.schedule import Schedule

DEFAULT_EPISODES = 1000

#: Seconds of work to aim for between two looks of the host.
_CHUNK_SECONDS = 0.5


Progress = Callable[[Result], None]


def train(
    agent: str | AgentConfig,
    env: str | Environment | HostEnvironment,
    *,
    seed: int = 0,
    episodes: int | None = None,
    steps: int | None = None,
    preset: str = "paper",
    stop_when_solved: bool = False,
    stop_when: Callable[[Trained], bool] | None = None,
    check_every: int = 5000,
    keep_agent: bool = False,
    record: str | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Result:
    """Train one seed and return what it did; ``langevin-dqn run`` does the same.

    Args:
        agent: a preset's name, or a configuration.
        env: an environment or its id.
        seed: everything random follows from it; the same seed gives the same bits.
        episodes: how many to run; 1000 if neither this nor ``steps`` is given.
        steps: environment steps to make at most. An episode that this cuts off is not in ``returns``.
        preset: the reading of the paper, where ``agent`` is a name.
        stop_when_solved: stop at the episode in which the run has learned.
        stop_when: asked between episodes about the agent as it is then, for instance after evaluating it.
        check_every: ``stop_when`` is asked at the first end of an episode after every so many environment steps.
        keep_agent: leave the trained agent in ``Result.trained``.
        record: ``"q"`` leaves in ``Result.record`` how far Q spread at every state, for an environment that is
            observed as an index; returns stay the same to the bit.
        progress: called with the result so far, about twice a second.
        **changes: fields of :class:`~langevin_dqn.AgentConfig` to change.

    Example:
        >>> import langevin_dqn
        >>> result = langevin_dqn.train("dqn", "probe_action", seed=0, episodes=50)
        >>> result.episodes
        50
    """
    name = agent if isinstance(agent, str) else "custom"
    config = preset_config(agent, preset, **changes) if isinstance(agent, str) else agent.replace(**changes)
    for unit, count in {"episodes": episodes, "steps": steps, "check_every": check_every}.items():
        if count is not None and count < 1:
            raise UserError(f"{unit}={count} leaves nothing to run", "use at least 1")
    if episodes is None and steps is None:
        episodes = DEFAULT_EPISODES

    environment = make_env(env) if isinstance(env, str) else env
    if stop_when_solved and getattr(environment, "learned_regret", None) is None:
        raise UserError(
            f"nothing says when {env} is solved", "stop_when_solved is for the deep sea; give episodes or steps instead"
        )
    built = make_agent(settled(config, environment), space=environment.observation_space)
    if record is not None:
        recording.check(record, environment, built)
    key = jax.random.key(seed, impl=prng.PRNG)
    budget: dict[str, Any] = {
        "episodes": episodes,
        "steps": steps,
        "check_every": None if stop_when is None else check_every,
        "within": config.update_timing == "within",
        "seconds": _CHUNK_SECONDS,
    }
    started = time.perf_counter()

    def result(now: Snapshot) -> Result:
        return Result(
            agent=name,
            env=env if isinstance(env, str) else type(env).__name__,
            seed=seed,
            preset=preset if isinstance(agent, str) else "custom",
            config=config,
            max_return=environment.max_return,
            learned_regret=getattr(environment, "learned_regret", None),
            returns=now.returns,
            updates=int(now.state.updates),
            seconds=time.perf_counter() - started,
            lengths=now.lengths,
            measures=now.measures,
            steps=now.steps,
            diverged=None if now.finite else _cause(config, now),
            record=now.record,
        )

    if isinstance(environment, HostEnvironment):
        loop = host_training.run(built, environment, Schedule.of(config), key, seed=seed, **budget)
    else:
        loop = compiled_training.run(
            built,
            environment,
            Schedule.of(config),
            key,
            stop_when_solved=stop_when_solved,
            records=record is not None,
            **budget,
        )
    try:
        for now in loop:
            current = result(now)
            if progress is not None:
                progress(current)
            if current.diverged or (stop_when_solved and current.solved):
                break
            if stop_when is not None and now.check and stop_when(_copy(built, now.state)):
                break
        return replace(current, trained=_copy(built, now.state)) if keep_agent else current
    finally:
        if environment is not env and isinstance(environment, HostEnvironment):
            environment.close()


def _copy(agent: Agent, state: AgentState) -> Trained:
    """An agent that stays as it is when training goes on, which reuses the memory of its state."""
    return Trained(agent, jax.tree.map(jnp.copy, state))


def settled(config: AgentConfig, environment: Environment | HostEnvironment) -> AgentConfig:
    """The configuration once it is known what depends on the environment: σ_w² per unit of depth."""
    if not config.noise_per_depth:
        return config
    depth = getattr(environment, "depth", None)
    if depth is None:
        raise UserError("noise_per_depth needs an environment with a depth", "use it with deep_sea, or set it to false")
    return config.replace(noise_variance=config.noise_variance * depth)


def _cause(config: AgentConfig, now: Snapshot) -> str:
    """Say where the parameters stopped being finite, and the likeliest reason."""
    episode = int(now.state.episode)
    update = int(now.state.nonfinite_update) or int(now.state.updates)
    if config.noise_variance > 0 and config.adam_eps < 1e-12:
        why = "adam_eps is so small that weights without gradient take unbounded noise"
    elif config.learning_rate > 0.1:
        why = "the learning rate is large"
    elif config.noise_variance > 0.1:
        why = "the noise variance is large"
    else:
        why = "the values or rewards grew without bound; try a smaller learning rate or a discount below 1"
    return f"parameters are not finite since episode {episode}, update {update}: {why}"
