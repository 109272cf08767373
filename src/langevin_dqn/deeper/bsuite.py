"""The recommended presets on bsuite: beside ``paper`` everywhere but on scale, and at every scale of reward."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from langevin_dqn.deeper.variants import FIRST_SEED, Variant
from langevin_dqn.environments.bsuite.sweeps import SWEEPS, split_id
from langevin_dqn.paper.bsuite_protocol import SEED_STRIDE, Protocol, jobs_of
from langevin_dqn.paper.categories import scores_of
from langevin_dqn.paper.claims import FAILS, HOLDS, LEVEL, Claim, Finding, decide, inconclusive, mean_of
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.paper.statistics import mean_above, mean_interval
from langevin_dqn.plots.style import MARKERS, STYLES, WIDTH, check_path, drawing, grid, label, save
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

#: By experiment: the settings, and the episodes of each. All of basic, noise, generalization and credit assignment
#: but MNIST, which needs files, and of scale; three settings of the stochastic sea.
PARTS: dict[str, tuple[tuple[int, ...], int]] = {
    "bandit": ((7,), 2_000),
    "bandit_noise": ((0, 16), 2_000),
    "catch": ((0,), 1_000),
    "catch_noise": ((0, 16), 1_000),
    "cartpole": ((0,), 200),
    "cartpole_noise": ((16,), 200),
    "mountain_car": ((0,), 100),
    "mountain_car_noise": ((16,), 100),
    "discounting_chain": ((0, 2, 4), 1_000),
    "umbrella_length": ((0, 4, 13), 2_000),
    "umbrella_distract": ((0, 4), 2_000),
    "deep_sea_stochastic": ((0, 5), 1_500),
    "bandit_scale": (tuple(range(20)), 2_000),
    "catch_scale": (tuple(range(20)), 1_000),
    "cartpole_scale": (tuple(range(20)), 200),
    "mountain_car_scale": (tuple(range(20)), 100),
}
#: Where a mean difference counts as none.
MARGIN = 0.05
PASS = FIRST_SEED // SEED_STRIDE
#: Further passes of the Langevin agents over basic and noise, where one run says little: bsuite's bandit with the most
#: noise is decided by luck.
MORE_PASSES = (PASS + 1, PASS + 2)

AGENTS = ("dqn", "langevin_dqn", "boot_dqn", "ensemble_langevin_dqn")
#: Those that run the settings of scale: no claim about it concerns Boot DQN, whose runs take longest.
SCALE_AGENTS = ("dqn", "langevin_dqn", "ensemble_langevin_dqn")
#: The presets to compare with: what the paper's figures run on bsuite.
BEFORE = {
    "dqn": Variant("DQN", "dqn", "paper"),
    "langevin_dqn": Variant("Langevin DQN", "langevin_dqn", "released", {"updates_per_step": 5}),
    "boot_dqn": Variant("Boot DQN", "boot_dqn", "paper", {"members": 10}),
    "ensemble_langevin_dqn": Variant("Ensemble Langevin DQN", "ensemble_langevin_dqn", "paper", {"members": 7}),
}


def _protocol(parts: dict[str, tuple[tuple[int, ...], int]]) -> Protocol:
    ids = tuple(f"{name}/{number}" for name, (numbers, _) in parts.items() for number in numbers)
    return Protocol("", ids, {name: episodes for name, (_, episodes) in parts.items()})


def _jobs(parts: dict[str, tuple[tuple[int, ...], int]]) -> tuple[Job, ...]:
    without_scale = {name: part for name, part in parts.items() if "scale" not in SWEEPS[name].tags}
    repeated = _protocol({name: part for name, part in parts.items() if {"basic", "noise"} & set(SWEEPS[name].tags)})
    jobs = []
    for agent in AGENTS:
        chosen, before = _protocol(parts if agent in SCALE_AGENTS else without_scale), BEFORE[agent]
        for protocol, passes in ((chosen, [PASS]), (repeated, MORE_PASSES if "langevin" in agent else ())):
            jobs += jobs_of(agent, protocol, seeds=passes, preset="recommended", changes={})
            jobs += jobs_of(agent, protocol, seeds=passes, preset=before.variant, changes=before.changes)
    return tuple(jobs)


def scores(results: Sequence[Result]) -> pl.DataFrame:
    """Bsuite's score by agent, preset (``recommended`` or ``before``), experiment, setting and pass."""
    tables = []
    for recommended in (True, False):
        for setting, own in _by_setting([r for r in results if (r.preset == "recommended") == recommended]).items():
            tables.append(
                scores_of(own).with_columns(
                    preset=pl.lit("recommended" if recommended else "before"), setting=pl.lit(setting)
                )
            )
    columns = ("agent", "experiment", "preset", "setting", "seed", "score")
    return pl.concat(tables, how="diagonal").select(columns) if tables else pl.DataFrame(schema=columns)


def _by_setting(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Runs of each setting by themselves, so that scores can be paired by it."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.env, []).append(result)
    return found


def paired_scores(table: pl.DataFrame, agent: str, tag: str) -> pl.DataFrame:
    experiments = [name for name in PARTS if tag in SWEEPS[name].tags]
    own = table.filter((pl.col("agent") == agent) & pl.col("experiment").is_in(experiments))
    new, old = own.filter(preset="recommended"), own.filter(preset="before")
    return new.join(old, on=("setting", "seed"), suffix="_before")


def mean_scores(results: Sequence[Result], tag: str) -> dict[str, tuple[float, float, int]]:
    """By agent: the score on a category of the recommended preset and of the one before, and the runs both made.

    As in bsuite, an experiment with several scales of noise or reward has one score, which is less if they differ. The
    score of an experiment is the mean over passes.
    """
    found = {}
    experiments = [name for name in PARTS if tag in SWEEPS[name].tags]
    for agent in AGENTS:
        own = [r for r in results if r.agent == agent and split_id(r.env)[0] in experiments]
        new, old = ([r for r in own if (r.preset == "recommended") == recommended] for recommended in (True, False))
        both = {(r.env, r.seed) for r in new} & {(r.env, r.seed) for r in old}
        if both:
            means = [_mean_score([r for r in part if (r.env, r.seed) in both]) for part in (new, old)]
            found[agent] = (means[0], means[1], len(both))
    return found


def _mean_score(results: Sequence[Result]) -> float:
    by_experiment = scores_of(results).group_by("experiment").agg(pl.col("score").mean())
    return float(by_experiment["score"].mean())  # type: ignore[arg-type]


TAGS = ("basic", "noise", "generalization", "credit_assignment")


def _not_worse(agent: str) -> Claim:
    def check(results: Sequence[Result]) -> Finding:
        table, parts, p_values, effects = scores(results), [], [], []
        for tag in TAGS:
            pairs = paired_scores(table, agent, tag) if table.height else table
            if pairs.height < 3:
                return inconclusive(f"fewer than 3 settings of {tag.replace('_', ' ')} yet")
            gaps = (pairs["score"] - pairs["score_before"]).to_numpy()
            low, high = mean_interval(gaps, 1 - 2 * LEVEL)
            parts.append(f"{tag.replace('_', ' ')} {gaps.mean():+.2f} ({low:+.2f} to {high:+.2f}, {len(gaps)} pairs)")
            p_values.append((mean_above(gaps, -MARGIN), mean_above(-gaps, MARGIN)))
            name = f"difference of scores on {tag.replace('_', ' ')} (recommended less before)"
            effects.append(mean_of(name, gaps))
        test = f"90% interval of the mean difference, paired by setting and pass, to lie above -{MARGIN}"
        p_for, p_against = max(p for p, _ in p_values), min(len(TAGS) * min(p for _, p in p_values), 1.0)
        open_ = tuple(effect for effect in effects if effect.low <= -MARGIN) or tuple(effects)
        test += f"; p = {p_for:.2g}"
        found = "difference of scores: " + "; ".join(parts)
        return Finding(decide(p_for, p_against), found, {}, test, p_for, p_against, open_)

    words = f"{label(agent)} recommended is not worse than before by more than {MARGIN}."
    return Claim(f"not_worse_{agent}", words, check, tested=True)


def _scale(agent: str) -> Claim:
    def check(results: Sequence[Result]) -> Finding:
        found = mean_scores(results, "scale")
        planned = sum(len(PARTS[name][0]) for name in PARTS if "scale" in SWEEPS[name].tags)
        done = {who: found[who][2] if who in found else 0 for who in (agent, "dqn")}
        if min(done.values()) < planned:  # scores of unlike settings do not compare
            return inconclusive(f"{done[agent]} of {planned} settings yet, {done['dqn']} of DQN")
        new, old, count = found[agent]
        other = found["dqn"][0]
        verdict = HOLDS if new >= other and new >= old + 0.1 else FAILS
        words = f"scale score {new:.2f}, before {old:.2f}; DQN's, recommended, {other:.2f} ({count} settings)"
        return Finding(
            verdict,
            words,
            {"score": new, "before": old, "dqn": other},
            "at least DQN's, and 0.1 above before; no interval",
        )

    words = f"{label(agent)}'s scale score is at least DQN's, and at least 0.1 above what it was."
    return Claim(f"scale_{agent}", words, check)


def table(results: Sequence[Result]) -> str:
    """The table of the documentation: scores by category, the recommended preset's and, in brackets, those before."""
    lines = [f"| category | {' | '.join(label(agent) for agent in AGENTS)} |", "|---|" + "---|" * len(AGENTS)]
    for tag in (*TAGS, "scale"):
        found = mean_scores(results, tag)
        cells = [f"{found[a][0]:.2f} ({found[a][1]:.2f}), {found[a][2]}" if a in found else "" for a in AGENTS]
        if any(cells):
            lines.append(f"| {tag.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(report: FigureReport, path: Path, caption: str) -> Path:
    path = check_path(path)
    tags = (*TAGS, "scale")
    with drawing() as plt:
        figure, axes = plt.subplots(figsize=(WIDTH, 3.0), layout="constrained")
        for i, tag in enumerate(tags):
            for agent, (new, old, _) in mean_scores(report.results, tag).items():
                x, color = i + 0.19 * (AGENTS.index(agent) - 1.5), STYLES[agent].color
                marker, ends = MARKERS[AGENTS.index(agent)], (x - 0.035, x + 0.035)  # equal scores stay apart
                axes.plot(ends, [old, new], color=color, lw=1)
                axes.plot(ends[0], old, marker, mec=color, mfc="white", ms=5)
                axes.plot(ends[1], new, marker, color=color, ms=5)
        for marker, agent in zip(MARKERS, AGENTS, strict=False):
            axes.plot([], [], marker, color=STYLES[agent].color, ms=5, label=label(agent))
        axes.set_xlim(-0.5, len(tags) - 0.5)
        axes.plot([], [], "o", mec="0.3", mfc="white", ms=5, label="as in Figures 9 and 12")
        axes.set_xticks(range(len(tags)), [tag.replace("_", "\n") for tag in tags])
        axes.set(ylabel="bsuite score", ylim=(-0.03, 1.03))
        grid(axes)
        figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
        text = (
            "Mean over runs, no interval. Filled: recommended preset; open: settings of Figures 9 and 12; "
            "no marker: not run."
        )
        return save(plt, figure, path, f"{caption}. {text}")


def describe(report: FigureReport) -> str:
    parts = [
        f"{label(agent)}, {tag.replace('_', ' ')}: {new:.2f}, before {old:.2f} ({count} runs)"
        for tag in (*TAGS, "scale")
        for agent, (new, old, count) in mean_scores(report.results, tag).items()
    ]
    return "; ".join(parts) or "no runs yet"


_QUICK = {"bandit": ((7,), 1_000), "bandit_scale": ((0, 16), 1_000), "catch": ((0,), 500)}

FIGURE = Figure(
    id="deeper_bsuite",
    label="bsuite",
    title="bsuite by category: recommended presets and before",
    jobs={"quick": _jobs(_QUICK), **dict.fromkeys(("standard", "paper"), _jobs(PARTS))},
    claims=(
        *(_not_worse(agent) for agent in AGENTS),
        _scale("langevin_dqn"),
        _scale("ensemble_langevin_dqn"),
    ),
    note="Before: what the paper's Figures 9 and 12 run (Langevin DQN as released with 5 updates per step, Ensemble "
    "Langevin DQN with 7 members and Boot DQN with 10 as in the text). No MNIST; fewer episodes than bsuite's.",
    draw=draw,
    describe=describe,
)
