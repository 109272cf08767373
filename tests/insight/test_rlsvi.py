"""RLSVI's posterior by hand, its draws against it, and that it learns where dithering cannot."""

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.insight import rlsvi
from langevin_dqn.insight.rlsvi import LEFT, RIGHT, Rlsvi
from langevin_dqn.runs import metrics


def test_posterior_by_hand():
    """Prior N(0, 2), three targets of 1.5 with noise 0.5: precision ½ + 6, mean 9/6.5."""
    mean, variance = Rlsvi(2.0, 0.5).posterior(np.array([0, 3]), np.array([1.5, 1.5]))
    np.testing.assert_allclose(variance, [2.0, 1 / 6.5])
    np.testing.assert_allclose(mean, [0.0, 9 / 6.5])


def test_draws_have_the_posteriors_mean_and_variance():
    """Last row of a sea of depth 2, 100,000 draws: means and variances within 5 standard errors. Level 1e-5."""
    draws, model = 100_000, Rlsvi(1.0, 0.25)
    visits = np.zeros((draws, 2, 2, 2))
    visits[:, 1, 1] = 1, 3
    last = model.sample(np.random.default_rng(0), visits)[:, 1]
    wanted = {  # column, action: mean, variance
        (0, LEFT): (0, 1), (0, RIGHT): (0, 1), (1, LEFT): (0, 1 / 5), (1, RIGHT): (12 * (1 - 0.005) / 13, 1 / 13),
    }  # fmt: skip
    for (column, action), (mean, variance) in wanted.items():
        found = last[:, column, action]
        assert abs(found.mean() - mean) < 5 * np.sqrt(variance / draws)
        assert abs(found.var() - variance) < 5 * variance * np.sqrt(2 / draws)


def test_values_are_carried_back():
    """Known cells of a sea of depth 3: 1 - 0.01 at the start on the right path, and 0 on the left."""
    visits = np.full((1, 3, 3, 2), 1e12)
    q = Rlsvi().sample(np.random.default_rng(0), visits)[0]
    np.testing.assert_allclose(q[0, 0], [0.0, 0.99], atol=1e-4)
    np.testing.assert_allclose(q[1, 1], [0.0, 1 - 0.02 / 3], atol=1e-4)
    np.testing.assert_allclose(q[1, 0], [0.0, -0.01 / 3], atol=1e-4)


def test_episodes_equal_the_environments():
    """Random greedy dives: the same returns as deep_sea with every action mapping to 'right is 1'."""
    import jax
    import jax.numpy as jnp

    from langevin_dqn.environments.bsuite.deep_sea import DeepSea

    depth = 3
    env = DeepSea(jnp.ones((depth, depth), jnp.int32), depth, False)
    step = jax.jit(env.step)
    key = jax.random.key(0)
    q = np.random.default_rng(0).normal(size=(12, depth, depth, 2))
    q[0, :, :, RIGHT] = 9
    visits = np.zeros(q.shape)
    totals = rlsvi.greedy_episode(q, visits)
    for one, total in zip(q, totals, strict=True):
        state, ends, earned = env.reset(key)[0], False, 0.0
        while not ends:
            action = one[int(state.row), int(state.column)].argmax()
            state, _, reward, ends, _ = step(key, state, action)
            earned += float(reward)
        assert earned == pytest.approx(total, abs=1e-6)
    assert totals[0] == pytest.approx(0.99)
    np.testing.assert_array_equal(visits.sum((1, 2, 3)), depth)
    assert (visits[0, range(3), range(3), RIGHT] == 1).all()


def test_it_learns_at_every_depth():
    """Depth 14: all of 10 seeds within 250 episodes, where random actions have a chance of 1.5% each."""
    runs = rlsvi.run(14, seeds=10, episodes=250)
    times = [metrics.learning_time(r, 0.99) for r in runs]
    assert None not in times
    assert all(len(r) == t for r, t in zip(runs, times, strict=True))
    assert len(set(times)) > 3


def test_the_same_seed_gives_the_same_returns():
    first, second, other = (rlsvi.run(5, seeds=2, episodes=10, seed=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first[0], second[0])
    assert any(not np.array_equal(a, b) for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("wrong", [{"depth": 1}, {"depth": 4, "seeds": 0}, {"depth": 4, "episodes": 0}])
def test_nothing_to_run_is_an_error(wrong):
    with pytest.raises(UserError, match="must be at least"):
        rlsvi.run(**wrong)


def test_variances_are_positive():
    with pytest.raises(UserError, match="noise_variance"):
        Rlsvi(noise_variance=0.0)
