"""What a run achieved, as pure functions of its per-episode returns."""

import numpy as np

#: "Learned" in the paper: regret below this share of the worst, 0.8 per episode.
LEARNED_SHARE = 0.8


def regret(returns: np.ndarray, max_return: float) -> np.ndarray:
    """Regret(l) after each episode l: what the best policy would have earned, less what was."""
    returns = np.asarray(returns, np.float64)
    return np.cumsum(max_return - returns)


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
