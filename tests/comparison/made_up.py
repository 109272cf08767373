"""Tables of runs that were never run."""

import numpy as np

from langevin_dqn import preset
from langevin_dqn.comparison.contenders import Contender, Entry
from langevin_dqn.comparison.table import table_of
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job


def entry(agent="dqn", env="deep_sea", seed=0, changes=None, crossed=None, label=None):
    contender = Contender(label or agent, agent, "paper", changes or {}, crossed or {})
    return Entry(contender, Job(agent, env, seed, 20, "paper", changes=changes or {}))


def result(entry, returns, lengths=None, **more):
    returns = np.asarray(returns, np.float32)
    lengths = np.ones(len(returns), np.int32) if lengths is None else np.asarray(lengths, np.int32)
    job = entry.job
    return Result(
        job.agent, job.env, job.seed, job.preset, preset("dqn", "paper"), more.pop("max_return", None), returns,
        updates=3, seconds=1.5, lengths=lengths, steps=int(lengths.sum()), **more,
    )  # fmt: skip


def table(scores):
    """A table in which every run earns one return throughout: by environment and agent, the return of each seed."""
    entries, outcomes = [], []
    for env, by_agent in scores.items():
        for agent, returns in by_agent.items():
            for seed, value in enumerate(returns):
                entries.append(entry(agent, env, seed))
                outcomes.append(result(entries[-1], [value] * 20))
    return table_of(entries, outcomes)
