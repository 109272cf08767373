"""fig5: the uncertainty of each state of the depth-10 sea through training."""

import math
from collections.abc import Callable, Sequence

from langevin_dqn.analysis import seas, uncertainty
from langevin_dqn.analysis.uncertainty import Story
from langevin_dqn.experiments.claims import FAILS, HOLDS, LEVEL, MIN_SEEDS, UNDECIDED, Claim, Finding, undecided
from langevin_dqn.experiments.contenders import LANGEVIN
from langevin_dqn.experiments.figure import Figure
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.statistics import mean_interval

UPDATES = 250


def _jobs(seeds: int, episodes: int) -> tuple[Job, ...]:
    """Runs go on after they have learned, to see what remains uncertain."""
    changes = {"updates_per_step": UPDATES}
    return tuple(
        Job(LANGEVIN.agent, "deep_sea:depth=10", seed, episodes, LANGEVIN.preset, changes=changes, record="q")
        for seed in range(seeds)
    )


def stories(results: Sequence[Result]) -> list[Story]:
    """What each recorded run tells."""
    return [
        uncertainty.story(result.record, seas.depth_of(result.env), result.learning_time)
        for result in results
        if result.record is not None
    ]


def _larger(
    name: str, words: str, first: Callable[[Story], float], second: Callable[[Story], float], told: tuple[str, str]
) -> Claim:
    """One uncertainty is larger than another, over seeds; compared as logarithms."""

    def check(results: Sequence[Result]) -> Finding:
        pairs = [(first(story), second(story)) for story in stories(results)]
        pairs = [(a, b) for a, b in pairs if a > 0 and b > 0]  # leaves out what is not a number
        if len(pairs) < MIN_SEEDS:
            return undecided(f"{len(pairs)} seeds have both; {MIN_SEEDS} are needed")
        gaps = [math.log(a / b) for a, b in pairs]
        lower, upper = mean_interval(gaps, 1 - 2 * LEVEL)
        factor = math.exp(sum(gaps) / len(gaps))
        means = [sum(values) / len(values) for values in zip(*pairs, strict=True)]
        sentence = f"{told[0]} {means[0]:.3g}, {told[1]} {means[1]:.3g} (means over {len(pairs)} seeds): "
        sentence += f"{factor:.2g} times as uncertain (geometric mean)"
        test = f"90% interval of the factor, {math.exp(lower):.2g} to {math.exp(upper):.2g} (Student, of logs), above 1"
        verdict = HOLDS if lower > 0 else FAILS if upper < 0 else UNDECIDED
        return Finding(verdict, sentence, {"factor": factor, "seeds": len(pairs), "means": means}, test)

    return Claim(name, words, check)


FIGURE = Figure(
    id="fig5",
    title="Depth 10: uncertainty of each state through training",
    jobs={"quick": _jobs(3, 250), "standard": _jobs(5, 500), "paper": _jobs(5, 1000)},
    claims=(
        _larger(
            "stays",
            "At episode 40 the top left, though visited often, is more uncertain than what it saw at the bottom left.",
            lambda story: story.early_top,
            lambda story: story.early_bottom_left,
            ("top rows", "bottom left"),
        ),
        _larger(
            "falls",
            "Once everything in reach has been explored, the uncertainty at the top left falls.",
            lambda story: story.top_before,
            lambda story: story.top_after,
            ("before learning", "after"),
        ),
    ),
    note="Langevin DQN as in the released code; a state's uncertainty is the standard deviation of Q over "
    "ten episodes, clipped at 50, summed over actions.",
)
