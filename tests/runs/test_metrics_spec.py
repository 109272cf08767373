"""Regret, learning time and first success: values worked out by hand, and properties."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langevin_dqn.runs import metrics

BEST = 0.99
WIN, LOSS = 0.99, 0.0


def episodes(*runs):
    """``episodes((4, LOSS), (1, WIN))``: four losses, then a win."""
    return np.concatenate([np.full(count, value) for count, value in runs])


def test_regret_golden():
    np.testing.assert_allclose(metrics.regret(np.array([0.0, 0.99, -0.01]), BEST), [0.99, 0.99, 1.99], atol=1e-12)


def test_regret_may_fall_where_luck_beats_the_expected_best():
    np.testing.assert_allclose(metrics.regret(np.array([2.0, 0.5]), 1.0), [-1.0, -0.5])


def test_regret_of_a_long_run_is_not_rounded_away():
    """100,000 float32 returns, summed to one part in 10⁸."""
    regret = metrics.regret(np.full(100_000, -0.0025, np.float32), BEST)
    assert regret[-1] == pytest.approx(99_000 + 250, rel=1e-8)


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (episodes((1, WIN)), 1),
        # A win within the first four episodes counts at once.
        (episodes((3, LOSS), (1, WIN)), 4),  # regret 2.97 < 3.2
        (episodes((4, LOSS), (1, WIN)), 5),  # 3.96 < 4.0
        # Later it takes two tenths of wins.
        (episodes((5, LOSS), (1, WIN)), None),  # 4.95 >= 4.8
        (episodes((5, LOSS), (2, WIN)), 7),  # 4.95 < 5.6
        (episodes((9, LOSS), (2, WIN)), None),  # 8.91 >= 8.8
        (episodes((9, LOSS), (3, WIN)), 12),  # 8.91 < 9.6
        (episodes((100, LOSS), (23, WIN)), None),  # 99 >= 98.4
        (episodes((100, LOSS), (24, WIN), (500, WIN)), 124),  # 99 < 99.2
        # The cost of moving right counts: 100 × 0.9925 = 99.25 >= 99.2, then < 100.
        (episodes((100, -0.0025), (24, WIN)), None),
        (episodes((100, -0.0025), (25, WIN)), 125),
        # What happens afterwards does not matter.
        (episodes((1, WIN), (1000, LOSS)), 1),
        (episodes((1000, LOSS)), None),
    ],
)
def test_learning_time_golden(returns, expected):
    assert metrics.learning_time(returns, BEST) == expected
    assert metrics.learning_time(returns.astype(np.float32), BEST) == expected


def test_learning_time_is_strict():
    """Regret(1) = 0.8·1 is not less than 0.8·1."""
    assert metrics.learning_time(np.array([0.0]), 0.8) is None
    assert metrics.learning_time(np.array([1e-6]), 0.8) == 1


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (episodes((1, WIN)), 1),
        (episodes((7, LOSS), (1, WIN), (3, LOSS)), 8),
        (episodes((50, -0.01)), None),
        (episodes((2, 0.4), (1, 0.6)), 3),
    ],
)
def test_first_success_golden(returns, expected):
    assert metrics.first_success(returns, BEST) == expected


def test_success_share_golden():
    assert metrics.success_share(episodes((300, WIN), (75, LOSS), (25, WIN)), BEST) == pytest.approx(0.25)
    assert metrics.success_share(episodes((3, LOSS), (1, WIN)), BEST) == pytest.approx(0.25)
    assert metrics.success_share(episodes((2, WIN), (8, LOSS), (2, WIN)), BEST, last=4) == pytest.approx(0.5)


@pytest.mark.parametrize("best", [0.0, -1.0])
def test_without_a_positive_best_return_success_is_not_defined(best):
    """Mountain car costs a point a step: no return is half of a best one that is not positive."""
    assert metrics.first_success(episodes((3, 0.0)), best) is None
    assert metrics.success_share(episodes((3, 0.0)), best) is None


def test_the_share_of_no_episodes_is_zero():
    assert metrics.success_share(np.array([]), BEST) == 0.0


finite = st.floats(-5, 5, allow_nan=False, width=32)
runs = st.lists(finite, min_size=1, max_size=200).map(lambda x: np.array(x, np.float64))
bests = st.floats(0.25, 5, allow_nan=False, width=32)


@settings(max_examples=200, deadline=None)
@given(runs, bests)
def test_regret_is_the_running_sum(returns, best):
    regret = metrics.regret(returns, best)
    assert regret.shape == returns.shape
    np.testing.assert_allclose(np.diff(regret, prepend=0.0), best - returns, atol=1e-9)


@settings(max_examples=200, deadline=None)
@given(runs, bests)
def test_learning_time_is_the_first_crossing(returns, best):
    """Against exact sums: multiples of 2⁻²⁰, so that no order of adding rounds."""
    returns, best = np.round(returns * 2**20) / 2**20, round(best * 2**20) / 2**20
    total, expected = 0.0, None
    for number, value in enumerate(returns, start=1):
        total += best - value
        if abs(total - 0.8 * number) < 1e-9:
            return  # a tie of rounding; strictness has its own test
        if total < 0.8 * number:
            expected = number
            break
    assert metrics.learning_time(returns, best) == expected


@settings(max_examples=100, deadline=None)
@given(runs, runs, bests)
def test_learning_time_ignores_the_future(returns, future, best):
    learned = metrics.learning_time(returns, best)
    if learned is not None:
        assert metrics.learning_time(np.concatenate([returns, future]), best) == learned
        assert metrics.learning_time(returns[: learned - 1], best) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=150))
def test_on_deep_sea_first_success_comes_no_later_than_learning(wins):
    """Without a win regret grows by 0.99 > 0.8 per episode, so nothing is learned before one."""
    returns = np.where(wins, WIN, LOSS)
    learned, first = metrics.learning_time(returns, BEST), metrics.first_success(returns, BEST)
    assert first == (wins.index(True) + 1 if any(wins) else None)
    if learned is not None:
        assert first is not None
        assert first <= learned
    if first is not None and first <= 5:
        assert learned == first


@settings(max_examples=100, deadline=None)
@given(runs, bests)
def test_success_share_is_a_share(returns, best):
    share = metrics.success_share(returns, best)
    assert 0 <= share <= 1
    assert (share > 0) == (metrics.first_success(returns[-100:], best) is not None)


@pytest.mark.parametrize("kind", ["equal", "deep sea", "large"])
def test_a_million_episodes_are_summed_to_a_millionth(kind):
    """Against ``math.fsum``, which rounds once: sums one by one are off by 7e-6, and in float32 by thousands."""
    count, random = 10**6, np.random.default_rng(0)
    returns = {
        "equal": np.full(count, 0.89, np.float32),
        "deep sea": np.where(random.random(count) < 0.19, WIN, -0.001 * random.integers(0, 10, count)),
        "large": random.normal(size=count),
    }[kind].astype(np.float32)
    each = (BEST - returns.astype(np.float64)).tolist()
    exact = [math.fsum(each[:end]) for end in (1024, 1025, count // 2, count)]
    regret = metrics.regret(returns, BEST)
    np.testing.assert_allclose([regret[end - 1] for end in (1024, 1025, count // 2, count)], exact, rtol=0, atol=1e-6)
    assert abs(metrics.total_regret(returns, BEST) - exact[-1]) < 1e-9 * max(1, abs(exact[-1]))


def test_learning_time_after_a_million_episodes():
    """Exactly where fractions say, with the last wins just enough."""
    wins = np.zeros(10**6, bool)
    wins[-191_920:] = True
    returns = np.where(wins, WIN, LOSS).astype(np.float32)
    best, share = Fraction(BEST), Fraction(0.8)
    lost, won = best - Fraction(float(np.float32(LOSS))), best - Fraction(float(np.float32(WIN)))
    losses = len(wins) - int(wins.sum())
    expected = next(k for k in range(1, int(wins.sum())) if losses * lost + k * won < share * (losses + k)) + losses
    assert metrics.learning_time(returns, BEST) == expected
