"""Eq. (8) against its stationary law, and against the posterior it is meant to follow.

Statistical tests use fixed keys; each docstring gives its level, the chance that a correct
sampler would fail under a fresh key.
"""

import jax
import numpy as np
import pytest

from langevin_dqn import UserError, prng
from langevin_dqn.insight import tabular_langevin
from langevin_dqn.insight.four_states import DOWN, HORIZON, UNCERTAIN, UP, FourStates, posterior, spread

PROBLEM = FourStates(many=1000)
#: The same with much data about every pair: what is left is noise.
CONTROL = FourStates(many=1000, few=1000)
STEP = 5e-4


def key(seed=0):
    return jax.random.key(seed, impl=prng.PRNG)


#: Op by op, the noise alone would take seconds to compile.
update = jax.jit(tabular_langevin.update, static_argnames="problem")


class AlwaysDown(FourStates):
    """Up costs so much that down is always best, and the update linear."""

    @property
    def rewards(self):
        return super().rewards + np.array([-30.0, 0.0])


@pytest.fixture(scope="module")
def sampled():
    found = tabular_langevin.sample(key(), PROBLEM, epsilon=STEP, chains=128, burn_in=10, length=20)
    control = tabular_langevin.sample(key(1), CONTROL, epsilon=STEP, chains=512, burn_in=40, length=20)
    return spread(found), spread(control)


@pytest.fixture(scope="module")
def exact():
    return posterior(PROBLEM, draws=50_000), posterior(CONTROL, draws=50_000)


def test_one_update_by_hand():
    """State 3 at h = 4, down: half of max(5, 1) at 3 and half of max(2, 7) at 4, one step of 0.01·100/2."""
    problem = FourStates(many=100, noise_variance=2.0)
    q = np.zeros((HORIZON, 4, 2, 1), np.float32)
    q[5, 2, :, 0], q[5, 3, :, 0], q[4, 2, DOWN, 0] = (5, 1), (2, 7), 4
    z = jax.jit(prng.normal, static_argnums=1)(key(), q.shape)
    step = (update(key(), q, problem, 0.01) - 0.02**0.5 * z)[..., 0]
    assert step[4, 2, DOWN] == pytest.approx(4 - 0.5 * (4 - 6), abs=1e-5)
    assert step[5, 2, UP] == pytest.approx(5 - 0.5 * 5, abs=1e-5)
    assert step[5, 3, DOWN] == pytest.approx(7 - 0.005 * 7, abs=1e-5)


def test_noise_has_variance_two_epsilon():
    """20,000 × 48 normals from rest: within 1%, 7 standard errors. Level 1e-11."""
    q = np.zeros((HORIZON, 4, 2, 20_000), np.float32)
    assert np.var(update(key(1), q, PROBLEM, 0.0003)) == pytest.approx(0.0006, rel=0.01)


@pytest.mark.parametrize("pull", [0.2, 1.2])
def test_stationary_variance_at_finite_steps(pull):
    """All pairs at h = 5 have targets at rest. Within 4.5 standard errors, 8 cells. Level 6e-5."""
    problem = FourStates(many=20, few=5, noise_variance=2.0, reward=1.0)
    epsilon = pull * 2.0 / 20
    found = spread(tabular_langevin.sample(key(2), problem, epsilon=epsilon, chains=1000, burn_in=15, length=10))
    for pair in np.ndindex(4, 2):
        wanted = tabular_langevin.stationary_variance(problem.counts[pair], 2.0, epsilon)
        assert abs(found.variance[5][pair] - wanted) < 4.5 * found.standard_error[5][pair]
        assert abs(found.mean[5][pair] - problem.rewards[pair]) < 0.05
    assert found.variance[5, 0, UP] > 1.05 * 2.0 / 20  # above its limit for small steps


def test_stationary_variance_tends_to_the_posteriors():
    assert tabular_langevin.stationary_variance(4, 2.0, 1e-9) == pytest.approx(0.5)


def test_linear_regime_in_every_cell():
    """Σ = AΣAᵀ + 2εI. 48 cells within 5 standard errors. Level 3e-5."""
    problem = AlwaysDown(many=20, next_state=4, reward=30.0)
    epsilon = 0.01
    found = spread(tabular_langevin.sample(key(3), problem, epsilon=epsilon, chains=500, burn_in=25, length=20))
    best = np.full((HORIZON, 4), DOWN)
    wanted = np.diag(tabular_langevin.linear_covariance(problem, epsilon, best)).reshape(HORIZON, 4, 2)
    assert (np.abs(found.variance - wanted) < 5 * found.standard_error).all()
    assert (found.standard_error < 0.05 * wanted).all()


def test_a_pair_that_follows_itself_lags():
    """1, 1.5, 1.875, ... where the posterior has 1, 2, 3, ...: the closed form and the Lyapunov equation agree."""
    problem = AlwaysDown(many=1000, next_state=4)
    sigma = tabular_langevin.linear_covariance(problem, 1e-6, np.full((HORIZON, 4), DOWN))
    variance = np.diag(sigma).reshape(HORIZON, 4, 2)
    for h in range(HORIZON):
        assert variance[h][UNCERTAIN] == pytest.approx(tabular_langevin.cascade_variance(5 - h), rel=1e-4)
    assert [tabular_langevin.cascade_variance(m) for m in range(3)] == [1, 1.5, 1.875]


@pytest.mark.slow
def test_the_uncertain_pair_has_the_posteriors_variance(sampled, exact):
    """Within 20% at every h; the standard error is about 3%. Level 1e-9 for a ratio of 1."""
    (found, _), (wanted, _) = sampled, exact
    ratio = found.variance[:, 3, DOWN] / wanted.variance[:, 3, DOWN]
    assert (np.abs(ratio - 1) < 0.2).all(), ratio
    assert (found.standard_error[:, 3, DOWN] < 0.04).all()


@pytest.mark.parametrize("which", [pytest.param("sampled", marks=pytest.mark.slow), "exact"])
def test_variances_are_ordered_as_the_paper_argues(which, request):
    """Every difference is at least 4 standard errors. Level 1e-4 per comparison."""
    found, control = request.getfixturevalue(which)
    low, high = found.variance - 4 * found.standard_error, found.variance + 4 * found.standard_error
    for h in range(HORIZON):
        assert low[h][UNCERTAIN] > 3 * high[h].ravel()[:7].max()
    assert high[5].ravel()[:7].max() < 1.6 / PROBLEM.many  # at a finite step, 4/3 of the limit
    slightly = ((2, DOWN), (3, UP))
    rest = max(high[4][pair] for pair in np.ndindex(4, 2) if pair not in (*slightly, UNCERTAIN))
    for pair in slightly:
        assert 10 * rest < low[4][pair] < high[4][pair] < low[4][UNCERTAIN] / 5
    for h in range(HORIZON - 1):  # the closer to the uncertain pair, the more uncertain
        assert (low[h][1:, DOWN] - high[h][:-1, DOWN] > -1e-3).all()
    for pair in np.ndindex(4, 2):
        assert low[0][pair] > 2 * (control.variance + 4 * control.standard_error)[0][pair], pair


def test_steps_that_do_not_settle_are_refused():
    with pytest.raises(UserError, match="epsilon"):
        tabular_langevin.sample(key(), PROBLEM, epsilon=0.003)
    with pytest.raises(UserError, match=r"below 0\.002"):
        tabular_langevin.linear_covariance(PROBLEM, 0.002, np.zeros((HORIZON, 4), int))
