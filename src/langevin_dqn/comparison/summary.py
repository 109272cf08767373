"""A table of runs summarised: each agent in each environment, and over all environments."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from langevin_dqn.comparison.intervals import LEVEL, RESAMPLES, interquartile_mean, interval
from langevin_dqn.errors import UserError, unknown

if TYPE_CHECKING:
    import polars as pl

#: Columns of a table of runs that can be compared, and what they are.
SCORES = {
    "final_return": "mean return of the last tenth of a run's episodes (at least 10)",
    "mean_return": "mean return of all of a run's episodes",
}

#: The name of the rows over all environments.
ALL = "all"


def summarise(
    runs: "pl.DataFrame",
    *,
    score: str = "final_return",
    reference: Mapping[str, tuple[float, float]] | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> "pl.DataFrame":
    """The interquartile mean of every agent's score in every environment, with a bootstrap interval over seeds.

    Rows whose ``env`` is ``all`` are over all environments, on normalised scores: 0 is the lowest and 1 the highest
    score of any run of the table in that environment, so they depend on what is compared; ``reference`` sets
    other bounds. There are no such rows for one environment, nor for an agent that lacks runs in one. An
    environment in which all runs have the same score is left out of them.

    Args:
        runs: what ``langevin_dqn.sweep`` returned.
        score: ``final_return`` or ``mean_return``.
        reference: by environment, the scores that count as 0 and 1.
        level: the probability that intervals are made for.
        resamples: bootstrap samples per interval.

    Returns:
        A polars table with ``env``, ``agent``, ``seeds`` (runs with a score), ``iqm``, ``low`` and ``high`` (None with
        fewer than three seeds), ``normalised`` (the interquartile mean of normalised scores), ``learned`` (seeds that
        have; None where the environment does not define it), ``diverged``, ``without_score`` (no episode ended, or the
        run failed), and ``score``, ``level`` and ``resamples``.
    """
    import polars as pl

    if score not in SCORES:
        raise unknown("score", score, SCORES)
    if not 0 < level < 1:
        raise UserError(f"level={level:g} is out of range", "level must be above 0 and below 1, as in 0.95")
    envs, agents = (runs[column].unique(maintain_order=True).to_list() for column in ("env", "agent"))
    bounds = _bounds(runs, envs, score, reference or {})
    telling = [env for env in envs if bounds[env][1] > bounds[env][0]]
    rows = [_row(runs, env, agent, score, bounds[env], (level, resamples)) for env in envs for agent in agents]
    if len(envs) > 1:
        rows += [_overall(runs, telling, agent, score, bounds, (level, resamples)) for agent in agents]
    counts, numbers = ("seeds", "learned", "diverged", "without_score"), ("iqm", "low", "high", "normalised")
    schema = dict.fromkeys(counts, pl.Int64) | dict.fromkeys(numbers, pl.Float64)
    found = [row | {"score": score, "level": level, "resamples": resamples} for row in rows if row is not None]
    return pl.DataFrame(found, schema_overrides=schema)


def _bounds(
    runs: "pl.DataFrame", envs: list[str], score: str, reference: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """By environment, the scores that count as 0 and 1."""
    for env, (low, high) in reference.items():
        if env not in envs:
            raise unknown("environment of the reference", env, envs)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise UserError(
                f"the reference of {env}, {low:g} to {high:g}, is not a range", "give the lower score first"
            )
    found = {}
    for env in envs:
        scores = _scores(runs.filter(env=env), score)
        found[env] = reference.get(env) or ((scores.min(), scores.max()) if len(scores) else (0.0, 0.0))
    return found


def _scores(runs: "pl.DataFrame", score: str) -> np.ndarray:
    return runs[score].drop_nulls().to_numpy().astype(np.float64)


def _normalised(scores: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    low, high = bounds
    return (scores - low) / (high - low)


def _ends(strata: list[np.ndarray], how: tuple[float, int]) -> dict[str, float | None]:
    found = interval(strata, level=how[0], resamples=how[1])
    low, high = (None, None) if found is None else map(float, found)
    return {"low": low, "high": high}


def _row(
    runs: "pl.DataFrame", env: str, agent: str, score: str, bounds: tuple[float, float], how: tuple[float, int]
) -> dict[str, Any] | None:
    """An agent in an environment."""
    own = runs.filter(env=env, agent=agent)
    scores = _scores(own, score)
    if not own.height:
        return None
    some = len(scores) > 0
    tells = some and bounds[1] > bounds[0]
    return {
        "env": env,
        "agent": agent,
        "seeds": len(scores),
        "iqm": float(interquartile_mean(scores)) if some else None,
        **_ends([scores], how),
        "normalised": float(interquartile_mean(_normalised(scores, bounds))) if tells else None,
        **_counts(own, len(scores)),
    }


def _counts(own: "pl.DataFrame", scored: int) -> dict[str, int | None]:
    learned = own["learned"].drop_nulls()
    return {
        "learned": int(learned.sum()) if len(learned) else None,
        "diverged": own["diverged"].count(),
        "without_score": own.height - scored,
    }


def _overall(
    runs: "pl.DataFrame",
    envs: list[str],
    agent: str,
    score: str,
    bounds: dict[str, tuple[float, float]],
    how: tuple[float, int],
) -> dict[str, Any] | None:
    """An agent over all environments that tell agents apart; None if it lacks runs in one of them."""
    own = runs.filter(agent=agent)
    strata = [_normalised(_scores(own.filter(env=env), score), bounds[env]) for env in envs]
    if not strata or not all(len(values) for values in strata):
        return None
    middle = float(interquartile_mean(np.concatenate(strata)))
    scored = sum(map(len, strata))
    counts = _counts(own, len(_scores(own, score)))
    return {
        "env": ALL,
        "agent": agent,
        "seeds": scored,
        "iqm": middle,
        **_ends(strata, how),
        "normalised": middle,
        **counts,
    }
