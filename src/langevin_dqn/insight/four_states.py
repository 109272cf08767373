r"""The four states of Section 5 (Figure 4): how uncertainty about one pair spreads to earlier ones.

The paper says: states 1 to 4, actions up and down, H = 6; $|D_{4,down}| = 1$ and much
data about every other pair; at h = 4 only (3, down) and (4, up), of the pairs with much
data, feel the uncertain $Q^*_5(4, down)$; further left even $Q^*_0(1, up)$
does. It does not say where the actions lead. That follows, if a move changes the state by
at most one:

* (3, down) and (4, up) may enter state 4, and nothing else with much data may: up never
  increases the state, and (4, up) sometimes stays. Moving up without fail is ruled out.
* (1, up) has nowhere to go but 1. From there 4 is three moves down, so (1, up) feels
  (4, down) at h = 1 and h = 0; no map of four states makes h = 0 the first.
* "Plausible transitions" are several to a pair. So here each action moves by one, or stays,
  with probability 1/2 each; up in 1 always stays.

Of (4, down) one transition was seen, to ``next_state``. The paper does not say where to.
Back to 1 is the default; ``docs/notes/four_states.md`` shows what changes if it was 4.

The posterior of $Q^*_h(x, a)$: rewards are $N(\mu_h(x,a), \sigma_w^2)$ with flat
priors, each period with a mean of its own, so
$\mu_h(x,a) \mid D \sim N(\bar r, \sigma_w^2/|D_{x,a}|)$, and transitions are those
observed, as eq. (8) takes them. Two other models can be asked for: one mean reward for all
periods, and a Dirichlet prior on where (4, down) leads. Draws of the rewards (and of that
row) go through the Bellman recursion, so the draws of $Q^*$ are exact and independent.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from langevin_dqn.errors import UserError

STATES, ACTIONS, HORIZON = 4, 2, 6
UP, DOWN = 0, 1
#: The pair with little data, as (row, action).
UNCERTAIN = (3, DOWN)


@dataclass(frozen=True)
class FourStates:
    """What was observed. Rewards of pairs with much data average 0."""

    many: int = 1000
    """Transitions observed of every other pair."""
    few: int = 1
    """Transitions observed of (4, down)."""
    noise_variance: float = 1.0
    """σ_w², the variance of a reward."""
    next_state: int = 1
    """Where (4, down) led, from 1 to 4."""
    reward: float = 0.0
    """What (4, down) paid."""

    def __post_init__(self) -> None:
        if self.next_state not in range(1, STATES + 1):
            raise UserError(f"next_state={self.next_state} is not a state", "use 1, 2, 3 or 4")
        for name in ("many", "few", "noise_variance"):
            if not getattr(self, name) > 0:
                raise UserError(f"{name}={getattr(self, name):g} is out of range", "use a value above 0")

    @property
    def counts(self) -> np.ndarray:
        """|D_{x,a}|: (states, actions)."""
        counts = np.full((STATES, ACTIONS), float(self.many))
        counts[UNCERTAIN] = self.few
        return counts

    @property
    def rewards(self) -> np.ndarray:
        """Mean observed reward: (states, actions)."""
        rewards = np.zeros((STATES, ACTIONS))
        rewards[UNCERTAIN] = self.reward
        return rewards

    @property
    def transitions(self) -> np.ndarray:
        """Observed frequencies of next states: (states, actions, states)."""
        stays = np.eye(STATES)
        table = np.zeros((STATES, ACTIONS, STATES))
        for action, step in ((UP, -1), (DOWN, 1)):
            moves = stays[np.clip(np.arange(STATES) + step, 0, STATES - 1)]
            table[:, action] = (stays + moves) / 2
        table[UNCERTAIN] = stays[self.next_state - 1]
        return table


class Spread(NamedTuple):
    """Mean and variance of Q, cell by cell (horizon, states, actions), and the variance's standard error."""

    mean: np.ndarray
    variance: np.ndarray
    standard_error: np.ndarray


def spread(samples: np.ndarray) -> Spread:
    """The spread of ``samples``, whose first axis is independent and whose second (time in a chain) need not be.

    The standard error is that of a mean over chains of what each chain adds to the
    variance, so dependence within a chain is counted for what it is.
    """
    samples = np.asarray(samples, np.float64)
    mean = samples.mean((0, 1))
    by_chain = ((samples - mean) ** 2).mean(1)
    error = by_chain.std(0, ddof=1) / np.sqrt(len(by_chain))
    return Spread(mean, by_chain.mean(0), error)


def posterior(
    problem: FourStates,
    *,
    draws: int = 200_000,
    seed: int = 0,
    shared_reward: bool = False,
    pseudo_count: float = 0.0,
) -> Spread:
    """The posterior spread of Q*, from independent exact draws.

    Args:
        problem: what was observed.
        draws: how many; the relative standard error of a normal's variance is √(2/draws), 0.3% by default.
        seed: of the draws.
        shared_reward: a pair has one mean reward for all periods, not one each.
        pseudo_count: of each next state of (4, down) in its Dirichlet prior; 0 takes the observed frequencies as known.
    """
    rng = np.random.default_rng(seed)
    scale = np.sqrt(problem.noise_variance / problem.counts)
    seen = problem.few * problem.transitions[UNCERTAIN]
    reward_noise = rng.standard_normal((draws, STATES, ACTIONS))
    values = np.zeros((draws, STATES))
    periods = []
    for h in reversed(range(HORIZON)):
        expected = np.einsum("xay,ny->nxa", problem.transitions, values)
        if pseudo_count > 0:
            leads = rng.dirichlet(seen + pseudo_count, draws)
            expected[:, *UNCERTAIN] = (leads * values).sum(1)
        if h < HORIZON - 1 and not shared_reward:
            reward_noise = rng.standard_normal((draws, STATES, ACTIONS))
        q = problem.rewards + scale * reward_noise + expected
        values = q.max(-1)
        periods.append(spread(q[:, None]))
    return Spread(*(np.stack(parts) for parts in zip(*reversed(periods), strict=True)))
