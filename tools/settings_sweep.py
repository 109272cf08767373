"""How learning time depends on each setting of Ensemble Langevin DQN, one at a time, for docs/guide/settings.md.

    python tools/settings_sweep.py
    python tools/settings_sweep.py --no-measure --page docs/guide/settings.md

The tables are written between the markers that the page has for them.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options
from langevin_dqn.presets import preset

AGENT = "ensemble_langevin_dqn"
SEEDS = range(2000, 2005)
#: What is changed of the recommended settings in every run.
BASE: dict[str, Any] = {"noise_variance": 1e-4}
#: By field: the values tried, all else as in ``BASE``.
VALUES: dict[str, list[float]] = {
    "noise_variance": [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2],
    "adam_eps": [1e-8, 1e-7, 1e-6, 1e-5, 1e-4],
    "updates_per_step": [1, 2, 5],
    "prior_std": [0.0, 0.01, 0.05, 0.25, 1.0, 4.0],
    "members": [1, 2, 4, 8, 16],
}
LABELS = {
    "noise_variance": r"$\sigma_w^2$ (noise_variance)",
    "adam_eps": "ε of Adam (adam_eps)",
    "updates_per_step": "U (updates_per_step)",
    "prior_std": "prior (prior_std)",
    "members": "members",
}


@dataclass
class Args:
    """Measure, draw and print learning times by setting."""

    json: Path = Path("docs/figures/settings.json")
    """JSON file of the learning times; runs that it has are not repeated."""
    plot: Path = Path("docs/figures/settings.png")
    """File for the picture."""
    page: Path | None = None
    """Page into which the tables are also written."""
    depth: int = 20
    """Depth of Deep Sea."""
    episodes: int = 1000
    """Maximum number of episodes per run."""
    measure: bool = True
    """Measure what the file does not have; with --no-measure, only draw and print the tables."""


def name_of(field: str, value: float, base: Any) -> str:
    """The settings of a run as text; those of ``BASE`` have one name in every series."""
    return "base" if value == getattr(base, field) else f"{field}={value:g}"


def measure(args: Args, times: dict[str, dict[str, int | None]], base: Any) -> None:
    """Run what ``times`` does not have, and write the file after each run."""
    from langevin_dqn import train

    for field, values in VALUES.items():
        for value in values:
            known = times.setdefault(name_of(field, value, base), {})
            for seed in SEEDS:
                if str(seed) not in known:
                    sea = f"deep_sea:depth={args.depth},mapping_seed={seed}"
                    result = train(
                        AGENT, sea, seed=seed, episodes=args.episodes, stop_when_solved=True, **BASE | {field: value}
                    )
                    known[str(seed)] = result.learning_time
                    args.json.write_text(json.dumps(times, indent=1) + "\n", encoding="utf-8")
                    print(field, value, seed, result.learning_time, f"{result.seconds:.0f} s", flush=True)


def measured(field: str, times: dict[str, dict[str, int | None]], base: Any) -> list[float]:
    """The values of a field of which every seed was run."""
    return [v for v in VALUES[field] if len(times.get(name_of(field, v, base), ())) == len(SEEDS)]


def table(field: str, times: dict[str, dict[str, int | None]], base: Any) -> str:
    rows = [f"| `{field}` | learned | median | learning times |", "|---|---|---|---|"]
    for value in measured(field, times, base):
        found = [times[name_of(field, value, base)][str(seed)] for seed in SEEDS]
        known = sorted(t for t in found if t is not None)
        middle = sorted(float("inf") if t is None else t for t in found)[len(found) // 2]
        shown = "" if middle == float("inf") else f"{middle:g}"
        mark = " (recommended)" if value == getattr(preset(AGENT), field) else ""
        rows.append(f"| {short(value)}{mark} | {len(known)} of {len(found)} | {shown} | {', '.join(map(str, known))} |")
    return "\n".join(rows)


def short(value: float) -> str:
    """A value for an axis: ``1e-6``, and not ``1e-06`` or ``0.000001``."""
    base, power, exponent = f"{value:.0e}".partition("e")
    return f"{base}e{int(exponent)}" if power and 0 < abs(value) < 0.1 else f"{value:g}"


def draw(args: Args, times: dict[str, dict[str, int | None]], base: Any) -> None:
    """A panel per field: each run a point, dashes at the medians; runs that did not learn are triangles at the top."""
    from langevin_dqn.plots.style import LEGEND, STYLES, drawing, side_by_side

    color = STYLES[AGENT].color
    fields = [field for field in VALUES if len(measured(field, times, base)) > 1]
    columns = min(3, len(fields))
    rows = -(-len(fields) // columns)
    with drawing() as plt:
        size = (2.6 * columns + 0.4, 2.2 * rows + 0.4)
        figure, grid = plt.subplots(rows, columns, figsize=size, sharey=True, layout="constrained", squeeze=False)
        for axes, field in zip(grid.flat, fields, strict=False):
            values = measured(field, times, base)
            for place, value in enumerate(values):
                found = [times[name_of(field, value, base)][str(seed)] for seed in SEEDS]
                learned = [t for t in found if t is not None]
                missed = len(found) - len(learned)
                beside = place + side_by_side(len(learned), 0.07)
                axes.plot(beside, learned, "o", ms=3.5, color=color, alpha=0.6, mew=0)
                late = place + side_by_side(missed, 0.13)
                axes.plot(late, [1.12 * args.episodes] * missed, "^", ms=4.5, mfc="white", color=color, mew=0.9)
                if missed < len(found) / 2:
                    middle = median([*learned, *[1.12 * args.episodes] * missed])
                    axes.plot([place - 0.25, place + 0.25], [middle, middle], "-", lw=2, color=color)
            if getattr(preset(AGENT), field) in values:
                chosen = values.index(getattr(preset(AGENT), field))
                axes.axvspan(chosen - 0.45, chosen + 0.45, color="0.93", zorder=0, lw=0)
            axes.set_xticks(range(len(values)), [short(value) for value in values], size=8)
            axes.set_xlim(-0.6, len(values) - 0.4)
            axes.set_xlabel(LABELS[field])
            axes.set_yscale("log")
            axes.set_ylim(100, args.episodes * 1.5)
            ticks = [100, 200, 500, 1000]
            axes.set_yticks(ticks, [f"{t:,}" for t in ticks])
            axes.set_yticks([], minor=True)
            axes.grid(axis="y", color="0.9", lw=0.6)
            axes.set_axisbelow(True)
        late_words = f"not learned in {args.episodes:,} episodes"
        handles = [
            plt.Line2D([], [], ls="", marker="o", ms=3.5, color=color, alpha=0.6, mew=0, label="one seed"),
            plt.Line2D([], [], lw=2, color=color, label="median"),
            plt.Line2D([], [], ls="", marker="^", ms=4.5, mfc="white", color=color, label=late_words),
            plt.Rectangle((0, 0), 1, 1, color="0.93", label="recommended"),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=4, columnspacing=1.4, **LEGEND)
        for axes in grid[:, 0]:
            axes.set_ylabel("learning time (episodes)")
        for axes in grid.flat[len(fields) :]:
            axes.axis("off")
        figure.savefig(args.plot, dpi=200)
        plt.close(figure)


def main(args: Args) -> None:
    machine.prepare()
    base = preset(AGENT, **BASE)
    times = json.loads(args.json.read_text(encoding="utf-8")) if args.json.exists() else {}
    if args.measure:
        measure(args, times, base)
    draw(args, times, base)
    page = args.page.read_text(encoding="utf-8") if args.page else ""
    for field in VALUES:
        text = table(field, times, base)
        print(f"\n{text}")
        page = re.sub(
            rf"<!-- {field} -->.*?<!-- end -->", f"<!-- {field} -->\n{text}\n<!-- end -->", page, flags=re.DOTALL
        )
    if args.page:
        args.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(script_options(Args, __doc__))
