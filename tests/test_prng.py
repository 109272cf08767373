"""The noise generator: exact properties, and statistics with fixed keys.

LEVEL is the chance that one statistical assertion would fail under a fresh key for a perfect
generator; where a test makes k of them, each has LEVEL / k. ``tools/noise_battery.py``
looks much closer.
"""

from contextlib import nullcontext
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial.polynomial import polyval
from scipy import special, stats

from langevin_dqn import prng

LEVEL = 1e-4
WINDOW = 7680
to_normals = jax.jit(prng.normal_from_bits)
windows = jax.jit(jax.vmap(lambda k: prng.bits(k, (WINDOW,))))


def key(seed=0):
    return jax.random.key(seed, impl=prng.PRNG)


def bound(k: int = 1) -> float:
    """|z| of k standard normals stays below this but for LEVEL."""
    return float(stats.norm.isf(LEVEL / k / 2))


def assert_unrelated(left, right, k: int = 1):
    """Neither z nor z^2 correlates, and half of the bits differ."""
    left, right = np.asarray(left).ravel(), np.asarray(right).ravel()
    a, b = (np.asarray(to_normals(x), np.float64) for x in (left, right))
    root = np.sqrt(a.size)
    assert abs(a @ b) / root < bound(3 * k)
    assert abs((a * a - 1) @ (b * b - 1)) / 2 / root < bound(3 * k)
    flips = np.bitwise_count(left ^ right).astype(np.int64).sum()
    assert abs(flips - 16 * a.size) / np.sqrt(8 * a.size) < bound(3 * k)


@pytest.fixture(scope="module")
def normals():
    """2^22 normals as updates draw them: a window per key, keys by fold_in."""
    keys = jax.vmap(partial(jax.random.fold_in, key(1)))(jnp.arange(-(-(2**22) // WINDOW)))
    return np.asarray(to_normals(windows(keys))).ravel()[: 2**22]


# -- words and keys --------------------------------------------------------------------


def test_same_key_same_bits_in_every_context():
    words = prng.bits(key(3), (4, 5))
    np.testing.assert_array_equal(words, prng.bits(key(3), (4, 5)))
    np.testing.assert_array_equal(words, jax.jit(prng.bits, static_argnums=1)(key(3), (4, 5)))
    np.testing.assert_array_equal(words, prng.bits(jax.random.key_data(key(3)), (20,)).reshape(4, 5))
    batch = jax.vmap(lambda k: prng.bits(k, (4, 5)))(jnp.stack([key(2), key(3)]))
    np.testing.assert_array_equal(words, batch[1])
    np.testing.assert_array_equal(prng.normal(key(3), (4, 5)), prng.normal_from_bits(words))


def test_bits_do_not_change_between_versions():
    """A run with a seed stays what it was."""
    words = [prng.mix(jnp.arange(3, dtype=jnp.uint32), jnp.uint32([1, 2]))]
    words += [jax.random.key_data(k) for k in (key(0), jax.random.fold_in(key(0), 5), jax.random.split(key(0))[1])]
    assert np.concatenate(words).tolist() == [
        1477161994, 3550340586, 2118402819, 1655783218, 116565301, 13554269, 1750482364, 191333046, 1355996910,
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["fold_in", *(pytest.param(how, marks=pytest.mark.slow) for how in ("split", "seed"))])
def test_neighbouring_keys_are_unrelated(how):
    if how == "fold_in":
        keys = jax.vmap(partial(jax.random.fold_in, key()))(jnp.arange(101))
    else:
        keys = jax.random.split(key(), 101) if how == "split" else jax.vmap(key)(jnp.arange(101))
    words = windows(keys)
    assert len(np.unique(words[:, 0])) == 101
    assert_unrelated(words[:-1], words[1:], 4)
    assert_unrelated(words[:-2], words[2:], 4)
    assert_unrelated(words[:, :-1], words[:, 1:], 4)  # neighbouring counters
    assert_unrelated(words[:, :-16], words[:, 16:], 4)


def test_parent_children_and_draws_are_unrelated():
    """And no word of a child's key is among the parent's draws: a stream does not repeat a word."""
    parents = jax.random.split(key(5), 100)
    draws = windows(parents)
    children = windows(jax.vmap(jax.random.split)(parents)[:, 0])
    folded = windows(jax.vmap(lambda k: jax.random.fold_in(k, 0))(parents))
    for left, right in ((draws, children), (draws, folded), (children, folded)):
        assert_unrelated(left, right, 3)
    words = jax.random.key_data(jax.random.split(parents[0], 100))
    assert not np.isin(words, draws[0]).any()


def test_one_bit_of_the_key_or_the_counter_flips_half_of_the_bits():
    """Avalanche: each of 96 x 32 flip rates over 2^14 random keys."""
    rng = np.random.default_rng(0)
    n = 2**14
    keys, counter = rng.integers(2**32, size=(n, 2), dtype=np.uint32), rng.integers(WINDOW, size=n, dtype=np.uint32)
    masks = np.kron(np.eye(3, dtype=np.uint32), 1 << np.arange(32, dtype=np.uint32)[:, None])
    mix = jax.jit(jax.vmap(prng.mix))
    before = np.asarray(mix(counter, keys))
    after = np.stack([mix(counter ^ mask[2], keys ^ mask[:2]) for mask in masks])
    rates = np.stack([((after ^ before) >> np.uint32(bit) & 1).mean(1) for bit in range(32)])
    z = (rates - 0.5) * 2 * np.sqrt(n)
    assert np.abs(z).max() < bound(2 * z.size)
    assert LEVEL / 4 < stats.chi2.cdf((z * z).sum(), z.size) < 1 - LEVEL / 4


@pytest.mark.slow
def test_fold_in_gives_distinct_keys():
    n = 2**20
    fold = jax.jit(jax.vmap(lambda i: jax.random.key_data(jax.random.fold_in(key(), i))))
    words = np.asarray(fold(jnp.arange(n, dtype=jnp.uint32)))
    assert len(np.unique(words.view(np.uint64))) == n
    for half in words.T:  # each word alone repeats as often as random ones do: 128 times
        repeats = n - len(np.unique(half))
        assert stats.poisson.cdf(repeats, 128) > LEVEL / 4
        assert stats.poisson.sf(repeats, 128) > LEVEL / 4


def test_every_bit_of_the_word_is_fair():
    words = windows(jax.random.split(key(2), 200)).ravel()
    counts = np.array([(words >> np.uint32(bit) & 1).sum() for bit in range(32)])
    assert np.abs((counts - words.size / 2) / np.sqrt(words.size / 4)).max() < bound(32)


# -- normals ---------------------------------------------------------------------------


def test_normals_are_the_quantiles_of_their_bits():
    """All 2^23 magnitudes against scipy: relative error 1e-5, monotone up to 1e-6."""
    top = np.arange(2**23, dtype=np.uint32)
    z = np.asarray(to_normals(top << 9)).astype(np.float64)
    exact = -special.ndtri((top + 0.5) * 2.0**-24)
    assert np.all(np.isfinite(z))
    assert np.abs(z / exact - 1).max() < 1e-5
    assert np.diff(z).max() < 1e-6
    assert 5.41 < z.max() < 5.42


def test_tables_of_the_polynomials():
    """Each by itself: an error in the logarithm hardly shows in the normals."""
    f = np.linspace(np.sqrt(0.5) - 1, np.sqrt(2) - 1, 10_000)
    assert np.abs(polyval(f, prng._LOG) * f / np.log1p(f) - 1).max() < 6e-7
    t = np.linspace(1e-3, 4, 10_000)
    x = np.sqrt(-np.expm1(-t * t))
    exact = -special.ndtri(np.exp(-t * t) / (1 + x) / 2) / x
    assert np.abs(polyval(t - 2, prng._RATIO) / exact - 1).max() < 6e-6
    np.testing.assert_allclose(prng._polynomial(prng._RATIO, np.float32(t - 2)), exact, rtol=1e-5)


def test_the_last_bit_is_the_sign_and_the_next_eight_are_idle():
    words = np.asarray(prng.bits(key(8), (WINDOW,)))
    z = np.asarray(to_normals(words))
    np.testing.assert_array_equal(to_normals(words ^ 1), -z)
    np.testing.assert_array_equal(to_normals(words ^ 0x1FE), z)
    np.testing.assert_array_equal(np.signbit(z), words & 1 == 1)


@pytest.mark.parametrize("function", [prng.normal_from_bits, to_normals])
def test_extreme_words_give_finite_normals(function):
    words = np.uint32([0, 1, 0x1FE, 0x1FF, 0x200, 0x7FFFFFFF, 0x80000000, 0xFFFFFE00, 0xFFFFFFFE, 0xFFFFFFFF])
    size = np.abs(np.asarray(function(words)))
    assert np.all((size > 0) & (size <= 5.42))


def test_moments_of_the_normals(normals):
    """Mean, variance, skewness and kurtosis over 2^22."""
    z = normals.astype(np.float64)
    for power, mean, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        assert abs((z**power).mean() - mean) / np.sqrt(variance / z.size) < bound(4)


def test_distribution_of_the_normals(normals):
    """KS, 1,000 equiprobable bins, and the tails beyond 3 and 4, over 2^22."""
    assert stats.kstest(normals.astype(np.float64), "norm", method="asymp").pvalue > LEVEL / 4
    counts = np.bincount((special.ndtr(normals) * 1000).astype(int), minlength=1000)
    assert stats.chisquare(counts).pvalue > LEVEL / 4
    for t in (3, 4):
        seen = int((np.abs(normals) > t).sum())
        assert stats.binomtest(seen, normals.size, 2 * stats.norm.sf(t)).pvalue > LEVEL / 4


def test_leaves_take_disjoint_windows_of_one_stream():
    tree = {"a": jnp.zeros((3, 5)), "b": [jnp.zeros(7), jnp.zeros((2, 2), jnp.bfloat16)]}
    got = jax.jit(prng.normal_like)(key(4), tree)
    flat = np.asarray(prng.normal(key(4), (26,)))
    assert jax.tree.map(lambda x: (x.shape, x.dtype), got) == jax.tree.map(lambda x: (x.shape, x.dtype), tree)
    leaves = [np.asarray(x, np.float32).ravel() for x in jax.tree.leaves(got)]
    np.testing.assert_allclose(np.concatenate(leaves[:2]), flat[:22], rtol=1e-6)
    np.testing.assert_allclose(leaves[2], flat[22:], rtol=1 / 256)


def test_leaves_are_unrelated():
    keys = jax.random.split(key(6), 200)
    leaves = jax.jit(jax.vmap(lambda k: prng.normal_like(k, (jnp.zeros((64, 50)), jnp.zeros((64, 50))))))(keys)
    a, b = (np.asarray(leaf, np.float64).ravel() for leaf in leaves)
    assert abs(a @ b) / np.sqrt(a.size) < bound()


# -- integers, and the generator under jax.random --------------------------------------


@pytest.mark.parametrize("upper", [1, 2, 3, 10, 97, 1000])
def test_integers_are_uniform_and_in_range(upper):
    """LEVEL for each bound, by chi-square over 200,000 draws."""
    draws = np.asarray(jax.jit(prng.integers, static_argnums=1)(key(upper), (200_000,), jnp.int32(upper)))
    assert draws.dtype == np.int32
    assert draws.min() >= 0
    assert draws.max() < upper
    if upper > 1:
        assert stats.chisquare(np.bincount(draws, minlength=upper)).pvalue > LEVEL


def test_integers_below_nothing_are_zero():
    assert not np.any(prng.integers(key(), (10,), jnp.int32(0)))


@pytest.mark.parametrize("wrap", ["jit", "vmap"])
def test_jax_random_takes_the_generator(wrap):
    """normal, uniform and randint over 10 keys, LEVEL for each."""

    def draw(k):
        a, b, c = jax.random.split(jax.random.fold_in(k, 7), 3)
        return (
            jax.random.normal(a, (20_000,)),
            jax.random.uniform(b, (20_000,)),
            jax.random.randint(c, (20_000,), -3, 4),
        )

    keys = jax.random.split(key(9), 10)
    if wrap == "vmap":
        z, u, i = (np.asarray(x).ravel() for x in jax.vmap(draw)(keys))
    else:
        jitted = jax.jit(draw)
        z, u, i = (np.concatenate(x) for x in zip(*map(jitted, keys), strict=True))
    assert stats.kstest(z, "norm").pvalue > LEVEL
    assert stats.kstest(u, "uniform").pvalue > LEVEL
    assert stats.chisquare(np.bincount(i + 3, minlength=7)).pvalue > LEVEL


@pytest.mark.parametrize("width", [32, *(pytest.param(width, marks=pytest.mark.slow) for width in (8, 16, 64))])
def test_bit_widths(width):
    """The two ends of every width are uniform: chi-square over 64 bins, LEVEL for each end."""
    if width == 64 and not hasattr(jax, "enable_x64"):
        pytest.skip("this JAX has no jax.enable_x64")
    with jax.enable_x64(True) if width == 64 else nullcontext():
        words = np.asarray(jax.random.bits(key(width), (50, 2000), f"uint{width}"))
    assert words.dtype == np.dtype(f"uint{width}")
    assert words.shape == (50, 2000)
    for six in (words >> (width - 6), words & 63):
        assert stats.chisquare(np.bincount(six.ravel().astype(int), minlength=64)).pvalue > LEVEL / 2
    if width == 64:
        assert_unrelated((words >> 32).astype(np.uint32), words.astype(np.uint32))


def test_shapes_without_elements():
    assert prng.bits(key(), ()).shape == ()
    assert prng.normal(key(), (0, 3)).shape == (0, 3)
    assert jax.random.normal(key(), (0,)).shape == (0,)
    assert jax.random.split(key(), (2, 3)).shape == (2, 3)
