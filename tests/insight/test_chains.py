"""What a run of chains promises: which steps it keeps, where it starts, when it compiles, what it refuses."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from langevin_dqn import UserError, langevin_adam, langevin_monte_carlo, polynomial_decay, sample_posterior

DATA = jnp.array([0.0, 1.0, 2.0, 5.0])


def loss(params, example):
    return 0.5 * jnp.sum((params - example) ** 2)


def sample(**settings):
    defaults = {"key": jax.random.key(0), "num_samples": 20, "learning_rate": 0.1, "noise_variance": 1.0}
    defaults |= {"loss": loss, "params": jnp.zeros(3), "data": DATA} | settings
    return sample_posterior(defaults.pop("loss"), defaults.pop("params"), defaults.pop("data"), **defaults)


def test_a_step_without_noise():
    """-α times the gradient of the mean loss and of ψσ²/|D|, with any optax optimizer."""

    def plain(learning_rate, noise_variance):
        del noise_variance
        return optax.with_extra_args_support(optax.sgd(learning_rate))

    draws = sample(
        optimizer=plain,
        params=jnp.ones(3),
        num_samples=1,
        noise_variance=0.5,
        negative_log_prior=lambda params: jnp.sum(params**2),
    )
    np.testing.assert_allclose(draws.params, np.full((4, 1, 3), 1 - 0.1 * ((1 - 2) + 0.5 / 4 * 2)), rtol=1e-6)


def test_minibatches_see_every_example_equally_often():
    """Steps that jump to the batch's mean show what was in it. Level 1e-6: five standard deviations."""

    def jump(learning_rate, noise_variance):
        del learning_rate, noise_variance
        return optax.with_extra_args_support(optax.sgd(1.0))

    values = sample(optimizer=jump, params=0.0, data=jnp.arange(10.0), batch_size=1, num_samples=5000).params
    counts = np.bincount(np.asarray(values, int).ravel(), minlength=10)
    assert len(counts) == 10
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)
    pairs = sample(optimizer=jump, params=0.0, data=jnp.arange(10.0), batch_size=2, num_samples=5000).params
    assert np.mean(pairs == 0) == pytest.approx(0.01, abs=0.005)  # with replacement: both are example 0


def test_thinning_and_burn_in_leave_out_steps():
    every = sample(num_samples=60)
    some = sample(num_samples=10, thinning=5, burn_in=10)
    np.testing.assert_array_equal(some.steps, np.arange(15, 61, 5))
    np.testing.assert_array_equal(some.params, every.params[:, some.steps - 1])


def test_draws_are_equally_far_apart_in_diffusion_time():
    decay = polynomial_decay(1.0, offset=1.0, power=0.5)
    draws = sample(learning_rate=decay, num_samples=50, thinning=20, burn_in=30)
    time = np.cumsum(decay(np.arange(draws.steps[-1])))
    gaps = np.diff(time[draws.steps - 1])
    assert draws.steps[-1] == 30 + 50 * 20
    np.testing.assert_allclose(gaps, gaps.mean(), atol=decay(30))
    assert np.diff(draws.steps)[-1] > 3 * np.diff(draws.steps)[0]
    constant = sample(learning_rate=optax.constant_schedule(0.1), thinning=7)
    np.testing.assert_allclose(constant.params, sample(thinning=7).params, atol=1e-5)


def test_keys_and_chains():
    draws = sample().params
    np.testing.assert_array_equal(draws, sample().params)
    assert not np.any(draws == sample(key=jax.random.key(1)).params)
    assert len(np.unique(draws)) == draws.size


def test_new_numbers_do_not_compile_again():
    traces = []

    def counted(params, example):
        traces.append(1)
        return loss(params, example)

    for seed, rate in enumerate((0.1, 0.2)):
        sample(
            loss=counted, key=jax.random.key(seed), learning_rate=rate, noise_variance=rate, burn_in=seed, thinning=2
        )
    assert len(traces) == 1
    for _ in range(2):
        sample(loss=counted, learning_rate=polynomial_decay(0.1))
    assert len(traces) == 2


def test_effective_sample_size_of_a_known_chain():
    """On ½hθ² a chain is autoregressive with ρ = 1 - αh, worth N(1-ρ)/(1+ρ) draws. Within 15%, level 1e-4."""
    draws = sample(num_samples=5000, burn_in=200, chains=8)
    expected = 40_000 * 0.1 / 1.9
    np.testing.assert_allclose(draws.effective_sample_size(), expected, rtol=0.15)
    assert draws.r_hat().max() < 1.01


def test_r_hat_sees_chains_that_started_apart():
    def start(key):
        return {"w": 10 * jax.random.normal(key, (3,))}

    def tree_loss(params, example):
        return loss(params["w"], example)

    early = sample(loss=tree_loss, params=start, num_samples=20, learning_rate=0.01)
    late = sample(loss=tree_loss, params=start, num_samples=2000, learning_rate=0.1, burn_in=200)
    assert early.r_hat()["w"].min() > 1.5
    assert late.r_hat()["w"].max() < 1.05
    assert late.mean()["w"].shape == (3,)
    assert late.covariance().shape == (3, 3)


def test_adam_runs_too():
    draws = sample(optimizer=langevin_adam, learning_rate=0.01, batch_size=2, num_samples=100)
    assert draws.params.shape == (4, 100, 3)
    assert np.ptp(draws.params) > 0


NOT_FINITE = jnp.array([1.0, jnp.nan])
MISTAKES = {
    "batch_size=5 is larger than the data set of 4": {"batch_size": 5},
    "batch_size=0": {"batch_size": 0},
    "burn_in=-1": {"burn_in": -1},
    "num_samples=0": {"num_samples": 0},
    "thinning=2.5": {"thinning": 2.5},
    "chains=0": {"chains": 0},
    "noise_variance=0": {"noise_variance": 0},
    "every step size": {"learning_rate": -0.1},
    "step size must be above 0": {"learning_rate": lambda k: 0.1 - 0.01 * k},
    "int32 cannot be sampled": {"params": jnp.zeros(3, int)},
    r"leading axes: \[\(3,\), \(4,\)\]": {"data": (DATA, DATA[:3])},
    r"leading axes: \[\]": {"data": ()},
    r"leading axes: \[\(0,\)\]": {"data": DATA[:0]},
    r"shape \(3,\)": {"loss": lambda params, example: params - example},
    "chain 0 are not finite after step 1 of 20\nhint: check for data": {"data": NOT_FINITE},
    "chain 0 are not finite after step 4 of 20\nhint: use a smaller": {"learning_rate": 1e10, "params": 1.0},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_reported(message):
    with pytest.raises(UserError, match=message):
        sample(**MISTAKES[message])


@pytest.mark.parametrize("settings", [{"scale": 0}, {"scale": 1, "offset": 0}, {"scale": 1, "power": 1.1}])
def test_step_sizes_that_do_not_fall_right(settings):
    with pytest.raises(UserError, match="step sizes"):
        polynomial_decay(**settings)


def test_a_density_that_does_not_end():
    with pytest.raises(UserError, match="not finite after step"):
        langevin_monte_carlo(jnp.square, 1.0, key=jax.random.key(0), num_samples=10, step_size=1e8)
