"""Replay contents shared by the peers: random episodes of a deep sea.

The sea is an N x N grid.  An episode starts in the top-left cell, sinks one row
per step and moves one column left or right; which action means "right" is drawn
per cell.  Going right costs 0.01 / N and pays 1 from the last column.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ACTIONS = 2
MOVE_COST = 0.01


class Transitions(NamedTuple):
    """Equally long columns of one-step transitions."""

    observation: NDArray[Any]  # [count, N * N], one-hot
    action: NDArray[np.int64]
    reward: NDArray[np.float32]
    discount: NDArray[np.float32]  # 0 where the episode ends, 1 elsewhere
    next_observation: NDArray[Any]  # [count, N * N], all zero after the last step


def one_hot(cells: NDArray[np.int64], width: int, dtype: Any) -> NDArray[Any]:
    """Encode cell numbers as rows of `width`; a number past the end gives zeros."""
    rows = np.zeros((len(cells), width), dtype)
    inside = np.flatnonzero(cells < width)
    rows[inside, cells[inside]] = 1
    return rows


def random_transitions(depth: int, count: int, seed: int = 0, dtype: Any = np.float32) -> Transitions:
    """Return `count` transitions of uniformly random episodes in a sea of `depth`."""
    rng = np.random.default_rng(seed)
    right_action = rng.integers(ACTIONS, size=(depth, depth))
    episodes = -(-count // depth)
    column = np.zeros(episodes, np.int64)
    steps = []
    for row in range(depth):
        action = rng.integers(ACTIONS, size=episodes)
        right = action == right_action[row, column]
        treasure = right & (column == depth - 1)
        reward = treasure - right * (MOVE_COST / depth)
        moved = np.clip(column + np.where(right, 1, -1), 0, depth - 1)
        cell, next_cell = row * depth + column, (row + 1) * depth + moved
        discount = np.full(episodes, row + 1 < depth)
        steps.append((cell, action, reward, discount, next_cell))
        column = moved
    cell, action, reward, discount, next_cell = (
        np.stack(values, axis=1).reshape(-1)[:count] for values in zip(*steps, strict=True)
    )
    return Transitions(
        one_hot(cell, depth * depth, dtype),
        action,
        reward.astype(np.float32),
        discount.astype(np.float32),
        one_hot(next_cell, depth * depth, dtype),
    )
