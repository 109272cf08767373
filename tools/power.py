"""How many runs each test of the protocol needs, by simulation.

    python tools/power.py --store results --page docs/reference/claims.md

Outcomes are drawn, with replacement and independently, from those of the stored runs of one arm. The other arm has the
stated effect. Printed are the chance that the claim is found to hold with as many runs as are stored, and the runs with
which it is 80%, at level 0.05 and at the strictest level of Holm's correction. The seed is fixed, so that the table can
be repeated. With ``--page``, the table is written between ``<!-- power -->`` and ``<!-- end -->`` of a page.
"""

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.store import Store

TARGET, MOST = 0.8, 2000
LEVEL = 0.05


class Case(NamedTuple):
    """A test with an effect."""

    test: str
    claims: str
    effect: str
    unit: str
    """What is counted."""
    stored: int
    """How many of it are stored."""
    power: Callable[[int, float], float]
    """From that number and a level to the chance that the claim is found to hold."""
    tests: int
    """Tests that are corrected together."""


def sign_power(cells: Sequence[tuple[np.ndarray, np.ndarray]], simulations: int) -> Callable[[int, float], float]:
    """Of the sign test that the first is smaller; each cell has ``n`` pairs drawn from its two sets of values."""
    from scipy.stats import binom

    chances = []
    for first, second in cells:
        wins, losses = (np.mean(sign * first[:, None] < sign * second[None, :]) for sign in (1, -1))
        chances.append((wins, losses, max(1 - wins - losses, 0.0)))

    def power(n: int, level: float) -> float:
        rng = np.random.default_rng(0)
        drawn = sum(rng.multinomial(n, chance, size=simulations) for chance in chances)
        wins, losses = drawn[:, 0], drawn[:, 1]
        return float(np.mean(binom.sf(wins - 1, wins + losses, 0.5) <= level))

    return power


def sooner_power(cells: Sequence[np.ndarray], ratio: float, simulations: int) -> Callable[[int, float], float]:
    """Of the sign test between times of each cell and ``ratio`` times as long ones."""
    return sign_power([(ratio * times, times) for times in cells], simulations)


def student_power(
    cells: Sequence[tuple[np.ndarray, int]], bound: float, truth: float, simulations: int
) -> Callable[[int, float], float]:
    """Of Student's test that a mean is above ``bound`` in each cell, where it is ``truth``.

    Args:
        cells: stored values, whose scatter is used, and how many values a unit has.
        bound: what the mean is to be above.
        truth: what it is.
        simulations: how many times to try.
    """
    from scipy.stats import t

    scatter = [((values - values.mean()) * math.sqrt(len(values) / (len(values) - 1)), each) for values, each in cells]

    def power(n: int, level: float) -> float:
        rng, found = np.random.default_rng(0), np.ones(simulations, bool)
        for values, each in scatter:
            data = truth + rng.choice(values, size=(simulations, n * each))
            deviation = data.std(axis=1, ddof=1)
            equal = deviation < 1e-9  # then the sign test decides, as in statistics.mean_above
            score = (data.mean(axis=1) - bound) / (np.where(equal, 1.0, deviation) / math.sqrt(n * each))
            by_sign = np.where(data[:, 0] > bound, 0.5 ** (n * each), 1.0)
            found &= np.where(equal, by_sign, t.sf(score, n * each - 1)) <= level
        return float(found.mean())

    return power


def trend_power(
    residuals: np.ndarray, counts: Sequence[int], fall: float, simulations: int
) -> Callable[[int, float], float]:
    """Of Kendall's test that times fall with the count, where the median is ``fall`` times as long at the last."""
    from langevin_dqn.paper.statistics import falling_trend

    position = np.log(counts) - np.log(counts[0])

    def power(n: int, level: float) -> float:
        rng, x = np.random.default_rng(0), np.repeat(counts, n)
        mean = np.repeat(position / position[-1] * math.log(fall), n)
        draws = mean + rng.choice(residuals, size=(simulations, len(x)))
        return float(np.mean([falling_trend(x, row) <= level for row in draws]))

    return power


def needed(power: Callable[[int, float], float], level: float) -> int | None:
    """About the smallest number with a power of ``TARGET``; None if it is more than ``MOST``."""
    low, high = 2, 4
    while power(high, level) < TARGET:
        low, high = high, 2 * high
        if low >= MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, level) >= TARGET else (middle, high)
    return high


def table(cases: Sequence[Case]) -> str:
    lines = [
        "| test | claims | effect | counted | stored | power with these | for 80% | for 80% after Holm |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in cases:
        numbers = [needed(case.power, level) for level in (LEVEL, LEVEL / case.tests)]
        shown = " | ".join(f"more than {MOST:,}" if number is None else f"{number}" for number in numbers)
        power = f"{100 * case.power(case.stored, LEVEL):.0f}%"
        lines.append(
            f"| {case.test} | {case.claims} | {case.effect} | {case.unit} | {case.stored} | {power} | {shown} |"
        )
    return "\n".join(lines)


@dataclass
class Args:
    """Runs that each test needs."""

    store: str = "results"
    """Folder of stored runs."""
    page: Path | None = None
    """Page into which the table is written."""
    simulations: int = 2000
    """Simulated experiments for each number; a tenth of it for the rank test, which is slow."""


def times_by_depth(results: Sequence[Result], **chosen: str | int) -> list[np.ndarray]:
    """Learning times of the runs that agree with ``chosen``, by depth."""
    from langevin_dqn.analysis import learning_times

    runs = learning_times.table(results).filter(**chosen)
    return [part["time"].to_numpy() for part in runs.sort("depth").partition_by("depth")]


def paper_cases(results: Mapping[str, Sequence[Result]], tests: int, simulations: int) -> list[Case]:
    """The tests of the paper's figures, with the outcomes of stored runs."""
    import polars as pl

    from langevin_dqn.analysis import learning_times
    from langevin_dqn.paper import categories, fig3, fig5
    from langevin_dqn.paper.ensembles import NEGLIGIBLE_GAIN

    ensemble = times_by_depth(results["fig7"], agent="ensemble_langevin_dqn", updates=1)
    boot = times_by_depth(results["fig7"], agent="boot_dqn", updates=1)
    one_chain = times_by_depth(results["fig6"], agent="langevin_dqn", updates=5)

    times = learning_times.table(results["fig3"])
    further = times.filter((pl.col("seed") >= 5) & (pl.col("updates") == 250))["time"].to_numpy()
    at_ninety, bound = further * fig3.LOWEST / np.median(further), fig3.MARGIN * fig3.LOWEST
    logs = [np.log(part["time"].to_numpy()) for part in times.filter(pl.col("seed") < 5).partition_by("updates")]
    residuals = np.concatenate([part - np.median(part) for part in logs])
    counts = sorted(set(times["updates"]))

    factors = np.array([math.log(s.early_top / s.early_bottom_left) for s in fig5.summaries(results["fig5"])])
    gains = np.concatenate([_gains(float(np.isfinite(times).mean())) for times in boot])
    scores = categories.scores_of(results["fig9"])
    passes = scores["seed"].n_unique()
    cells = bsuite_cells(categories.differences(scores, "langevin_dqn", "dqn"), passes)
    but_scale = [cell for tag, cell in cells.items() if tag != "scale"]
    return [
        *(
            Case(
                "sign test, ensemble", "Figures 7 and 11: sooner, each test", f"{ratio:g} times the learning time",
                f"seeds at each of {len(ensemble)} depths", min(map(len, ensemble)),
                sooner_power(ensemble, ratio, simulations), tests,
            )
            for ratio in (0.8, 0.67, 0.5)
        ),
        *(
            Case(
                "sign test, one chain", "Figures 2 and 6: sooner", f"{ratio:g} times the learning time",
                f"seeds at each of {len(one_chain)} depths", min(map(len, one_chain)),
                sooner_power(one_chain, ratio, simulations), tests,
            )
            for ratio in (0.5, 0.25)
        ),
        Case(
            "sign test of a median", "Figure 3: as low as 90", f"a median of {fig3.LOWEST} episodes, against {bound:g}",
            "further seeds", len(further), sign_power([(at_ninety, np.array([bound]))], simulations), tests,
        ),
        *(
            Case(
                "Kendall's rank test", "Figure 3: falls", f"{fall:g} times the median at {counts[-1]} updates",
                f"seeds at each of {len(counts)} numbers of updates", min(map(len, logs)),
                trend_power(residuals, counts, fall, simulations // 10), tests,
            )
            for fall in (0.5, 0.25)
        ),
        Case(
            "Student's test, factor", "Figure 5: more uncertain", "2 times as uncertain", "seeds", len(factors),
            student_power([(factors, 1)], 0.0, math.log(2), simulations), tests,
        ),
        Case(
            "Student's test, no gain", "Figure 7: Boot DQN gains nothing", f"no gain, to stay below {NEGLIGIBLE_GAIN}",
            f"seeds at each of {len(boot)} depths", min(map(len, boot)),
            student_power([(gains, len(boot))], -NEGLIGIBLE_GAIN, 0.0, simulations), tests,
        ),
        Case(
            "Student's test, not worse", "Figures 9 and 12: every category but scale",
            f"no difference, to stay above -{categories.MARGIN}", "passes over bsuite", passes,
            student_power(but_scale, -categories.MARGIN, 0.0, simulations), tests,
        ),
        *(
            Case(
                "Student's test, difference", "Figure 10: scale", "a difference of scores of 0.2",
                "passes over bsuite", passes, student_power([cells[tag]], 0.0, 0.2, simulations), tests,
            )
            for tag in ("scale",) if tag in cells
        ),
    ]  # fmt: skip


def bsuite_cells(gaps: Mapping[str, Sequence[float]], passes: int) -> dict[str, tuple[np.ndarray, int]]:
    """By category, its differences of scores and how many a pass has; without categories of fewer than two."""
    few = [tag for tag, values in gaps.items() if len(values) < 2]
    if few:
        print(f"left out, because fewer than two differences are stored: {', '.join(few)}", file=sys.stderr)
    return {tag: (np.array(values), len(values) // passes) for tag, values in gaps.items() if tag not in few}


def _gains(share: float) -> np.ndarray:
    """Gains of pairs of which each learns with the same chance, in their proportions."""
    one_learns = round(1000 * share * (1 - share))
    return np.repeat([1.0, -1.0, 0.0], [one_learns, one_learns, 1000 - 2 * one_learns])


def deeper_cases(results: Mapping[str, Sequence[Result]], tests: int, simulations: int) -> list[Case]:
    """The tests of the figures about the recommended presets, with the outcomes of stored runs."""
    from langevin_dqn.deeper import ablation, bsuite, chain

    full = ablation.FULL.times(results["deeper_ablation"], ablation.DEPTH)
    released = [chain.VARIANTS[1].times(results["deeper_chain"], depth) for depth in chain.DEPTHS]
    released = [times for times in released if len(times)]
    scores, cells = bsuite.scores(results["deeper_bsuite"]), []
    for tag in bsuite.TAGS:
        pairs = bsuite.paired_scores(scores, "ensemble_langevin_dqn", tag)
        cells.append(((pairs["score"] - pairs["score_before"]).to_numpy(), pairs.filter(seed=bsuite.PASS).height))
    return [
        *(
            Case(
                "sign test, recommended ensemble", "Ablation: slower", f"{ratio:g} times the learning time", "seeds",
                len(full), sign_power([(full, ratio * full)], simulations), tests,
            )
            for ratio in (1.1, 1.25, 1.5)
        ),
        Case(
            "sign test, recommended ensemble", "Ablation: at most 1.1 times as long", "the same learning time", "seeds",
            len(full), sign_power([(full, 1.1 * full)], simulations), tests,
        ),
        Case(
            "sign test, one chain", "One chain: sooner", "0.5 times the learning time",
            f"seeds at each of {len(released)} depths", min(map(len, released)),
            sooner_power(released, 0.5, simulations), tests,
        ),
        Case(
            "Student's test, not worse", "bsuite: recommended presets",
            f"no difference, to stay above -{bsuite.MARGIN}",
            "passes over its settings", 1, student_power(cells, -bsuite.MARGIN, 0.0, simulations), tests,
        ),
    ]  # fmt: skip


def cases(store: Store, simulations: int) -> list[Case]:
    """All of them; reads the runs of every figure."""
    from langevin_dqn.paper.registry import choose
    from langevin_dqn.report.summary import summarise

    found = []
    for family, scale, make in (("all", None, paper_cases), ("deeper", "standard", deeper_cases)):
        reports = summarise(store, choose([family]), scale)
        tests = sum(claim.tested for report in reports for claim, _ in report.findings)
        found += make({report.figure.id: report.results for report in reports}, tests, simulations)
    return found


def main(args: Args) -> None:
    machine.prepare()
    text = table(cases(Store(args.store), args.simulations))
    print(text)
    if args.page is not None:
        page = args.page.read_text(encoding="utf-8")
        pattern = re.compile(r"<!-- power -->.*?<!-- end -->", re.DOTALL)
        args.page.write_text(pattern.sub(lambda _: f"<!-- power -->\n{text}\n<!-- end -->", page), encoding="utf-8")


if __name__ == "__main__":
    main(script_options(Args, __doc__))
