r"""Langevin DQN itself on bandits, set up so that its chain samples the posterior (Section 4.1).

With the loss $\tfrac12(Q_\theta(a) - r)^2$, a prior $\psi(\theta) = \lambda\|\theta\|^2$
and $\sigma_w^2$ equal to the variance of the rewards' noise, the chain of eq. (5) has the
stationary density $\exp(-\sum(Q_\theta(a) - r)^2 / (2\sigma_w^2) - \lambda\|\theta\|^2)$:
the posterior under a prior $N(0, 1/(2\lambda))$ of each parameter. The loss printed in
Section 4.1 has no ½, and would halve the variance.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from langevin_dqn.environments.bandits.gaussian_bandit import GaussianBandit
from langevin_dqn.environments.registry import make_env
from langevin_dqn.errors import UserError
from langevin_dqn.runs.runners import Job, run_jobs

#: Learning rate times the largest curvature there can be: the chain's variance is then at most a third too large.
_STEP = 0.5


def posterior_settings(bandit: GaussianBandit, updates_per_step: int = 50) -> dict[str, Any]:
    """Fields of Langevin DQN that make it sample the posterior of a bandit.

    Without features there are two parameters per arm, a table's entry and a bias. Only their sum
    counts, so each has half the prior's variance and the loss curves twice as much.
    """
    if not isinstance(bandit, GaussianBandit) or not bandit.reward_noise > 0:
        raise UserError(
            "the posterior is not known in closed form",
            "use bandit:arms=10 or linear_bandit, with reward_noise above 0",
        )
    shared = 2 if bandit.features is None else 1
    longest = float(np.square(bandit.design).sum(axis=1).max())
    return {
        "hidden": (),
        "optimizer": "sgd",
        "loss_scale": 0.5,
        "noise_variance": bandit.reward_noise**2,
        "regularizer": shared / (2 * bandit.weight_std**2),
        "learning_rate": _STEP / (shared * longest),
        "updates_per_step": updates_per_step,
    }


def agent_regrets(
    agent: str, env_ids: Sequence[str], episodes: int, changes: Sequence[dict[str, Any]], workers: int | None = None
) -> np.ndarray:
    """The regret of each pull of an agent, one run per environment: (runs, episodes).

    Args:
        agent: a preset's name.
        env_ids: the bandits; run i has seed i.
        episodes: pulls per run.
        changes: the fields to change, for each run.
        workers: runs at a time; the number of cores by default.
    """
    jobs = [
        Job(agent, e, i, episodes, "paper", changes=c) for i, (e, c) in enumerate(zip(env_ids, changes, strict=True))
    ]
    results = dict(run_jobs(jobs, workers=workers))
    for result in results.values():
        if result.diverged:
            raise RuntimeError(f"seed {result.seed} of {result.env}: {result.diverged}")
    return np.stack([results[i].measures["regret"] for i in range(len(jobs))])


def seeds_of(family: str, seeds: int) -> list[str]:
    """Ids of a family of bandits that differ in ``mean_seed`` alone, one per seed."""
    if seeds < 1:
        raise UserError(f"seeds must be at least 1, not {seeds}", "for example, 20")
    ids = [f"{family}{',' if ':' in family else ':'}mean_seed={seed}" for seed in range(seeds)]
    make_env(ids[0])  # a wrong id is an error before anything starts
    return ids


def ratio_interval(ours: np.ndarray, theirs: np.ndarray, level: float = 0.95, draws: int = 10_000) -> tuple[float, ...]:
    """Ratio of mean regrets over the same bandits, and its bootstrap interval: (ratio, low, high).

    Bandits are drawn again, and both agents' regrets with them: they share what makes a bandit hard.
    """
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    again = np.random.default_rng(0).integers(0, len(ours), (draws, len(ours)))
    ratios = ours[again].mean(axis=1) / theirs[again].mean(axis=1)
    low, high = np.quantile(ratios, ((1 - level) / 2, (1 + level) / 2))
    return float(ours.mean() / theirs.mean()), float(low), float(high)
