"""bsuite's score of each experiment, from logs, equal to its own ``analysis.score``.

A log has one row per logged episode (``bsuite_log.py``), with the columns bsuite's logger
writes, ``bsuite_id``, and the setting the experiment varies. bsuite's own functions need
libraries of 2022 and do not import beside current ones; these need polars.

| experiments | score |
|---|---|
| bandit, catch, mountain_car | 1 - regret per episode / that of a bad policy, between 0 and 1 |
| mnist | half that, half the accuracy over the last tenth |
| cartpole, cartpole_swingup | half that, half the share of runs whose best episode is good |
| ``*_noise``, ``*_scale`` | over the five scales, half the mean and half the mean less one standard deviation |
| deep_sea, deep_sea_stochastic | share of sizes solved sooner than by dithering |
| umbrella_*, memory_* | share of lengths or sizes at which it beats a bad policy clearly |
| discounting_chain | how much of the return between 1 and 1.1 per episode it earned |
"""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.errors import unknown

if TYPE_CHECKING:
    import polars as pl

#: Deep Sea counts as solved once fewer than this share of episodes was bad: the paper's
#: threshold, and bsuite's up to version 0.3.5. Since 0.3.6 bsuite uses 0.9.
SOLVED_SHARE = 0.8

#: Episodes that Deep Sea allows in addition to 2^size, about what dithering needs.
FORGIVENESS = 100

Score = Callable[..., float]


def score(
    experiment: str, logs: "pl.DataFrame", *, episodes: int | None = None, solved_share: float = SOLVED_SHARE
) -> float:
    """Score one agent on one experiment.

    Args:
        experiment: bsuite's name for it, as ``catch_noise``.
        logs: what the agent logged, for any of the experiment's settings, one run each.
        episodes: how many episodes make a finished run; bsuite's number by default.
        solved_share: for the two Deep Sea experiments, the share of bad episodes below which a size is solved.

    Returns:
        A number from 0 to 1; NaN where the logs are too short.
    """
    if experiment not in _SCORES:
        raise unknown("experiment", experiment, _SCORES)
    if not len(logs):
        return math.nan
    options = {"solved_share": solved_share} if experiment.startswith("deep_sea") else {}
    return float(_SCORES[experiment](logs, episodes or SWEEPS[experiment].episodes, **options))


def is_finished(experiment: str, logs: "pl.DataFrame", episodes: int | None = None) -> bool:
    """Whether every run in ``logs`` came to its last episode."""
    last = logs.group_by("bsuite_id").agg(_col("episode").max())["episode"]
    return bool(len(last)) and int(last.min()) >= (episodes or SWEEPS[experiment].episodes)  # type: ignore


def _col(name: str) -> "pl.Expr":
    import polars as pl

    return pl.col(name)


def _at_end(logs, column: str, episodes: int) -> float:
    """``column`` per episode at the last logged episode, averaged over the runs that came that far."""
    last = min(logs["episode"].max(), episodes)
    values = logs.filter(_col("episode") == last)[column]
    return float(values.mean()) / last if len(values) else math.nan


def _normalized_regret(logs, episodes: int, *, regret: str = "total_regret", bad: float) -> float:
    """1 at no regret, 0 at that of a bad policy."""
    return float(np.clip(1 - _at_end(logs, regret, episodes) / bad, 0, 1))


def _good_share(logs, threshold: float) -> float:
    """Share of runs whose best episode is above ``threshold``."""
    return float((logs.group_by("bsuite_id").agg(_col("best_episode").max())["best_episode"] > threshold).mean())


def _cartpole(logs, episodes: int) -> float:
    logs = logs.filter(_col("episode") <= episodes)
    logs = logs.with_columns(total_regret=1000 * _col("episode") - _col("raw_return"))
    return 0.5 * (_normalized_regret(logs, episodes, bad=1000) + _good_share(logs, 500))


def _swingup(logs, episodes: int) -> float:
    logs = logs.filter(_col("episode") <= episodes)
    logs = logs.with_columns(total_regret=700 * _col("episode") - _col("total_return"))
    parts = [
        0.5 * (_normalized_regret(part, episodes, bad=700) + _good_share(part, 100))
        for part in logs.partition_by("height_threshold")
    ]
    return float(np.mean(parts))


def _mountain_car(logs, episodes: int) -> float:
    """Regret against 100 steps to the top; 1,000 more is the worst."""
    logs = logs.with_columns(total_regret=-100 * _col("episode") - _col("raw_return"))
    return _normalized_regret(logs, episodes, bad=1000)


def _mnist(logs, episodes: int) -> float:
    """Guessing earns -0.8 an image; accuracy is that of the images between the last logs."""
    logs = logs.sort("bsuite_id", "episode", maintain_order=True)
    earned = 1 - _col("total_regret").diff().over("bsuite_id") / _col("episode").diff().over("bsuite_id")
    late = logs.with_columns(earned=earned).filter(_col("episode") > 0.9 * episodes)["earned"].drop_nulls()
    accuracy = 0.5 * (float(late.mean()) + 1) if len(late) else math.nan
    return 0.5 * (_normalized_regret(logs, episodes, bad=1.8) + accuracy)


def _discounting_chain(logs, episodes: int) -> float:
    return float(np.clip(1 - 10 * (1.1 - _at_end(logs, "total_return", episodes)), 0, 1))


def _by_scale(logs, episodes: int, *, base: Score, column: str) -> float:
    """Good at every scale: half the mean over scales, half the mean less a standard deviation."""
    parts = [base(part, episodes) for part in logs.partition_by(column)]
    mean, low = np.mean(parts), np.mean(parts) - np.std(parts)
    return float(0.5 * (np.clip(mean, 0, 1) + np.clip(low, 0, 1)))


def _share_below(logs, episodes: int, *, column: str, threshold: float) -> float:
    """Share of settings whose regret per episode is below ``threshold``."""
    parts = [_at_end(part, "total_regret", episodes) for part in logs.partition_by(column)]
    return float(np.mean(np.array(parts) < threshold))


def _memory(logs, episodes: int, *, column: str) -> float:
    """Wrong answers, relative to the half that a guess gets wrong."""
    logs = logs.with_columns(total_regret=(_col("episode") - _col("total_perfect")) / 0.5)
    return _share_below(logs, episodes, column=column, threshold=0.75)


def _deep_sea(logs, episodes: int, *, solved_share: float, first_episode: int = 1) -> float:
    """Share of sizes solved within 2^size + 100 episodes.

    With random moves a few good episodes may be luck, so the stochastic experiment counts from episode 100 on.
    """
    logs = logs.filter(_col("episode").is_between(first_episode, episodes))
    if not len(logs):
        return math.nan
    solved = (_col("total_bad_episodes") / _col("episode") < solved_share) & (
        _col("episode") < 2.0 ** _col("size") + FORGIVENESS
    )
    return float(logs.group_by("size").agg(solved=solved.any())["solved"].mean())


_bandit = partial(_normalized_regret, bad=0.5)
_catch = partial(_normalized_regret, bad=1.6)
_BASES: dict[str, Score] = {
    "bandit": _bandit,
    "mnist": _mnist,
    "catch": _catch,
    "mountain_car": _mountain_car,
    "cartpole": _cartpole,
}
_SCORES: dict[str, Score] = {
    **_BASES,
    **{f"{name}_noise": partial(_by_scale, base=base, column="noise_scale") for name, base in _BASES.items()},
    **{f"{name}_scale": partial(_by_scale, base=base, column="reward_scale") for name, base in _BASES.items()},
    "deep_sea": _deep_sea,
    "deep_sea_stochastic": partial(_deep_sea, first_episode=100),
    "cartpole_swingup": _swingup,
    "umbrella_length": partial(_share_below, column="chain_length", threshold=0.5),
    "umbrella_distract": partial(_share_below, column="n_distractor", threshold=0.5),
    "discounting_chain": _discounting_chain,
    "memory_len": partial(_memory, column="memory_length"),
    "memory_size": partial(_memory, column="num_bits"),
}
