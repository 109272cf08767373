"""The lazy table against the dense recursion of alg4, in float64, over random interleavings.

Gradients here do not depend on the parameters, so every value ever read is Gaussian with a
mean and covariance that the dense recursion gives exactly.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from langevin_dqn import prng
from langevin_dqn.optimizers import lazy_rows
from langevin_dqn.optimizers.distinct import sum_by_slot

ROWS, WIDTH, BATCH, PERIOD = 12, 3, 4, 4
ALPHA, B1, B2, EPS, VARIANCE = 1e-3, 0.9, 0.999, 1e-6, 1e-4


def schedule(seed: int, updates: int):
    """Which rows each update reads, with what gradients, and |D|; rare rows sleep for hundreds of updates."""
    rng = np.random.default_rng(seed)
    weights = 2.0 ** -np.arange(ROWS)
    weights[-1] = 0  # one row is never read and never has a gradient
    weights /= weights.sum()
    index = rng.choice(ROWS, (updates, BATCH), p=weights)
    next_index = rng.choice(ROWS, (updates, BATCH), p=weights)
    scale = 10.0 ** rng.uniform(-7, 0, (updates, 1, 1))  # from far below epsilon to far above
    gradient = rng.normal(size=(updates, BATCH, WIDTH)) * scale
    num_data = 10 + np.arange(updates) // 7 * 3.0  # grows in jumps, as between episodes
    return index, next_index, gradient, num_data


def dense(theta, index, gradient, num_data, debiased: bool):
    """Means of θ, and the variance of its noise so far, after every update of alg4."""
    m, v = np.zeros_like(theta), np.zeros_like(theta)
    spread = np.zeros_like(theta)
    means, spreads = [theta.copy()], [spread.copy()]
    for k, (rows, g, size) in enumerate(zip(index, gradient, num_data, strict=True), start=1):
        total = np.zeros_like(theta)
        np.add.at(total, rows, g)
        m = B1 * m + (1 - B1) * total
        v = B2 * v + (1 - B2) * total**2
        alpha_k = ALPHA * np.sqrt(1 - B2**k) / (1 - B1**k)
        eps = EPS * np.sqrt(1 - B2**k) if debiased else EPS
        theta = theta - alpha_k * m / (np.sqrt(v) + eps)
        spread = spread + 2 * alpha_k * VARIANCE / (size * (np.sqrt(v) + EPS))
        means.append(theta.copy())
        spreads.append(spread.copy())
    return np.array(means), np.array(spreads)


def lazy(key, theta, index, next_index, gradient, num_data, *, noisy: bool, debiased: bool):
    """What the sleeping table shows: online and target values at every read, and the final flush."""
    constants = lazy_rows.Constants(*map(jnp.float32, (ALPHA, B1, B2, EPS)), debiased, noisy)
    table, clock = lazy_rows.init(theta, theta)

    def at(table, rows):
        return table.rows.take(rows), table.target[rows]

    def advance(key, rows, index, until):
        return lazy_rows.advance(constants, clock, rows, until, lazy_rows.draw(constants, key, index, WIDTH))

    def update(carry, inputs):
        nonlocal clock
        table, clock = carry
        k, rows, next_rows, g, size = inputs
        sync_key, now_key, flush_key = jax.random.split(jax.random.fold_in(key, k), 3)
        clock = lazy_rows.add_noise(constants, clock, jnp.float32(VARIANCE), size, 2)  # one more than is made
        read = jnp.concatenate([next_rows, rows])
        stale, noted = at(table, read)
        synced = advance(sync_key, stale, read, clock.sync)
        target = lazy_rows.target_of(clock, synced, noted)
        table = lazy_rows.Table(table.rows.put(read, synced), table.target.at[read].set(target))
        awake = advance(now_key, table.rows.take(rows), rows, clock.now)
        summed, _ = sum_by_slot(rows, g, jnp.zeros(ROWS, jnp.int32))
        learned = lazy_rows.add_gradient(constants, clock, awake, summed)
        table = table._replace(rows=table.rows.put(rows, learned))
        clock = lazy_rows.count_update(clock)
        clock = clock._replace(sync=jnp.where(k % PERIOD == 0, clock.now, clock.sync))
        table, clock = lax.cond(
            lazy_rows.updates_until_flush(clock) <= 0,
            lambda: lazy_rows.flush(constants, clock, flush_key, table),
            lambda: (table, clock),
        )
        return (table, clock), (awake.value, target[:BATCH])

    updates = len(index)
    inputs = (
        jnp.arange(1, updates + 1),
        jnp.asarray(index),
        jnp.asarray(next_index),
        jnp.asarray(gradient, jnp.float32),
        jnp.asarray(num_data, jnp.float32),
    )
    (table, clock), (online, target) = lax.scan(update, (table, clock), inputs)
    final, _ = lazy_rows.flush(constants, clock, jax.random.fold_in(key, 0), table)
    return online, target, final.rows.value, final.target


def expected(means, spreads, index, next_index):
    """The dense values at the times and rows that the lazy table was read at."""
    updates = len(index)
    before = np.arange(updates)  # update k reads what k - 1 left
    copied = before // PERIOD * PERIOD
    return (
        (means[before[:, None], index], spreads[before[:, None], index]),
        (means[copied[:, None], next_index], spreads[copied[:, None], next_index]),
    )


@pytest.mark.parametrize("debiased", [False, True])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))])
def test_without_noise_equals_the_dense_step(seed, debiased):
    updates = 3000  # past the warm-up, over several flushes
    index, next_index, gradient, num_data = schedule(seed, updates)
    theta = np.random.default_rng(seed).normal(size=(ROWS, WIDTH))
    means, spreads = dense(theta, index, gradient, num_data, debiased)
    online, target, final, final_target = jax.jit(lazy, static_argnames=("noisy", "debiased"))(
        jax.random.key(seed), jnp.asarray(theta, jnp.float32), index, next_index, gradient, num_data,
        noisy=False, debiased=debiased,
    )  # fmt: skip
    (mean_online, _), (mean_target, _) = expected(means, spreads, index, next_index)
    np.testing.assert_allclose(online, mean_online, atol=1e-5)
    np.testing.assert_allclose(target, mean_target, atol=1e-5)
    np.testing.assert_allclose(final, means[-1], atol=1e-5)
    np.testing.assert_allclose(final_target, means[updates // PERIOD * PERIOD], atol=1e-5)


CHAINS = 4000


@pytest.fixture(scope="module", params=[pytest.param(seed, marks=pytest.mark.slow) for seed in (0, 1)])
def chains(request):
    """Many independent lazy chains over one interleaving, and the exact mean and variance of each read."""
    updates = 1500
    index, next_index, gradient, num_data = schedule(request.param + 10, updates)
    theta = np.zeros((ROWS, WIDTH))
    means, spreads = dense(theta, index, gradient, num_data, False)
    keys = jax.random.split(jax.random.key(request.param, impl=prng.PRNG), CHAINS)
    late = slice(-300, None)  # long after the warm-up, with sleeps of hundreds of updates

    def run(key):
        online, target, final, final_target = lazy(
            key, jnp.asarray(theta, jnp.float32), index, next_index, gradient, num_data, noisy=True, debiased=False
        )
        return online[late], target[late], final, final_target

    online, target, final, final_target = jax.jit(lambda ks: lax.map(run, ks, batch_size=500))(keys)
    (mo, so), (mt, st) = expected(means, spreads, index, next_index)
    copied = updates // PERIOD * PERIOD
    exact = ((mo[late], so[late]), (mt[late], st[late]), (means[-1], spreads[-1]), (means[copied], spreads[copied]))
    return [np.asarray(x, np.float64) for x in (online, target, final, final_target)], exact, (index, next_index)


def test_every_read_has_the_dense_mean_and_variance(chains):
    """z-tests of each read's mean and variance; level 1e-6 over all of them (Bonferroni)."""
    samples, exact, _ = chains
    for sample, (mean, variance) in zip(samples, exact, strict=True):
        some = variance > 0
        z_mean = (sample.mean(0) - mean)[some] / np.sqrt(variance[some] / CHAINS)
        z_variance = (sample.var(0)[some] / variance[some] - 1) / np.sqrt(2 / CHAINS)
        # 300 * 4 * 3 reads at most, two tests each: 5.2 + room for the chi-square's skew
        assert np.abs(z_mean).max() < 6.2
        assert np.abs(z_variance).max() < 6.2


def test_reads_of_one_row_at_two_times_have_the_dense_covariance(chains):
    """Cov(θ_a, θ_b) = Var(θ_a) for a < b, online against target included; level 1e-6."""
    (online, target, final, _), ((_, so), (_, st), (_, _), _), (index, next_index) = chains
    late_index, late_next = index[-300:], next_index[-300:]
    checked = 0
    for values, rows, spread in ((online, late_index, so), (target, late_next, st)):
        for update in range(0, 300, 17):
            for place in range(BATCH):
                row = rows[update, place]
                early = values[:, update, place] - values[:, update, place].mean(0)
                last = final[:, row] - final[:, row].mean(0)
                variance, variance_last = spread[update, place], last.var(0)
                covariance = (early * last).mean(0)
                error = np.sqrt((variance * variance_last + variance**2) / CHAINS)
                assert np.all(np.abs(covariance - variance) < 6 * error)
                checked += 1
    assert checked > 100


def test_different_rows_and_columns_are_uncorrelated(chains):
    """Pearson correlations of the final values; level 1e-6 over all pairs."""
    (_, _, final, _), _, _ = chains
    flat = final.reshape(CHAINS, -1)
    correlation = np.corrcoef(flat.T) - np.eye(flat.shape[1])
    assert np.abs(correlation).max() * np.sqrt(CHAINS) < 6


def test_the_summed_variance_is_the_dense_sum():
    """A draw of exactly 1 shows the standard deviation itself: no sampling error, within 0.1% for any sleep.

    The data set doubles during the longest sleep.
    """
    constants = lazy_rows.Constants(*map(jnp.float32, (ALPHA, B1, B2, EPS)), False, True)
    epoch, longest = 2000, lazy_rows.MAX_INTERVAL
    _, clock = lazy_rows.init(jnp.zeros((1, 1)), jnp.zeros((1, 1)))
    clock = clock._replace(epoch=jnp.int32(epoch))
    k = np.arange(epoch + 1, epoch + longest + 1)
    size = 1e4 * (1 + np.arange(longest) / longest)
    c = 2 * ALPHA * np.sqrt(1 - B2**k) / (1 - B1**k) * VARIANCE / size
    count_update = jax.jit(
        lambda clock, n: lazy_rows.count_update(lazy_rows.add_noise(constants, clock, jnp.float32(VARIANCE), n, 1))
    )
    for n in size:
        clock = count_update(clock, jnp.float32(n))
    for root in (0.0, 1e-8, 1e-6, 1e-3, 1.0):
        for sleep in (1, 2, 3, 10, 100, longest):
            for behind in (0, 50):  # updates between the last gradient and falling asleep
                start = longest - sleep
                first = start + 1
                rows = lazy_rows.Rows(
                    jnp.full(1, float(start)), jnp.zeros((1, 1)), jnp.full(1, float(first - behind)),
                    jnp.zeros((1, 1)), jnp.full((1, 1), root),
                )  # fmt: skip
                woken = lazy_rows.advance(constants, clock, rows, clock.now, jnp.ones((1, 1)))
                elapsed = np.arange(sleep) + behind
                exact = np.sum(c[start:] / (B2 ** (elapsed / 2) * root + EPS))
                assert float(woken.value[0, 0]) ** 2 == pytest.approx(exact, rel=1e-3), (root, sleep, behind)


def test_a_row_read_twice_in_one_batch_is_drawn_once():
    constants = lazy_rows.Constants(*map(jnp.float32, (ALPHA, B1, B2, EPS)), False, True)
    z = lazy_rows.draw(constants, jax.random.key(0), jnp.array([3, 5, 3]), WIDTH)
    assert jnp.array_equal(z[0], z[2])
    assert not jnp.array_equal(z[0], z[1])


def test_without_noise_nothing_is_drawn():
    constants = lazy_rows.Constants(*map(jnp.float32, (ALPHA, B1, B2, EPS)), False, False)
    assert lazy_rows.draw(constants, jax.random.key(0), jnp.array([3, 5]), WIDTH) is None
