r"""Tabular RLSVI in Deep Sea: what an exact posterior sample per episode achieves.

Randomized least-squares value iteration (Osband et al., 2017) is the ideal that Langevin DQN
approaches with gradient steps. Each cell and action has the prior $N(0, s_0^2)$, and a
target $y = r + \max_{a'} \tilde Q(x', a')$ is taken as its value plus $N(0, \sigma_w^2)$.
Before each episode, from the last row of the grid to the first, every cell draws

$$
\tilde Q(x,a) \sim N\!\Big(\frac{n y/\sigma_w^2}{1/s_0^2 + n/\sigma_w^2},\
\frac{1}{1/s_0^2 + n/\sigma_w^2}\Big)
$$

with n the visits so far; Deep Sea is deterministic, so the n targets of a cell are equal. The
episode is greedy for that draw. A row is a period, so a cell has a period of its own.
"""

from dataclasses import dataclass

import numpy as np

from langevin_dqn.errors import UserError
from langevin_dqn.runs import metrics

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class Rlsvi:
    """The two variances of the model."""

    prior_variance: float = 1.0
    """s_0², of a cell's value before any visit."""
    noise_variance: float = 0.01
    """σ_w², of a target."""

    def __post_init__(self) -> None:
        for name in ("prior_variance", "noise_variance"):
            if not getattr(self, name) > 0:
                raise UserError(f"{name}={getattr(self, name):g} is out of range", "use a value above 0")

    def posterior(self, visits: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of a value after ``visits`` equal targets."""
        precision = 1 / self.prior_variance + visits / self.noise_variance
        return visits * target / self.noise_variance / precision, 1 / precision

    def sample(self, rng: np.random.Generator, visits: np.ndarray) -> np.ndarray:
        """A draw of every value: (seeds, rows, columns, 2), by backward induction.

        Args:
            rng: of the draws.
            visits: (seeds, rows, columns, 2), actions as left and right.
        """
        seeds, depth = visits.shape[:2]
        columns = np.arange(depth)
        q = np.empty(visits.shape)
        values = np.zeros((seeds, depth))
        for row in reversed(range(depth)):
            target = np.stack(
                [values[:, np.maximum(columns - 1, 0)], values[:, np.minimum(columns + 1, depth - 1)] - 0.01 / depth],
                axis=-1,
            )
            if row == depth - 1:
                target[:, -1, RIGHT] += 1
            mean, variance = self.posterior(visits[:, row], target)
            q[:, row] = mean + np.sqrt(variance) * rng.standard_normal(mean.shape)
            values = q[:, row].max(-1)
        return q


def greedy_episode(q: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """One greedy episode per seed: its return. Counts the visits in place."""
    seeds, depth = q.shape[:2]
    every = np.arange(seeds)
    column, total = np.zeros(seeds, int), np.zeros(seeds)
    for row in range(depth):
        action = q[every, row, column].argmax(-1)
        visits[every, row, column, action] += 1
        total -= (action == RIGHT) * 0.01 / depth
        if row == depth - 1:
            total += (action == RIGHT) & (column == depth - 1)
        column = np.clip(column + 2 * action - 1, 0, depth - 1)
    return total


def run(
    depth: int, *, seeds: int = 20, episodes: int = 5000, model: Rlsvi | None = None, seed: int = 0
) -> list[np.ndarray]:
    """Returns of each seed, up to the episode in which it had learned.

    RLSVI treats both actions of a cell alike, so which of them means right does not matter,
    and the action mapping is left out.
    """
    for name, value, least in (("depth", depth, 2), ("seeds", seeds, 1), ("episodes", episodes, 1)):
        if value < least:
            raise UserError(f"{name} must be at least {least}, not {value}", f"use {name}={least} or more")
    model = model or Rlsvi()
    rng = np.random.default_rng((seed, depth))
    visits = np.zeros((seeds, depth, depth, 2))
    returns: list[list[float]] = [[] for _ in range(seeds)]
    running = np.arange(seeds)
    for episode in range(1, episodes + 1):
        now = visits[running]
        for index, total in zip(running, greedy_episode(model.sample(rng, now), now), strict=True):
            returns[index].append(total)
        visits[running] = now
        regret = np.array([0.99 * episode - sum(returns[index]) for index in running])
        running = running[regret >= metrics.LEARNED_SHARE * episode]
        if not running.size:
            break
    return [np.array(one) for one in returns]
