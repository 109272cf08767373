"""Scores of agents over experiments, and their averages by tag, as bsuite's summary has them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from langevin_dqn.analysis.bsuite_scores import SOLVED_SHARE, is_finished, score
from langevin_dqn.environments.bsuite.sweeps import SWEEPS

if TYPE_CHECKING:
    import polars as pl

_BASICS = ("bandit", "mnist", "catch", "mountain_car", "cartpole")

#: Experiments in the order of bsuite's bar plot, by the first of their tags.
BY_TYPE: dict[str, tuple[str, ...]] = {
    "basic": _BASICS,
    "noise": tuple(f"{name}_noise" for name in _BASICS),
    "scale": tuple(f"{name}_scale" for name in _BASICS),
    "exploration": ("deep_sea", "deep_sea_stochastic", "cartpole_swingup"),
    "credit_assignment": ("umbrella_length", "umbrella_distract", "discounting_chain"),
    "memory": ("memory_len", "memory_size"),
}

#: What experiments test, in the order of bsuite's radar.
TAGS = tuple(sorted({tag for experiment in SWEEPS.values() for tag in experiment.tags}))


def score_agents(
    logs: "pl.DataFrame",
    *,
    episodes: Mapping[str, int] | None = None,
    solved_share: float = SOLVED_SHARE,
) -> "pl.DataFrame":
    """A row per agent, seed and experiment: its score, and whether all its runs were finished.

    Args:
        logs: as ``logs_of`` makes them, with the columns
            ``agent`` and ``seed`` added.
        episodes: how many episodes make a finished run, where that is not bsuite's number.
        solved_share: see ``score``.
    """
    import polars as pl

    rows = []
    for (agent, seed, name), part in logs.partition_by(
        "agent", "seed", "bsuite_env", as_dict=True, maintain_order=True
    ).items():
        planned = (episodes or {}).get(str(name))
        rows.append(
            {
                "agent": agent,
                "seed": seed,
                "experiment": name,
                "score": score(str(name), part, episodes=planned, solved_share=solved_share),
                "finished": is_finished(str(name), part, planned),
                "settings": part["bsuite_id"].n_unique(),
            }
        )
    return pl.DataFrame(rows)


def score_tags(scores: "pl.DataFrame") -> "pl.DataFrame":
    """The mean over the experiments that have a tag: a row per agent, seed and tag.

    Experiments without a score are left out of the mean, as bsuite does.
    """
    import polars as pl

    tags = pl.DataFrame(
        [{"experiment": name, "tag": tag} for name, experiment in SWEEPS.items() for tag in experiment.tags]
    )
    known = scores.filter(pl.col("score").is_not_nan()).join(tags, on="experiment")
    return known.group_by("agent", "seed", "tag", maintain_order=True).agg(pl.col("score").mean())
