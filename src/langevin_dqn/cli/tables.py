"""Tables of results, printed at the end of a command."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from langevin_dqn.cli import terminal
from langevin_dqn.errors import counted
from langevin_dqn.plots.style import label
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET
from langevin_dqn.runs.result import Result


def median_learning_time(results: Sequence[Result]) -> str:
    """Median over seeds, those that never learned counting as the longest; a bound if it is among them."""
    times = [r.learning_time or np.inf for r in results]
    middle = float(np.median(times)) if times else np.inf
    return f"{middle:g}" if np.isfinite(middle) else f"> {max((r.episodes for r in results), default=0)}"


def explain_learning_time(threshold: float) -> str:
    """What the column of learning times shows."""
    return f"learned at: the first episode at which the mean regret so far is below {threshold:g}"


def seeds_table(results: Sequence[Result]) -> None:
    """One row per seed and a summary, to stdout."""
    console = terminal.console()
    first = results[0]
    table = Table(title=f"{label(first.agent)} on {first.env} ({first.preset})")
    if first.learned_regret is None:
        return _returns_table(results, table)
    stopped = all(r.learning_time == r.episodes for r in results)  # too soon for a share of the last 100 episodes
    recent = () if stopped else ("success, last 100",)
    for column in ("seed", "learned at", "first success", *recent, "regret", "updates", "seconds"):
        table.add_column(column, justify="right")
    for r in results:
        learned = "diverged" if r.diverged else str(r.learning_time or "never")
        share = "" if r.success_share is None else f"{r.success_share:.0%}"
        regret = "" if r.regret is None else f"{r.regret:.1f}"
        begun = (str(r.seed), learned, str(r.first_success or "never"))
        table.add_row(*begun, *([] if stopped else [share]), regret, f"{r.updates:,}", f"{r.seconds:.1f}")
    console.print(table)
    solved = sum(r.solved for r in results)
    diverged = sum(bool(r.diverged) for r in results)
    failures = f" ({diverged} diverged)" if diverged else ""
    median = f"median learning time {median_learning_time(results)} episodes"
    console.print(f"{solved} of {counted(len(results), 'seed')} learned{failures}; {median}")
    console.print(explain_learning_time(first.learned_regret))
    _say_compiling(results, console)
    for r in results:
        if r.diverged:
            console.print(f"seed {r.seed} diverged: {r.diverged}", soft_wrap=True)
        elif is_late(r):
            console.print(_late(r))
    if not solved and not any(is_late(r) for r in results):
        console.print(f"hint: {what_to_try(results)}")
    _say_where_no_episode_ended(results, console)


def _say_compiling(results: Sequence[Result], console: Any) -> None:
    longest = max(r.compile_seconds for r in results)
    if longest >= 0.1:
        console.print(f"compilation, not included in the seconds, took up to {longest:.1f} s")


def is_late(result: Result) -> bool:
    """True for a run that succeeds in the end, too late for its regret to count as learned."""
    share = result.success_share
    return not result.solved and not result.diverged and share is not None and share >= 0.5


def _late(result: Result) -> str:
    per_episode = (result.regret or 0.0) / max(result.episodes, 1)
    return (
        f"seed {result.seed} succeeds in {result.success_share:.0%} of its last {min(result.episodes, 100)} episodes, "
        f"but first at episode {result.first_success}: its mean regret so far is {per_episode:.2f}, not yet "
        f"below {result.learned_regret:g}. With more --episodes it would count as learned."
    )


def what_to_try(results: Sequence[Result]) -> str:
    """Where no seed learned: what helps most often."""
    first = results[0]
    if any(r.diverged for r in results):
        return "a smaller --set learning_rate=… keeps parameters finite"
    tries = ["more --episodes"]
    if first.setting("discount", 0) > 0.99 and not first.env.startswith("deep_sea"):
        tries.append("--set discount=0.99")  # where an episode may go in circles, values do not settle without
    if first.preset not in (DEFAULT_PRESET, "custom"):
        tries.append(f"--preset {DEFAULT_PRESET}")
    if first.agent in AGENTS and first.agent != AGENTS[-1]:
        tries.append(f"--agent {AGENTS[-1]}")
    elif first.setting("members") is not None:
        tries.append(f"--members {2 * first.setting('members')}")
    if first.setting("updates_per_step") is not None:
        tries.append(f"--updates-per-step {max(5, 2 * first.setting('updates_per_step'))}")
    return f"no seed learned; try {', '.join(tries[:-1])} or {tries[-1]}" if len(tries) > 1 else f"try {tries[0]}"


def _say_where_no_episode_ended(results: Sequence[Result], console: Any) -> None:
    for r in results:
        if not r.episodes and not r.diverged:
            console.print(f"seed {r.seed}: no episode ended within {r.steps:,} steps, so there is no return")
    if not any(r.episodes for r in results):
        console.print("hint: use more --steps, or an environment whose episodes are shorter")


def _returns_table(results: Sequence[Result], table: Table) -> None:
    """For environments without a known best return: returns instead of learning times."""
    measured = "regret" in results[0].measures
    third = "regret" if measured else "max return"
    for column in ("seed", "episodes", "steps", "return, last 100", third, "updates", "seconds"):
        table.add_column(column, justify="right")
    for r in results:
        recent = "diverged" if r.diverged else "" if r.recent_return is None else f"{r.recent_return:.4g}"
        best = f"{r.regret if measured else r.returns.max():.4g}" if r.episodes else ""
        table.add_row(
            str(r.seed), f"{r.episodes:,}", f"{r.steps:,}", recent, best, f"{r.updates:,}", f"{r.seconds:.1f}"
        )
    console = terminal.console()
    console.print(table)
    _say_compiling(results, console)
    for r in results:
        if r.diverged:
            console.print(f"seed {r.seed} diverged: {r.diverged}", soft_wrap=True)
    _say_where_no_episode_ended(results, console)


def agents_table(groups: Mapping[str, Sequence[Result]], title: str) -> None:
    """One row per agent, to stdout."""
    table = Table(title=title)
    for column, justify in (("agent", "left"), ("learned", "right"), ("median learning time", "right"),
                            ("updates per step", "right"), ("seconds per seed", "right")):  # fmt: skip
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for name, results in groups.items():
        table.add_row(
            label(name),
            f"{sum(r.solved for r in results)} of {len(results)}",
            median_learning_time(results),
            str(results[0].setting("updates_per_step", "")),
            f"{np.mean([r.seconds for r in results]):.1f}",
        )
    console = terminal.console()
    console.print(table)
    thresholds = {r.learned_regret for results in groups.values() for r in results}
    if len(thresholds) == 1 and (threshold := thresholds.pop()) is not None:
        console.print(explain_learning_time(threshold).replace("learned at", "learning time"))


def bsuite_tables(summaries: Sequence[Mapping[str, Any]]) -> None:
    """Scores per experiment and per tag, a column per agent, then published ones, to stdout."""
    from langevin_dqn.analysis.bsuite_summary import BY_TYPE, TAGS
    from langevin_dqn.analysis.public_scores import PUBLIC, SOURCE
    from langevin_dqn.plots.bsuite import styles

    console = terminal.console()
    texts = styles(s["agent"] for s in summaries)
    shown = [name for name in dict.fromkeys(s["agent"].partition(":")[0] for s in summaries) if name in PUBLIC]
    table = Table("experiment", title=f"bsuite scores, {summaries[0]['preset']} preset")
    for summary in summaries:
        table.add_column(texts[summary["agent"]].text, justify="right")
    for name in shown:
        table.add_column(f"{label(name)}, published", justify="right", style="dim")
    for names in BY_TYPE.values():
        run = [name for name in names if any(name in s["episodes"] for s in summaries)]
        for name in run:
            ours = [_score(s["scores"].get(name), name in s["unfinished"]) for s in summaries]
            table.add_row(name, *ours, *[_score(PUBLIC[agent][name]) for agent in shown], end_section=name == run[-1])
    for tag in TAGS:
        if any(tag in s["tags"] for s in summaries):
            table.add_row(f"mean: {tag}", *[_score(s["tags"].get(tag)) for s in summaries], *[""] * len(shown))
    console.print(table)
    if any(s["unfinished"] for s in summaries):
        console.print("* some runs stopped before their last episode; as in bsuite, they are left out")
    if shown:
        console.print(f"published: {SOURCE}; all settings at bsuite's episode counts", highlight=False)
    for summary in summaries:
        for words in summary["diverged"]:
            console.print(f"{summary['agent']} on {words}", highlight=False, soft_wrap=True)


def _score(value: float | None, unfinished: bool = False) -> str:
    return "–" if value is None else f"{value:.2f}{'*' if unfinished else ''}"
