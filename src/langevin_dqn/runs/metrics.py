"""What a run achieved, as pure functions of its per-episode returns."""

import numpy as np

#: "Learned" in the paper: regret below this share of the worst, 0.8 per episode.
LEARNED_SHARE = 0.8

#: Terms of a sum that are added one by one.
_BLOCK = 1024


def regret(returns: np.ndarray, max_return: float) -> np.ndarray:
    """Regret(l) after each episode l: what the best policy would have earned, less what was."""
    return _running_sums(max_return - np.asarray(returns, np.float64))


def total_regret(returns: np.ndarray, max_return: float) -> float:
    """Regret after the last episode, summed in pairs: exact to about 1e-10 after a million episodes."""
    return float(np.sum(max_return - np.asarray(returns, np.float64)))


def _running_sums(values: np.ndarray) -> np.ndarray:
    """Sums of the first 1, 2, … values, in blocks: rounding errors grow with the number of blocks, not of values."""
    if len(values) <= _BLOCK:
        return np.cumsum(values)
    padded = np.zeros(-(-len(values) // _BLOCK) * _BLOCK)
    padded[: len(values)] = values
    within = np.cumsum(padded.reshape(-1, _BLOCK), axis=1)
    within[1:] += np.cumsum(within[:-1, -1])[:, None]
    return within.reshape(-1)[: len(values)]


def learning_time(returns: np.ndarray, max_return: float, share: float = LEARNED_SHARE) -> int | None:
    """The paper's learning time, min{l : Regret(l) < 0.8 l}, or None if that never happened.

    Episodes count from 1, and the condition is checked after each. One success by chance within the
    first four episodes meets the definition at once; ``success_share`` shows whether the agent has learned.
    """
    behind = regret(returns, max_return) < share * np.arange(1, len(returns) + 1)
    return int(np.argmax(behind)) + 1 if behind.any() else None


def first_success(returns: np.ndarray, max_return: float) -> int | None:
    """The first episode (from 1) that earned at least half of a positive best return."""
    if max_return <= 0:
        return None
    reached = np.asarray(returns) >= 0.5 * max_return
    return int(np.argmax(reached)) + 1 if reached.any() else None


def success_share(returns: np.ndarray, max_return: float, last: int = 100) -> float | None:
    """Share of the last episodes that earned at least half of a positive best return."""
    if max_return <= 0:
        return None
    tail = np.asarray(returns)[-last:]
    return float(np.mean(tail >= 0.5 * max_return)) if tail.size else 0.0
