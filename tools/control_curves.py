"""Learning curves with the recommended settings: classic control, FrozenLake, MinAtar's Breakout.

    python tools/control_curves.py
    python tools/control_curves.py --no-measure
    python tools/control_curves.py --only gymnax:Acrobot-v1 --agents dqn

A run has learned when the mean return of its latest episodes reaches the threshold that Gymnasium registers for the
environment, within the run's steps. Runs are kept in a store, as those of ``langevin-dqn compare`` are. gymnax's
versions have the dynamics of Gymnasium's environments (``tests/environments/adapters/test_gymnax_dynamics.py``) and are
compiled; their curves are drawn. In Gymnasium's own environments, the agent that is recommended for each is run. The
seeds differ from those that chose the settings (``tools/family_tries.py``).
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

AGENTS = ("dqn", "langevin_dqn", "ensemble_langevin_dqn")


class Task(NamedTuple):
    """What is run in one environment.

    Attributes:
        steps: of each run.
        seeds: which.
        threshold: the mean return that counts as learned; None if there is no agreed one.
        episodes: over how many successive episodes the mean is taken.
        agents: which.
    """

    steps: int
    seeds: range
    threshold: float | None = None
    episodes: int = 20
    agents: tuple[str, ...] = AGENTS


#: Returns in FrozenLake are 0 or 1, hence more episodes for a mean.
TASKS: dict[str, Task] = {
    "gymnax:CartPole-v1": Task(200_000, range(70, 75), 475.0, agents=AGENTS[:2]),
    "gymnax:Acrobot-v1": Task(75_000, range(50, 55), -100.0, agents=AGENTS[:2]),
    "gymnax:FrozenLake-misc": Task(60_000, range(5), 0.7, 100),
    "gymnax:MountainCar-v0": Task(60_000, range(50, 53), -110.0, agents=AGENTS[:2]),
    "gymnax:Breakout-MinAtar": Task(60_000, range(10, 13), agents=AGENTS[:2]),
    "gym:CartPole-v1": Task(200_000, range(70, 75), 475.0, agents=("langevin_dqn",)),
    "gym:Acrobot-v1": Task(75_000, range(40, 45), -100.0, agents=("langevin_dqn",)),
    "gym:FrozenLake-v1": Task(100_000, range(30, 35), 0.7, 100, ("ensemble_langevin_dqn",)),
}


@dataclass
class Args:
    """Run, print tables and draw."""

    store: str = "results_control"
    """Folder of stored runs."""
    only: tuple[str, ...] = ()
    """Run only these environments, and draw nothing."""
    agents: tuple[str, ...] = AGENTS
    """Run only these agents."""
    measure: bool = True
    """Run what the store does not have; with --no-measure, only print the tables and draw."""
    figure: Path = Path("docs/figures/control.png")
    """File for the curves."""


def learned_at(returns: np.ndarray, lengths: np.ndarray, task: Task) -> int | None:
    """Steps until the mean of the latest episodes reached the threshold; None if it did not."""
    if task.threshold is None or len(returns) < task.episodes:
        return None
    sums = np.concatenate([[0.0], np.cumsum(returns, dtype=np.float64)])
    means = (sums[task.episodes :] - sums[: -task.episodes]) / task.episodes
    reached = np.flatnonzero(means >= task.threshold)
    return int(np.cumsum(lengths)[reached[0] + task.episodes - 1]) if len(reached) else None


def runs_of(env: str, task: Task, agents: tuple[str, ...], args: Args):
    """The runs of one environment, those of the store and new ones; without new ones, only what is stored."""
    from langevin_dqn.comparison.running import entries_of, stored, sweep
    from langevin_dqn.comparison.table import table_of
    from langevin_dqn.runs.store import Store

    if args.measure:
        return sweep(agents, env, seeds=task.seeds, steps=task.steps, store=args.store, workers=1, progress=_say)
    entries = entries_of(agents, env, seeds=task.seeds, steps=task.steps)
    found = [(e, o) for e, o in zip(entries, stored(entries, Store(args.store)), strict=True) if o is not None]
    return table_of([e for e, _ in found], [o for _, o in found])


def _say(done: int, of: int, result) -> None:
    print(f"{done} of {of}: {result}".replace("\n", "; "), file=sys.stderr, flush=True)


def rows(runs, task: Task) -> list[str]:
    """A line of the table per agent."""
    from langevin_dqn.plots.style import label

    lines: list[str] = []
    for (agent,), own in runs.group_by("agent", maintain_order=True):
        at = [learned_at(np.array(r["returns"]), np.array(r["lengths"]), task) for r in own.iter_rows(named=True)]
        when = sorted(steps for steps in at if steps is not None)
        last = sorted(float(np.mean(returns[-task.episodes :])) for returns in own["returns"].to_list())
        learned = "–" if task.threshold is None else f"{len(when)} of {own.height}"
        span = f"{when[0]:,} to {when[-1]:,}" if when else "–"
        ends = f"{np.median(last):.3g} ({last[0]:.3g} to {last[-1]:.3g})"
        goal = "–" if task.threshold is None else f"{task.threshold:g}"
        name = f"`{own['env'][0]}` | {task.steps:,} | {goal}" if not lines else "| |"
        lines.append(f"| {name} | {label(str(agent))} | {learned} | {span} | {ends} |")
    return lines


def main(args: Args) -> int:
    unknown = [name for name in (*args.only, *args.agents) if name not in TASKS and name not in AGENTS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join((*TASKS, *AGENTS))}", file=sys.stderr)
        return 2
    machine.prepare()
    import polars as pl

    from langevin_dqn.plots.comparison import draw_comparison

    print("| environment | steps | threshold | agent | learned | at step | last episodes: median (range) |")
    print("|---|---|---|---|---|---|---|")
    drawn = []
    for env, task in TASKS.items():
        agents = tuple(agent for agent in task.agents if agent in args.agents)
        if agents and env in (args.only or TASKS):
            runs = runs_of(env, task, agents, args)
            if runs.height:
                print("\n".join(rows(runs, task)), flush=True)
                if env.startswith("gymnax:"):
                    drawn.append(runs)
    if drawn and not args.only:
        draw_comparison(pl.concat(drawn), args.figure, axis="steps", caption="Recommended settings, none changed.")
        print(f"wrote {args.figure}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
