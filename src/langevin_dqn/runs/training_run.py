"""One run of an agent in an environment: its loop, its results, and what its checkpoints say about it."""

import time
from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn import compile_time, keys
from langevin_dqn.agents.registry import ResolvedAgent
from langevin_dqn.environments import Environment, HostEnvironment
from langevin_dqn.environments.guarded import Guarded
from langevin_dqn.loops import compiled, host
from langevin_dqn.loops.evaluation import TrainedAgent
from langevin_dqn.loops.examining import Examiner
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.runs import resuming
from langevin_dqn.runs.checkpoint import Checkpoints, describe_run, fingerprint
from langevin_dqn.runs.result import Result

#: Seconds of work to aim for between two snapshots.
_CHUNK_SECONDS = 0.5


class Limits(NamedTuple):
    """Limits of a run, and whether it stops once it has learned."""

    episodes: int | None
    steps: int | None
    stop_when_solved: bool


class TrainingRun:
    """A run, new or resumed.

    Args:
        found: the agent.
        environment: what it acts in.
        name: what the environment is called in results.
        seed: the run's.
        limits: when it ends.
        record: what is recorded.
        before: the checkpoints to resume from; None for a new run.
    """

    def __init__(
        self,
        found: ResolvedAgent,
        environment: Environment | HostEnvironment,
        name: str | None,
        seed: int,
        limits: Limits,
        record: str | None,
        before: Checkpoints | None,
    ):
        self.agent, self.environment, self.key = found.agent, environment, keys.run_key(seed)
        self._found, self._seed, self._limits, self._record = found, seed, limits, record
        own = getattr(environment, "env", environment)  # what an adapter wraps
        self._name, self._is_object = type(own).__name__ if name is None else name, name is None
        self._started, self._compiled = time.perf_counter(), compile_time.spent()
        self.earlier = resuming.Earlier()
        if before is not None:
            self.earlier = resuming.open_earlier(before, self._description, self.agent)

    @cached_property
    def _description(self) -> dict[str, Any]:
        environment, found = self.environment, self._found
        numbers = self._is_object and not isinstance(environment, HostEnvironment)
        return describe_run(
            self.agent,
            environment,
            name=found.name,
            preset=found.preset,
            env=fingerprint(environment) if numbers else self._name,
            seed=self._seed,
            record=self._record,
        )

    def loop(self, check_every: int | None, metrics_every: int | None) -> Iterator[Snapshot]:
        """The training loop, which yields what the run is from time to time, looked at for what is wrong in it."""
        return map(Examiner(self.agent, self.environment, self._name).examined, self._loop(check_every, metrics_every))

    def _loop(self, check_every: int | None, metrics_every: int | None) -> Iterator[Snapshot]:
        file, (episodes, steps, stop_when_solved) = self.earlier.file, self._limits
        budget: dict[str, Any] = {"episodes": episodes, "steps": steps}
        often: dict[str, Any] = {
            "check_every": check_every,
            "metrics_every": metrics_every,
            "seconds": _CHUNK_SECONDS,
        }
        agent, environment, key = self.agent, self.environment, self.key
        if isinstance(environment, HostEnvironment):
            on_host, environment = None, Guarded(environment, self._name)
            if file is not None:
                on_host = resuming.host_run(file, agent, environment, key, name=self._name, seed=self._seed, **budget)
            return host.run(agent, environment, key, seed=self._seed, resumed=on_host, **budget, **often)
        records: dict[str, Any] = {"records": self._record is not None}
        carry = None if file is None else resuming.compiled_run(file, agent, environment, key, **records, **budget)
        more: dict[str, Any] = {"stop_when_solved": stop_when_solved, "resumed": carry, **records}
        return compiled.run(agent, environment, key, **budget, **often, **more)

    def result(self, now: Snapshot) -> Result:
        """The result so far."""
        return Result(
            agent=self._found.name,
            env=self._name,
            seed=self._seed,
            preset=self._found.preset,
            config=self._found.config,
            max_return=self.environment.max_return,
            learned_regret=getattr(self.environment, "learned_regret", None),
            returns=now.returns,
            updates=int(self.agent.statistics(now.state).get("updates", 0)),
            **self._spent(),
            lengths=now.lengths,
            measures=now.measures,
            steps=now.steps,
            diverged=None if now.finite else self.agent.explain_divergence(now.state),
            record=now.record,
        )

    def about(self, *, ended: bool = False, stopped_itself: bool = False) -> dict[str, Any]:
        """What a checkpoint made now says about the run."""
        episodes, steps, _ = self._limits
        limits = {"most": compiled.most_episodes(episodes, steps), "steps": steps, "rounded": True}
        return {**self._description, **limits, **self._spent(), "ended": ended, "stopped_itself": stopped_itself}

    def trained(self, now: Snapshot) -> TrainedAgent:
        """The agent, copied so that it stays as it is when training continues, which reuses the memory of its state."""
        copied = jax.tree.map(jnp.copy, self.agent.without_memory(now.state))
        return TrainedAgent(self.agent, copied, self.environment.observation_space, self.environment.num_actions)

    def _spent(self) -> dict[str, float]:
        compiling = compile_time.spent() - self._compiled
        running = max(time.perf_counter() - self._started - compiling, 0.0)
        return {
            "seconds": self.earlier.seconds + running,
            "compile_seconds": self.earlier.compile_seconds + compiling,
        }
