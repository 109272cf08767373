"""The uncertainty of the states of Deep Sea through training (Section 5, Figure 5), as numbers.

A state's uncertainty is the sum over actions of the standard deviation of Q over ten
episodes, each clipped at 50: weights of cells that were never visited have no gradient and
follow a random walk, so that their spread grows without bound.
"""

from dataclasses import dataclass

import numpy as np

from langevin_dqn.runs.result import UncertaintyMaps

#: "We have clipped the standard deviation values at 50 for better visualization."
CLIP = 50.0
#: Rows that count as the top of the grid, and as its bottom.
EDGE = 3


@dataclass(frozen=True)
class UncertaintySummary:
    """One seed's uncertainty where the paper reports it; NaN where there is no such cell or map.

    Attributes:
        early_episode: the map that "early" is about.
        early_top: mean over visited cells of the first rows then.
        early_bottom_left: mean over visited cells of the last rows' left half then.
        early_visited: mean over all visited cells then.
        early_unvisited: mean over cells that can be reached and never had been.
        top_to_bottom_left: median over the maps before the run had learned, the first left out, of the ratio of these
            two means. In the first ten episodes Q goes from its random start to the data, everywhere.
        top_before: mean over visited cells of the first rows, over the maps before the run had learned.
        top_after: the same over the last maps after that, at most five.
    """

    early_episode: int
    early_top: float
    early_bottom_left: float
    early_visited: float
    early_unvisited: float
    top_to_bottom_left: float
    top_before: float
    top_after: float


def uncertainty(record: UncertaintyMaps, clip: float = CLIP) -> np.ndarray:
    """Each state's uncertainty, by map: (maps, states)."""
    return np.minimum(record.spread, clip).sum(-1)


def grid(values: np.ndarray, depth: int) -> np.ndarray:
    """States of Deep Sea as rows (time steps) and columns: (..., depth, depth)."""
    return values.reshape(*values.shape[:-1], depth, depth)


def reachable(depth: int) -> np.ndarray:
    """The cells an episode can reach: at most one column further right per step."""
    return np.tri(depth, dtype=bool)


def nearest_map(record: UncertaintyMaps, episode: int) -> int:
    """Index of the map recorded closest to ``episode``."""
    return int(np.argmin(np.abs(record.episodes - episode)))


def learned_map(record: UncertaintyMaps, learning_time: int | None) -> int | None:
    """Index of the first map at or after the learning time; None if there is none."""
    if learning_time is None or not (record.episodes >= learning_time).any():
        return None
    return int(np.argmax(record.episodes >= learning_time))


def summarise(record: UncertaintyMaps, depth: int, learning_time: int | None, early: int = 40) -> UncertaintySummary:
    """The numbers of one run of Deep Sea, from its record alone."""
    maps, visited = grid(uncertainty(record), depth), grid(record.visits, depth) > 0
    rows, columns = np.indices((depth, depth))
    top, bottom_left = rows < EDGE, (rows >= depth - EDGE) & (columns < depth // 2)
    now = nearest_map(record, early)
    has_learned = record.episodes >= (np.inf if learning_time is None else learning_time)
    before = np.flatnonzero(~has_learned)
    ratios = [_mean(maps[i], visited[i] & top) / _mean(maps[i], visited[i] & bottom_left) for i in before[1:]]
    late = has_learned & (np.cumsum(has_learned) > has_learned.sum() - 5)
    return UncertaintySummary(
        early_episode=int(record.episodes[now]),
        early_top=_mean(maps[now], visited[now] & top),
        early_bottom_left=_mean(maps[now], visited[now] & bottom_left),
        early_visited=_mean(maps[now], visited[now]),
        early_unvisited=_mean(maps[now], ~visited[now] & reachable(depth)),
        top_to_bottom_left=float(np.median(ratios)) if ratios else float("nan"),
        top_before=_mean(maps[~has_learned], visited[~has_learned] & top),
        top_after=_mean(maps[late], visited[late] & top),
    )


def _mean(values: np.ndarray, where: np.ndarray) -> float:
    return float(values[where].mean()) if where.any() else float("nan")
