"""The four states: the map the paper's sentences ask for, and the exact posterior against closed forms."""

import math

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.insight.four_states import DOWN, HORIZON, UP, FourStates, posterior, spread

#: Enough data that the other pairs are known.
KNOWN = 10**10
#: Mean and variance of max(0, Z), Z standard normal.
HALF_MEAN = 1 / math.sqrt(2 * math.pi)
HALF_VARIANCE = 0.5 - HALF_MEAN**2


def within(spread_of, cell, expected, errors=4.0):
    """Within four standard errors: level 6e-5 per cell."""
    assert abs(spread_of.variance[cell] - expected) < errors * spread_of.standard_error[cell]


def affected(spread_of, h):
    """Pairs, with states counted from 1, whose value is uncertain at h."""
    states, actions = np.nonzero(spread_of.variance[h] > 1e-6)
    return {(int(x) + 1, int(a)) for x, a in zip(states, actions, strict=True)}


def test_where_actions_lead():
    table = FourStates(next_state=2).transitions
    np.testing.assert_array_equal(table.sum(-1), 1)
    assert {(x + 1, a) for x, a in np.argwhere(table[..., 3] > 0).tolist()} == {(3, DOWN), (4, UP)}
    np.testing.assert_array_equal(table[0, UP], [1, 0, 0, 0])
    np.testing.assert_array_equal(table[1, DOWN], [0, 0.5, 0.5, 0])
    np.testing.assert_array_equal(table[3, DOWN], [0, 1, 0, 0])


def test_uncertainty_reaches_the_pairs_the_paper_names():
    exact = posterior(FourStates(many=KNOWN), draws=2000)
    assert affected(exact, 5) == {(4, DOWN)}
    assert affected(exact, 4) == {(4, DOWN), (3, DOWN), (4, UP)}
    assert (1, UP) not in affected(exact, 2)
    assert len(affected(exact, 1)) == len(affected(exact, 0)) == 8


def test_posterior_against_closed_forms():
    problem = FourStates(many=KNOWN, few=2, noise_variance=3.0)
    exact = posterior(problem)
    within(exact, (5, 3, DOWN), 1.5)
    within(exact, (4, 2, DOWN), 1.5 * HALF_VARIANCE / 4)
    within(exact, (4, 3, UP), 1.5 * HALF_VARIANCE / 4)
    within(exact, (4, 3, DOWN), 1.5)
    np.testing.assert_allclose(exact.mean[4, 2, DOWN], math.sqrt(1.5) * HALF_MEAN / 2, rtol=0.02)


def test_rewards_of_their_own_add_up_and_a_shared_one_multiplies():
    """A pair that leads to itself and is always best: variances m + 1 and (m + 1)², m periods before the last."""
    problem = FourStates(many=KNOWN, next_state=4, reward=50.0)
    own, shared = posterior(problem), posterior(problem, shared_reward=True)
    for h in range(HORIZON):
        within(own, (h, 3, DOWN), HORIZON - h)
        within(shared, (h, 3, DOWN), (HORIZON - h) ** 2)


@pytest.mark.slow
def test_unknown_transitions_widen_the_posterior():
    """To state 4 with probability p ~ Beta(1/4, 7/4): E p² E M² - (E p E M)² more, with M = max(0, Z)."""
    exact = posterior(FourStates(many=KNOWN), pseudo_count=0.25)
    mean, variance = 0.125, 0.125 * 0.875 / 3
    within(exact, (4, 3, DOWN), 1 + (variance + mean**2) * 0.5 - (mean * HALF_MEAN) ** 2)


def test_standard_errors_count_chains_and_not_their_length():
    rng = np.random.default_rng(0)
    draws = rng.normal(0, 2, (20_000, 1, 1))
    once, copied = spread(draws), spread(np.repeat(draws, 10, axis=1))
    np.testing.assert_allclose(once.standard_error, 4 * math.sqrt(2 / 20_000), rtol=0.05)
    np.testing.assert_allclose(copied.standard_error, once.standard_error, rtol=1e-6)
    apart = spread(rng.normal(0, 2, (2_000, 10, 1)))
    np.testing.assert_allclose(apart.standard_error, once.standard_error, rtol=0.1)


@pytest.mark.parametrize("wrong", [{"next_state": 0}, {"next_state": 5}, {"many": 0}, {"noise_variance": -1.0}])
def test_mistakes_are_named(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        FourStates(**wrong)
