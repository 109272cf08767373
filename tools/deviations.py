"""Measure the effect of each field that differs between the paper and the released code, one field at a time.

For every agent, the variant that learns at depth 10 is the base; each row changes one field to the value of the other
variant. ``docs/reference/deviations.md`` has the tables between its markers.

    python tools/deviations.py --seeds 5 --write docs/reference/deviations.md
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options
from langevin_dqn.presets import preset

#: Agent, base reading, updates per step, episodes.
BASES = (
    ("langevin_dqn", "released", 25, 1000),
    ("ensemble_langevin_dqn", "paper", 1, 1000),
    ("boot_dqn", "paper", 1, 1000),
    ("dqn", "paper", 1, 1000),
)
#: Fields that only make sense together.
TOGETHER = {"regularizer": ("regularizer", "regularizer_form"), "regularizer_form": ()}
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@dataclass
class Args:
    """Learning times at depth 10 with one field changed at a time."""

    seeds: int = 5
    """Seeds per row."""
    depth: int = 10
    """Depth of Deep Sea."""
    write: Path | None = None
    """Markdown file into which the tables are written, between its markers."""
    raw: Path = Path("out/deviations.json")
    """JSON file of every learning time; runs that it has are not repeated."""


def variants(agent: str, base: str) -> dict[str, dict]:
    """Each difference between the readings as changes to the base, by name."""
    other = "paper" if base == "released" else "released"
    here, there = preset(agent, base).to_dict(), preset(agent, other).to_dict()
    rows: dict[str, dict] = {f"as in `{base}`": {}}
    for name, value in there.items():
        if name in without_effect(here):
            continue
        names = [n for n in TOGETHER.get(name, (name,)) if here[n] != there[n]]
        if value != here[name] and names:
            rows[", ".join(f"`{n}` {show(here[n])} → {show(there[n])}" for n in names)] = {n: there[n] for n in names}
    rows[f"as in `{other}`"] = {n: there[n] for n in there if there[n] != here[n]}
    return rows


def without_effect(config: dict) -> set[str]:
    """Fields that say nothing about an agent with one member, or with p = 1."""
    alone = {"shared_minibatch", "mean_over_members"} if config["members"] == 1 else set()
    return alone | ({"insertion"} if config["insertion_probability"] == 1 else set())


def show(value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def row(label: str, times: list, episodes: int) -> str:
    middle = np.median([np.inf if t is None else t for t in times])
    listed = ", ".join(f"> {episodes}" if t is None else str(t) for t in sorted(times, key=lambda t: t or 10**9))
    solved = sum(t is not None for t in times)
    return f"| {label} | {solved} of {len(times)} | {middle if np.isfinite(middle) else f'> {episodes}'} | {listed} |"


def main(args: Args) -> None:
    machine.prepare()
    from langevin_dqn.runs.runners import Job, run_jobs

    known = json.loads(args.raw.read_text()) if args.raw.exists() else {}
    lines: list[str] = []
    env = f"deep_sea:depth={args.depth}"
    for agent, base, updates, episodes in BASES:
        lines += [
            f"### {agent}, U = {updates}, {episodes} episodes, {args.seeds} seeds",
            "",
            "| change | solved | median | learning times |",
            "|---|---|---|---|",
        ]
        for label, changes in variants(agent, base).items():
            name = f"{agent}|{label}|{updates}|{episodes}|{args.depth}"
            times = known.setdefault(name, {})
            missing = [s for s in range(args.seeds) if str(s) not in times]
            settings = changes | {"updates_per_step": updates}
            settings = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
            jobs = [Job(agent, env, seed, episodes, base, True, settings) for seed in missing]
            for _, result in run_jobs(jobs):
                times[str(result.seed)] = result.learning_time
            args.raw.parent.mkdir(parents=True, exist_ok=True)
            args.raw.write_text(json.dumps(known, indent=1))
            lines.append(row(label, [times[str(s)] for s in range(args.seeds)], episodes))
            print(lines[-1], file=sys.stderr, flush=True)
        lines.append("")
    text = "\n".join(lines)
    if args.write is None:
        print(text)
        return
    page = args.write.read_text()
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    args.write.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


if __name__ == "__main__":
    main(script_options(Args, __doc__))
