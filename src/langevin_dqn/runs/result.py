"""What a run did. It knows no agent, and loads no JAX."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from langevin_dqn.config import FIELD_TYPES, AgentConfig
from langevin_dqn.runs import metrics


@dataclass(frozen=True, eq=False)
class UncertaintyMaps:
    """How far the Q-values of each state spread, at some episodes of a run.

    Attributes:
        episodes: which, counted from 1.
        spread: standard deviation of Q at the start of that episode and the nine before: (maps, states, actions).
        visits: how often each state had been acted in before that episode: (maps, states).
    """

    episodes: np.ndarray
    spread: np.ndarray
    visits: np.ndarray

    def to_dict(self) -> dict[str, Any]:
        """The same as JSON can hold it: what is not finite as null."""
        spread = self.spread.astype(object)
        spread[~np.isfinite(self.spread)] = None
        return {"episodes": self.episodes.tolist(), "spread": spread.tolist(), "visits": self.visits.tolist()}


#: The name until now.
SpreadMaps = UncertaintyMaps


@dataclass(frozen=True, repr=False)
class Result:
    """The result of one seed. ``returns``, ``lengths`` and each of ``measures`` have an entry per episode."""

    agent: str
    env: str
    seed: int
    preset: str
    config: AgentConfig | dict[str, Any]
    """The agent's configuration; for a custom agent, the output of its ``describe()``."""
    max_return: float | None
    returns: np.ndarray
    updates: int
    seconds: float
    lengths: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    """Contribution of each episode to the columns that bsuite logs for the environment."""
    steps: int = 0
    """Total number of environment steps, including those of an episode that the limit of steps cut off."""
    learned_regret: float | None = None
    """Regret per episode below which a run has learned; None where the environment has no such measure."""
    compile_seconds: float = 0.0
    """Seconds in which JAX compiled the run's programs. ``seconds`` does not include them, except in runs of 0.1."""
    diverged: str | None = None
    """Reason why the run stopped early with parameters that are not finite, or None."""
    record: UncertaintyMaps | None = field(default=None, repr=False)
    """Uncertainty of Q at each state during training, if ``train`` was called with ``record``."""
    trained: Any = field(default=None, repr=False, compare=False)
    """The trained agent, if ``train`` was called with ``keep_agent=True``; None otherwise."""

    def __str__(self) -> str:
        """Who ran where, what came out, and what it took: three lines."""
        lines = [f"{self.agent} ({self.preset}) on {self.env}, seed {self.seed}: {self.episodes:,} episodes"]
        if self.diverged:
            lines.append(self.diverged)
        elif not self.episodes:
            lines.append("no episode ended")
        else:
            outcome = f"mean return of the last {min(self.episodes, 100)} episodes {self.recent_return:.4g}"
            if self.learned_regret is not None:
                outcome += f", learned at episode {self.learning_time}" if self.solved else ", not learned"
            lines.append(outcome)
        lines.append(f"{self.steps:,} steps, {self.updates:,} updates, {self.seconds:.1f} s")
        return "\n".join(lines)

    __repr__ = __str__

    def setting(self, name: str, default: Any = None) -> Any:
        """A setting of the agent by its name, or ``default`` where it has none of that name."""
        if isinstance(self.config, AgentConfig):
            return getattr(self.config, name) if name in FIELD_TYPES else default
        inner = self.config.get("config")  # where a value agent of one's own has its configuration
        return self.config.get(name, inner.get(name, default) if isinstance(inner, dict) else default)

    @property
    def episodes(self) -> int:
        return len(self.returns)

    @property
    def learning_time(self) -> int | None:
        """The paper's learning time; None if not learned, or where the environment has no measure of that."""
        if self.max_return is None or self.learned_regret is None or self.diverged:
            return None  # what a run does with parameters that are not finite is luck
        return metrics.learning_time(self.returns, self.max_return, self.learned_regret)

    @property
    def solved(self) -> bool:
        return self.learning_time is not None

    @property
    def first_success(self) -> int | None:
        return None if self.max_return is None else metrics.first_success(self.returns, self.max_return)

    @property
    def success_share(self) -> float | None:
        """Share of successes in the last 100 episodes."""
        return None if self.max_return is None else metrics.success_share(self.returns, self.max_return)

    @property
    def regret(self) -> float | None:
        """What the best policy would have earned, less what was; free of noise where the environment measures it so."""
        if "regret" in self.measures:
            return float(np.sum(self.measures["regret"], dtype=np.float64)) if self.episodes else None
        if self.max_return is None or not self.episodes:
            return None
        return metrics.total_regret(self.returns, self.max_return)

    @property
    def recent_return(self) -> float | None:
        """Mean return of the last 100 episodes."""
        return float(np.mean(self.returns[-100:], dtype=np.float64)) if self.episodes else None

    @property
    def total_return(self) -> float:
        return float(np.sum(self.returns, dtype=np.float64))

    def to_dict(self, *, returns: bool = False) -> dict[str, Any]:
        """The object that ``langevin-dqn run --json`` prints; with ``returns``, those and lengths by episode."""
        by_episode = {"returns": _finite(self.returns), "lengths": self.lengths.tolist()} if returns else {}
        return {
            "agent": self.agent,
            "env": self.env,
            "seed": self.seed,
            "preset": self.preset,
            "episodes": self.episodes,
            "steps": self.steps,
            "solved": self.solved,
            "diverged": self.diverged,
            "learning_time": self.learning_time,
            "first_success": self.first_success,
            "success_share": self.success_share,
            "total_return": self.total_return,
            "recent_return": self.recent_return,
            "regret": self.regret,
            "updates": self.updates,
            "seconds": round(self.seconds, 3),
            "compile_seconds": round(self.compile_seconds, 3),
            "config": self.config.to_dict() if isinstance(self.config, AgentConfig) else dict(self.config),
            **by_episode,
            **({} if self.record is None else {"record": self.record.to_dict()}),
        }


def _finite(values: np.ndarray) -> list[float | None]:
    """Numbers as JSON can hold them: what is not finite as null."""
    return [value if np.isfinite(value) else None for value in values.tolist()]
