"""One run as data, and its possible outcomes.

Importing this starts no JAX: a worker sets its environment first.
"""

import json
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from langevin_dqn.config import AgentConfig
from langevin_dqn.errors import EnvironmentFault, UserError, brief
from langevin_dqn.presets import AGENTS, CUSTOM, DEFAULT_PRESET
from langevin_dqn.runs.runners.outputs import Outputs

if TYPE_CHECKING:
    from langevin_dqn.runs.result import Result


@dataclass(frozen=True)
class Job:
    """One run: the arguments of ``langevin_dqn.train``. What is None is not part of a stored run's identity.

    An agent may be given as an ``AgentConfig``: the job then calls it ``custom``, and its changes hold the
    configuration.
    """

    agent: str
    env: str
    seed: int
    episodes: int | None = None
    preset: str = DEFAULT_PRESET
    stop_when_solved: bool = False
    changes: dict[str, Any] = field(default_factory=dict)
    steps: int | None = None
    record: str | None = None
    keep_agent: bool | None = None
    network: str | None = None
    """An id of a network, where it is not the agent's own."""
    outputs: Outputs = field(default=Outputs(), compare=False)
    """Checkpoints and a log of metrics. They change no result, and are no part of a stored run's identity."""

    def __post_init__(self) -> None:
        if isinstance(self.agent, AgentConfig):
            self._take(self.agent)
        for name, value in (("agent", self.agent), ("env", self.env)):
            if not isinstance(value, str):
                form = {"agent": "python:package.module:factory", "env": "jax:package.module:factory"}[name]
                raise UserError(
                    f"a job takes the id of its {name}, not an object ({type(value).__name__})",
                    f"use the id of a custom one, {form}, or pass the object to train",
                )
        for name in self.changes:
            if name in _FIELDS:  # ``train`` would take it for its own argument
                raise UserError(f"changes cannot set {name!r}", f"pass {name}=… to the job itself")

    def _take(self, config: AgentConfig) -> None:
        if self.preset != DEFAULT_PRESET:
            raise UserError(f"preset={self.preset} does not apply to a configuration", "leave preset out")
        config, defaults = config.replace(**self.changes), AgentConfig()
        changed = {name: value for name, value in vars(config).items() if value != getattr(defaults, name)}
        object.__setattr__(self, "agent", CUSTOM)
        object.__setattr__(self, "changes", changed)

    def __str__(self) -> str:
        return f"{self.agent} on {self.env}, seed {self.seed}"

    def run(self, progress: "Callable[[Result], None] | None" = None) -> "Result":
        from langevin_dqn.training import train

        _limit_compiled_programs(f"{self.agent} {self.env} {self.changes}")
        network: dict[str, Any] = {} if self.network is None else {"network": self.network}
        is_custom = self.agent == CUSTOM
        return self.outputs.train(
            train,
            {"agent": self.agent, "env": self.env, "seed": self.seed, "preset": self.preset, **self.changes},
            agent=AgentConfig().replace(**self.changes) if is_custom else self.agent,
            env=self.env,
            seed=self.seed,
            episodes=self.episodes,
            steps=self.steps,
            preset=self.preset if self.agent in AGENTS else None,
            stop_when_solved=self.stop_when_solved,
            record=self.record,
            keep_agent=bool(self.keep_agent),
            progress=progress,
            **network,
            **({} if is_custom else self.changes),
        )

    def to_json(self) -> str:
        """The job as text, for a store; see ``from_json``."""
        given = {name: value for name, value in vars(self).items() if value is not None and name != "outputs"}
        return json.dumps(given, default=lambda number: number.item())  # a number of NumPy's

    @classmethod
    def from_json(cls, text: str) -> "Job":
        """The job that ``to_json`` wrote; nothing that it names is imported."""
        try:
            given = json.loads(text)
            given["changes"] = {name: tuple(v) if isinstance(v, list) else v for name, v in given["changes"].items()}
            job = cls(**given)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise _unreadable(text) from None
        names = (job.agent, job.env, job.preset, *filter(lambda name: name is not None, (job.network, job.record)))
        if not all(isinstance(name, str) for name in names):
            raise _unreadable(text)
        return job


def _unreadable(text: str) -> UserError:
    return UserError(f"{text[:80]!r} is not a job", "pass the output of Job.to_json")


_FIELDS = frozenset(field.name for field in fields(Job))

#: The kinds of runs whose programs are in memory, and how many may be.
_compiled: set[str] = set()
_MOST_COMPILED = 32


def _limit_compiled_programs(kind: str) -> None:
    """Drop compiled programs from memory when there are many, so that a sweep over hundreds of kinds does not fill it.

    Each kind of run takes about 30 MB. Programs that are dropped are read again from the cache on disk.
    """
    if kind not in _compiled and len(_compiled) >= _MOST_COMPILED:
        import jax

        jax.clear_caches()
        _compiled.clear()
    _compiled.add(kind)


@dataclass(frozen=True)
class Failure:
    """A job that gave no result although others may have.

    Attributes:
        job: which.
        reason: why, in one line.
        details: the traceback, where there is one.
        hint: what to do about it, where that is known.
        result: what the run had done until then, where that is known.
    """

    job: Job
    reason: str
    details: str = field(default="", repr=False)
    hint: str = ""
    result: "Result | None" = field(default=None, repr=False)

    @classmethod
    def of_environment(cls, job: Job, fault: EnvironmentFault) -> "Failure":
        """A job that its environment has ended."""
        return cls(job, fault.message, hint=fault.hint, result=fault.result)

    def __str__(self) -> str:
        return f"{self.job}: {self.reason}"


def attempt(job: Job, progress: "Callable[[Result], None] | None" = None) -> "Result | Failure | UserError":
    """Run a job in another process than its caller: every outcome is a value that can be sent back."""
    try:
        return replace(job.run(progress), trained=None)
    except EnvironmentFault as fault:
        kept = None if fault.result is None else replace(fault.result, trained=None)
        return Failure(job, fault.message, hint=fault.hint, result=kept)
    except UserError as error:
        return error
    except Exception as error:
        remedy = "; use fewer workers" if _lacks_memory(error) else ""
        return Failure(job, f"{brief(error)}{remedy}", traceback.format_exc())


def _lacks_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error)  # XLA's word for it


def available_cores() -> int:
    """Cores this process may use, which a container or ``taskset`` can limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
