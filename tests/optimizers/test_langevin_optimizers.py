"""Langevin SGD and alg4 against closed forms.

Statistical tests use fixed keys; each docstring gives its level, the chance that a correct
sampler would fail under a fresh key.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy import stats

from langevin_dqn import UserError, langevin_adam, langevin_sgd

ALPHA, B1, B2, EPS = 0.01, 0.9, 0.999, 1e-3
SIGMA2, NUM_DATA = 0.7, 40


def key(seed):
    return jax.random.key(seed)


def assert_same_bits(left, right):
    assert jax.tree.structure(left) == jax.tree.structure(right)
    for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def gradients():
    """Three tensors: no gradient, √v around ε, √v far above ε, each element its own."""
    rng = np.random.default_rng(0)
    return {
        "asleep": np.zeros((250, 400), np.float32),
        "near_eps": rng.lognormal(-3.5, 1.0, 100_000).astype(np.float32),
        "large": {"w": (1e3 * rng.lognormal(0.0, 1.0, (400, 250))).astype(np.float32)},
    }


def second_moment(grads, k):
    """v_k after k equal gradients, in float64."""
    return jax.tree.map(lambda g: (1 - B2**k) * g.astype(np.float64) ** 2, grads)


def alpha_at(k, alpha=ALPHA):
    return alpha * np.sqrt(1 - B2**k) / (1 - B1**k)


@jax.jit
def _noisy_and_plain(grads, k, variance, num_data):
    """The k-th update under equal gradients, with noise and without."""
    noisy, plain = langevin_adam(ALPHA, variance, B1, B2, EPS), langevin_adam(ALPHA, 0.0, B1, B2, EPS)

    def step(i, carry):
        kwargs = {"key": key(i), "num_data": num_data}
        return noisy.update(grads, carry[0][1], **kwargs), plain.update(grads, carry[1][1], **kwargs)

    start = ((grads, noisy.init(grads)), (grads, plain.init(grads)))
    (update, _), (drift, _) = jax.lax.fori_loop(0, k, step, start)
    return update, drift


def one_step_noise(k, variance=SIGMA2, num_data=NUM_DATA, grads=None):
    """The noise of the k-th update: the noisy update less the noiseless one."""
    grads = gradients() if grads is None else grads
    update, drift = _noisy_and_plain(grads, k, float(variance), float(num_data))
    return jax.tree.map(lambda u, d: np.asarray(u, np.float64) - np.asarray(d, np.float64), update, drift)


@pytest.fixture(scope="module", params=[1, 7], ids="k={}".format)
def noise_at(request):
    return request.param, one_step_noise(request.param)


@pytest.mark.parametrize(("h", "alpha"), [(2.0, 0.1), (1.0, 1.0)])
def test_langevin_sgd_stationary_variance(h, alpha):
    """σ²/(|D|h(1-αh/2)) within 3%, 200,000 chains. Level 1e-20: 3% is 9.5 standard errors."""
    chains, optimizer = 200_000, langevin_sgd(alpha, SIGMA2)
    theta = jnp.zeros(chains)

    @jax.jit
    def run(theta, state):
        def step(carry, k):
            theta, state = carry
            update, state = optimizer.update(h * theta, state, key=k, num_data=NUM_DATA)
            return (optax.apply_updates(theta, update), state), None

        return jax.lax.scan(step, (theta, state), jax.random.split(key(3), 60))[0][0]

    theta = np.asarray(run(theta, optimizer.init(theta)), np.float64)
    expected = SIGMA2 / (NUM_DATA * h * (1 - alpha * h / 2))
    assert np.var(theta) == pytest.approx(expected, rel=0.03)
    assert abs(theta.mean()) < 6 * np.sqrt(expected / chains)


def test_adam_noise_variance(noise_at):
    """2α_kσ²/(|D|(√v_k+ε)) within 3% in every tensor, v = 0 and large. Level 1e-10 per tensor."""
    k, noise = noise_at
    for name, z in standardised(k, noise).items():
        assert np.var(z) == pytest.approx(1.0, rel=0.03), name


def test_adam_noise_is_centred_and_normal(noise_at):
    """|mean| < 5 standard errors (level 6e-7) and Kolmogorov-Smirnov p > 1e-4 (level 1e-4), per tensor."""
    k, noise = noise_at
    for name, z in standardised(k, noise).items():
        assert abs(z.mean()) < 5 / np.sqrt(z.size), name
        assert stats.kstest(z, "norm").pvalue > 1e-4, name


def standardised(k, noise):
    """Noise over alg4's standard deviation, element by element."""

    def scale(z, v):
        return (z / np.sqrt(2 * alpha_at(k) * SIGMA2 / (NUM_DATA * (np.sqrt(v) + EPS)))).ravel()

    scaled = jax.tree.map(scale, noise, second_moment(gradients(), k))
    return {"asleep": scaled["asleep"], "near_eps": scaled["near_eps"], "large": scaled["large"]["w"]}


WRONG_VARIANCES = {
    "no factor 2": lambda a, v: a * SIGMA2 / (NUM_DATA * (np.sqrt(v) + EPS)),
    "no 1/|D|": lambda a, v: 2 * a * SIGMA2 / (np.sqrt(v) + EPS),
    "1/|D| outside the root": lambda a, v: 2 * a * SIGMA2 / (NUM_DATA**2 * (np.sqrt(v) + EPS)),
    "times √v": lambda a, v: 2 * a * SIGMA2 / NUM_DATA * (np.sqrt(v) + EPS),
    "σ for σ²": lambda a, v: 2 * a * np.sqrt(SIGMA2) / (NUM_DATA * (np.sqrt(v) + EPS)),
    "α for α_k": lambda a, v: 2 * ALPHA * SIGMA2 / (NUM_DATA * (np.sqrt(v) + EPS)),
    "α_k outside the root": lambda a, v: 2 * a**2 * SIGMA2 / (NUM_DATA * (np.sqrt(v) + EPS)),
    "v for √v": lambda a, v: 2 * a * SIGMA2 / (NUM_DATA * (v + EPS)),
    "ε inside the root": lambda a, v: 2 * a * SIGMA2 / (NUM_DATA * np.sqrt(v + EPS)),
    "no ε": lambda a, v: 2 * a * SIGMA2 / (NUM_DATA * np.maximum(np.sqrt(v), 1e-30)),
    "debiased v": lambda a, v: 2 * a * SIGMA2 / (NUM_DATA * (np.sqrt(v / (1 - B2)) + EPS)),
}


@pytest.mark.parametrize("mistake", WRONG_VARIANCES)
def test_a_mistaken_variance_would_be_seen(mistake, first_noise):
    """Some tensor contradicts each familiar mistake by more than twice the tolerance of 3%."""
    wrong = jax.tree.map(lambda v: WRONG_VARIANCES[mistake](alpha_at(1), v), second_moment(gradients(), 1))
    ratios = jax.tree.leaves(jax.tree.map(lambda z, w: np.mean(z**2 / w), first_noise, wrong))
    assert max(abs(r - 1) for r in ratios) > 0.06


@pytest.fixture(scope="module")
def first_noise():
    return one_step_noise(1)


def test_noise_depends_on_the_ratio_of_variance_and_data(first_noise):
    again = one_step_noise(1, variance=16 * SIGMA2, num_data=16 * NUM_DATA)
    for a, b in zip(jax.tree.leaves(first_noise), jax.tree.leaves(again), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-8)


def test_standard_deviation_scales_with_the_root_of_the_data(first_noise):
    fewer = one_step_noise(1, num_data=NUM_DATA / 4)
    for a, b in zip(jax.tree.leaves(first_noise), jax.tree.leaves(fewer), strict=True):
        np.testing.assert_allclose(2 * a, b, rtol=1e-3, atol=1e-8)


def test_larger_moments_mean_less_noise():
    """With one key the normals are the same, so the ratio is that of the roots of √v+ε."""
    small, large = (one_step_noise(1, grads=np.full(1000, g, np.float32)) for g in (1.0, 100.0))
    roots = [np.sqrt(np.sqrt(1 - B2) * g + EPS) for g in (1.0, 100.0)]
    np.testing.assert_allclose(large / small, roots[0] / roots[1], rtol=1e-2)


def test_sgd_noise_variance_and_scaling():
    """2ασ²/|D| within 3%. Level 1e-10 at 100,000 draws."""
    zeros = jnp.zeros(100_000)

    @jax.jit
    def noise(alpha, variance, num_data):
        optimizer = langevin_sgd(alpha, variance)
        return optimizer.update(zeros, optimizer.init(zeros), key=key(5), num_data=num_data)[0]

    base = noise(ALPHA, SIGMA2, NUM_DATA)
    assert np.var(base) == pytest.approx(2 * ALPHA * SIGMA2 / NUM_DATA, rel=0.03)
    np.testing.assert_allclose(noise(ALPHA, 9 * SIGMA2, 9 * NUM_DATA), base, rtol=1e-5)
    np.testing.assert_allclose(noise(ALPHA, SIGMA2, NUM_DATA / 4), 2 * base, rtol=1e-5)
    np.testing.assert_allclose(noise(4 * ALPHA, SIGMA2, NUM_DATA), 2 * base, rtol=1e-5)


def gradient_stream(steps=100):
    rng = np.random.default_rng(7)
    scale = rng.lognormal(-3, 2, 50)
    return (rng.normal(size=(steps, 50)) * scale).astype(np.float32)


def run_updates(optimizer, stream, **kwargs):
    state, updates = optimizer.init(jnp.asarray(stream[0])), []
    step = jax.jit(lambda g, s: optimizer.update(g, s, **kwargs))
    for g in stream:
        update, state = step(jnp.asarray(g), state)
        updates.append(np.asarray(update))
    return np.stack(updates)


def alg4_updates(stream, learning_rate, eps):
    """alg4 without noise, in float64; learning_rate is a function of the updates made before."""
    m, v, updates = np.zeros(stream.shape[1]), np.zeros(stream.shape[1]), []
    for k, g in enumerate(stream.astype(np.float64), start=1):
        m = B1 * m + (1 - B1) * g
        v = B2 * v + (1 - B2) * g * g
        updates.append(-alpha_at(k, learning_rate(k - 1)) * m / (np.sqrt(v) + eps))
    return np.stack(updates)


NOISELESS = {"key": jax.random.key(0), "num_data": 10}


@pytest.mark.parametrize("eps", [1e-2, 1e-6])
def test_zero_variance_is_alg4(eps):
    """Every one of 100 updates to 1e-4 of the learning rate, float32 rounding of 1-β₂^k included."""
    stream = gradient_stream()
    got = run_updates(langevin_adam(ALPHA, 0.0, B1, B2, eps), stream, **NOISELESS)
    np.testing.assert_allclose(got, alg4_updates(stream, lambda _: ALPHA, eps), rtol=1e-4, atol=1e-4 * ALPHA)


def test_zero_variance_without_eps_is_optax_adam():
    stream = gradient_stream()
    got = run_updates(langevin_adam(ALPHA, 0.0, B1, B2, 0.0), stream, **NOISELESS)
    reference = run_updates(optax.adam(ALPHA, B1, B2, eps=0.0, eps_root=0.0), stream)
    np.testing.assert_allclose(got, reference, rtol=1e-4)


def test_bias_corrected_drift_is_optax_adam():
    stream = gradient_stream()
    reference = run_updates(optax.adam(ALPHA, B1, B2, eps=1e-2), stream)
    got = run_updates(langevin_adam(ALPHA, 0.0, B1, B2, 1e-2, bias_correction=True), stream, **NOISELESS)
    np.testing.assert_allclose(got, reference, rtol=1e-4)
    raw = run_updates(langevin_adam(ALPHA, 0.0, B1, B2, 1e-2), stream, **NOISELESS)
    assert np.abs(raw / reference - 1).max() > 0.1, "this ε must tell the two forms apart"


def test_bias_correction_leaves_the_noise_alone():
    """Noise keeps raw v and α_k when the drift is bias-corrected; within 3%, level 1e-10."""
    g = jnp.full(100_000, 0.05)

    @jax.jit
    def update(variance):
        optimizer = langevin_adam(ALPHA, variance, B1, B2, EPS, bias_correction=True)
        return optimizer.update(g, optimizer.init(g), key=key(2), num_data=NUM_DATA)[0]

    v = (1 - B2) * 0.05**2
    expected = 2 * alpha_at(1) * SIGMA2 / (NUM_DATA * (np.sqrt(v) + EPS))
    assert np.var(update(SIGMA2) - update(0.0)) == pytest.approx(expected, rel=0.03)


def noiseless_runs(jitted, corrected):
    """Updates and moments of the plain program and of two noisy ones whose noise is exactly 0."""
    stream = gradient_stream(steps=20)

    def run(variance, num_data):
        optimizer = langevin_adam(ALPHA, variance, B1, B2, EPS, bias_correction=corrected)
        step = jax.jit(optimizer.update) if jitted else optimizer.update
        state, updates = optimizer.init(jnp.asarray(stream[0])), []
        for i, g in enumerate(stream):
            update, state = step(jnp.asarray(g), state, key=key(i), num_data=num_data)
            updates.append(update)
        return updates, jax.tree.leaves(state)

    return run(0.0, 10.0), run(SIGMA2, jnp.inf), run(jnp.float32(0.0), 10.0)


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_noiseless_adam_is_the_drift_of_the_noisy_one_bit_for_bit(jitted):
    plain, endless_data, zero_array = noiseless_runs(jitted, corrected=False)
    assert_same_bits(plain, endless_data)
    assert_same_bits(plain, zero_array)


def test_noiseless_bias_corrected_drift_is_that_of_the_noisy_one():
    """To a few units in the last place: the compiler may fuse the two programs differently."""
    plain, endless_data, zero_array = noiseless_runs(jitted=True, corrected=True)
    for other in (endless_data, zero_array):
        for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("factory", [langevin_sgd, langevin_adam])
def test_negative_variance_is_refused(factory):
    with pytest.raises(UserError, match="noise_variance"):
        factory(ALPHA, -0.1)


@pytest.mark.parametrize("name", ["sgd", "adam"])
@pytest.mark.parametrize(("size", "accepted"), [(1, True), (1.0, True), (np.int64(1), True), (0, False), (0.5, False)])
def test_a_data_set_has_at_least_one_point(name, size, accepted):
    optimizer = OPTIMIZERS[name]
    state = optimizer.init(PARAMS)
    if accepted:
        optimizer.update(PARAMS, state, key=key(0), num_data=size)
    else:
        with pytest.raises(UserError, match="must be at least 1"):
            optimizer.update(PARAMS, state, key=key(0), num_data=size)


def test_noise_stays_out_of_the_moments():
    stream = gradient_stream(steps=5)

    def state_after(variance):
        optimizer = langevin_adam(ALPHA, variance, B1, B2, EPS)
        state = optimizer.init(jnp.asarray(stream[0]))
        for i, g in enumerate(stream):
            _, state = optimizer.update(jnp.asarray(g), state, key=key(i), num_data=3)
        return jax.tree.leaves(state)

    assert_same_bits(state_after(0.0), state_after(100.0))


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
def test_zero_variance_sgd_is_optax_sgd_bit_for_bit(jitted):
    grads = {"w": jnp.asarray(gradient_stream()), "b": jnp.asarray(gradient_stream()[0])}
    ours, theirs = langevin_sgd(0.3, 0.0), optax.sgd(0.3)
    wrap = jax.jit if jitted else (lambda f: f)
    got, _ = wrap(ours.update)(grads, ours.init(grads), **NOISELESS)
    assert_same_bits(got, wrap(theirs.update)(grads, theirs.init(grads))[0])


OPTIMIZERS = {"sgd": langevin_sgd(ALPHA, SIGMA2), "adam": langevin_adam(ALPHA, SIGMA2, B1, B2, EPS)}
both = pytest.mark.parametrize("name", OPTIMIZERS)
PARAMS = {"a": jnp.zeros((200, 100)), "b": jnp.zeros((200, 100)), "c": [jnp.zeros(20_000)]}


@partial(jax.jit, static_argnums=0)
def noise_of(name, k):
    """One update with no gradient: noise alone."""
    return OPTIMIZERS[name].update(PARAMS, OPTIMIZERS[name].init(PARAMS), key=k, num_data=NUM_DATA)[0]


def correlation(a, b):
    return np.corrcoef(np.asarray(a).ravel(), np.asarray(b).ravel())[0, 1]


@both
def test_same_key_same_bits(name):
    assert_same_bits(noise_of(name, key(4)), noise_of(name, key(4)))


@both
def test_keys_give_uncorrelated_noise(name):
    """|r| < 5/√n for five neighbouring keys and children of one key. Level 2e-5 (28 pairs)."""
    keys = [key(s) for s in range(4)] + list(jax.random.split(key(0), 4))
    draws = [np.concatenate([np.ravel(x) for x in jax.tree.leaves(noise_of(name, k))]) for k in keys]
    r = np.corrcoef(draws) - np.eye(len(keys))
    assert np.abs(r).max() < 5 / np.sqrt(draws[0].size)


@both
def test_leaves_of_equal_shape_get_their_own_noise(name):
    """|r| < 5/√n for each pair of tensors, also shifted by one. Level 4e-6."""
    noise = [np.asarray(x).ravel() for x in jax.tree.leaves(noise_of(name, key(6)))]
    limit = 5 / np.sqrt(noise[0].size)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        assert abs(correlation(noise[i], noise[j])) < limit
        assert abs(correlation(noise[i][1:], noise[j][:-1])) < limit


@both
def test_elements_of_a_tensor_are_uncorrelated(name):
    """Autocorrelation at lags 1, 2, 50 and 100 below 5/√n. Level 3e-6."""
    z = np.asarray(noise_of(name, key(8))["a"]).ravel()
    for lag in (1, 2, 50, 100):
        assert abs(correlation(z[lag:], z[:-lag])) < 5 / np.sqrt(z.size - lag)


@both
def test_vmap_over_members(name):
    """Each member's update is the one it would make alone, and members' noise is uncorrelated (level 2e-6)."""
    members, size = 3, 20_000
    optimizer = OPTIMIZERS[name]
    grads = jnp.linspace(-1, 1, members * size).reshape(members, size)
    keys, num_data = jax.random.split(key(9), members), jnp.array([5.0, 50.0, 500.0])
    states = jax.vmap(optimizer.init)(grads)

    def update(g, s, k, n):
        return optimizer.update(g, s, key=k, num_data=n)[0]

    together = jax.jit(jax.vmap(update))(grads, states, keys, num_data)
    alone = jax.jit(update)
    for i in range(members):
        member = jax.tree.map(lambda x, i=i: x[i], states)
        np.testing.assert_allclose(together[i], alone(grads[i], member, keys[i], num_data[i]), rtol=1e-5, atol=1e-7)
    noise = jax.jit(jax.vmap(update))(0 * grads, states, keys, num_data)
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        assert abs(correlation(noise[i], noise[j])) < 5 / np.sqrt(size)


@both
def test_jit_agrees_with_eager(name):
    optimizer = OPTIMIZERS[name]
    grads = jnp.asarray(gradient_stream()[0])
    eager, _ = optimizer.update(grads, optimizer.init(grads), key=key(1), num_data=NUM_DATA)
    compiled, _ = jax.jit(optimizer.update)(grads, optimizer.init(grads), key=key(1), num_data=NUM_DATA)
    np.testing.assert_allclose(compiled, eager, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_chain_with_clipping(name):
    """optax.chain hands on key and num_data: the chain is the optimizer on clipped gradients."""
    grads = {"w": 100 * jnp.asarray(gradient_stream()), "b": jnp.ones(3)}
    clip = optax.clip_by_global_norm(1.0)
    chain = optax.chain(clip, OPTIMIZERS[name])
    kwargs = {"key": key(2), "num_data": NUM_DATA}
    got, _ = jax.jit(chain.update)(grads, chain.init(grads), **kwargs)
    clipped, _ = clip.update(grads, clip.init(grads))
    assert float(optax.tree.norm(clipped)) < 0.01 * float(optax.tree.norm(grads))
    expected, _ = jax.jit(OPTIMIZERS[name].update)(clipped, OPTIMIZERS[name].init(grads), **kwargs)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_legacy_keys_are_accepted():
    """``jax.random.PRNGKey`` holds the words of ``jax.random.key``, so it draws the same noise."""
    assert_same_bits(noise_of("sgd", jax.random.PRNGKey(1)), noise_of("sgd", key(1)))


def halving(count):
    return ALPHA * 0.5 ** (count // 10)


def test_schedule_drives_the_drift_of_adam():
    stream = gradient_stream(steps=40)
    got = run_updates(langevin_adam(halving, 0.0, B1, B2, 1e-2), stream, **NOISELESS)
    expected = alg4_updates(stream, halving, 1e-2)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4 * ALPHA)


def test_schedule_drives_the_drift_of_sgd():
    stream = gradient_stream(steps=40)
    got = run_updates(langevin_sgd(halving, 0.0), stream, **NOISELESS)
    np.testing.assert_allclose(got, run_updates(optax.sgd(halving), stream), rtol=1e-6)


@both
def test_schedule_drives_the_noise(name):
    """One key throughout, so α(count) alone moves the noise: its root, and for Adam that of α_k too."""
    factory = {"sgd": langevin_sgd, "adam": lambda a, v: langevin_adam(a, v, B1, B2, EPS)}[name]
    stream = np.zeros((21, 30), np.float32)
    kwargs = {"key": key(11), "num_data": NUM_DATA}
    scheduled = run_updates(factory(halving, SIGMA2), stream, **kwargs)
    constant = run_updates(factory(ALPHA, SIGMA2), stream, **kwargs)
    roots = np.sqrt([halving(count) / ALPHA for count in range(21)])
    np.testing.assert_allclose(scheduled, constant * roots[:, None], rtol=1e-4)


def test_the_old_name_of_bias_correction_still_works():
    with pytest.warns(DeprecationWarning, match="debiased_drift is now bias_correction"):
        old = langevin_adam(ALPHA, 0.0, B1, B2, EPS, debiased_drift=True)
    new = langevin_adam(ALPHA, 0.0, B1, B2, EPS, bias_correction=True)
    gradient = jnp.array([0.3, -2.0])
    steps = [o.update(gradient, o.init(gradient), key=None, num_data=5)[0] for o in (old, new)]
    np.testing.assert_array_equal(*steps)
