"""Figure 5: the uncertainty of each state of Deep Sea, depth 10, through training."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.analysis import learning_times, uncertainty
from langevin_dqn.analysis.uncertainty import UncertaintySummary
from langevin_dqn.paper.claims import LEVEL, MIN_SEEDS, Claim, Effect, Finding, decide, inconclusive, mean_of
from langevin_dqn.paper.contenders import LANGEVIN
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.statistics import mean_above, mean_interval
from langevin_dqn.plots import uncertainty as plots
from langevin_dqn.plots.maps import Maps
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

UPDATES = 250


def _jobs(seeds: int, episodes: int) -> tuple[Job, ...]:
    """Runs go on after they have learned, to see what remains uncertain."""
    changes = {"updates_per_step": UPDATES}
    return tuple(
        Job(LANGEVIN.agent, "deep_sea:depth=10", seed, episodes, LANGEVIN.preset, changes=changes, record="q")
        for seed in range(seeds)
    )


def summaries(results: Sequence[Result]) -> list[UncertaintySummary]:
    """The numbers of each recorded run."""
    return [
        uncertainty.summarise(result.record, learning_times.depth_of(result.env), result.learning_time)
        for result in results
        if result.record is not None
    ]


def _larger(
    name: str,
    words: str,
    first: Callable[[UncertaintySummary], float],
    second: Callable[[UncertaintySummary], float],
    names: tuple[str, str],
) -> Claim:
    """One uncertainty is larger than another, over seeds; compared as logarithms."""

    def check(results: Sequence[Result]) -> Finding:
        pairs = [(first(summary), second(summary)) for summary in summaries(results)]
        pairs = [(a, b) for a, b in pairs if a > 0 and b > 0]  # leaves out what is not a number
        if len(pairs) < MIN_SEEDS:
            return inconclusive(f"{len(pairs)} seeds have both; {MIN_SEEDS} are needed")
        gaps = [math.log(a / b) for a, b in pairs]
        lower, upper = mean_interval(gaps, 1 - 2 * LEVEL)
        factor = math.exp(sum(gaps) / len(gaps))
        means = [sum(values) / len(values) for values in zip(*pairs, strict=True)]
        sentence = f"{names[0]} {means[0]:.3g}, {names[1]} {means[1]:.3g} (means over {len(pairs)} seeds): "
        sentence += f"{factor:.2g} times as uncertain (geometric mean)"
        test = f"90% interval of the factor, {math.exp(lower):.2g} to {math.exp(upper):.2g} (Student, of logs), above 1"
        p_for, p_against = mean_above(gaps, 0.0), mean_above([-gap for gap in gaps], 0.0)
        test += f"; p = {p_for:.2g}"
        low, high = mean_of("", gaps)[1:]
        name = f"factor of uncertainty ({names[0]} to {names[1]})"
        effect = Effect(name, math.exp(low) or -math.inf, math.exp(high))
        numbers = {"factor": factor, "seeds": len(pairs), "means": means}
        return Finding(decide(p_for, p_against), sentence, numbers, test, p_for, p_against, (effect,))

    return Claim(name, words, check, tested=True)


def shown_run(report: FigureReport) -> Result | None:
    """The run that the maps show."""
    return run_in_the_middle(report.results)


def run_in_the_middle(results: Sequence[Result]) -> Result | None:
    """Of the recorded runs that learned, the one whose learning time is in the middle; else the first recorded one."""
    runs = [result for result in results if result.record is not None and len(result.record.episodes)]
    runs.sort(key=lambda result: (result.learning_time is None, result.learning_time or 0))
    learned = [result for result in runs if result.solved]
    return learned[(len(learned) - 1) // 2] if learned else runs[0] if runs else None


def draw(report: FigureReport, path: Path, caption: str) -> Path | None:
    result = shown_run(report)
    return None if result is None else plots.draw_maps(result, path, caption=f"{caption}. {_seed(result)}".lstrip(". "))


def _seed(result: Result) -> str:
    """Which run is shown, and why."""
    if not result.solved:
        return f"Seed {result.seed}, which did not learn."
    return f"Seed {result.seed}, of median learning time."


def describe(report: FigureReport) -> str:
    result = shown_run(report)
    if result is None or result.record is None:
        return "There are no maps yet."
    in_reach = uncertainty.reachable(learning_times.depth_of(result.env)).ravel()
    means = uncertainty.uncertainty(result.record)[:, in_reach].mean(1)
    values = [f"{means[i]:.3g} at episode {result.record.episodes[i]}" for i in (0, len(means) // 2, -1)]
    return (
        f"Maps of the grid by episode, {_seed(result).replace('Seed', 'seed')} Mean uncertainty over the cells in "
        f"reach: {', '.join(values)}."
    )


def slider(report: FigureReport) -> Maps | None:
    """Every map of the run shown, for the page's slider."""
    result = shown_run(report)
    if result is None or result.record is None:
        return None
    depth = learning_times.depth_of(result.env)
    maps = uncertainty.grid(uncertainty.uncertainty(result.record), depth)
    learned = f"learned at episode {result.learning_time}" if result.solved else "not learned"
    return Maps(
        result.record.episodes.tolist(),
        list(np.where(uncertainty.reachable(depth), maps, np.nan)),
        title="Uncertainty over the grid of Deep Sea",
        quantity="standard deviation of Q over the last 10 episodes, summed over actions",
        layout="The start is at the top left, the treasure at the bottom right; hatched cells cannot be reached.",
        limit=plots.MOST,
        least=plots.LEAST,
        note=f"Seed {result.seed}, {learned}. The scale is logarithmic.",
    )


FIGURE = Figure(
    id="fig5",
    label="Figure 5",
    title="Depth 10: uncertainty of each state through training",
    jobs={"quick": _jobs(3, 250), "standard": _jobs(5, 500), "paper": _jobs(5, 1000)},
    claims=(
        _larger(
            "stays",
            "At episode 40 the top left, though visited often, is more uncertain than what it saw at the bottom left.",
            lambda summary: summary.early_top,
            lambda summary: summary.early_bottom_left,
            ("top rows", "bottom left"),
        ),
        _larger(
            "falls",
            "Once everything in reach has been explored, the uncertainty at the top left falls.",
            lambda summary: summary.top_before,
            lambda summary: summary.top_after,
            ("before learning", "after"),
        ),
    ),
    note="Langevin DQN as in the released code; a state's uncertainty is the standard deviation of Q over "
    "ten episodes, clipped at 50, summed over actions.",
    draw=draw,
    describe=describe,
    interactive=slider,
)
