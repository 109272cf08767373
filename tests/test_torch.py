"""The optimizers for torch, against the optax ones and against closed forms.

Statistical tests draw from fixed seeds; each says at which level.
"""

import importlib
import os
import sys

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import langevin_dqn

if not os.environ.get("CI"):
    pytest.importorskip("torch")
import torch

from langevin_dqn.torch import LangevinAdam, LangevinSGD

ADAM = {"lr": 0.01, "betas": (0.9, 0.999), "eps": 1e-3}
BOTH = {
    "sgd": lambda params, variance, **rest: LangevinSGD(params, 0.05, variance, **rest),
    "adam": lambda params, variance, **rest: LangevinAdam(params, noise_variance=variance, **ADAM, **rest),
}


@pytest.fixture(params=BOTH.values(), ids=BOTH)
def make(request):
    return request.param


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def gradients(steps, shape=(4, 3)):
    """Zero, around ε and far above it."""
    sizes = np.array([0.0, 1e-3, 1e3])
    return (np.random.default_rng(0).normal(size=(steps, *shape)) * sizes).astype(np.float32)


def walk(optimizer, theta, grads, num_data=50):
    for grad in grads:
        theta.grad = torch.as_tensor(grad, dtype=theta.dtype)
        optimizer.step(num_data=num_data)
    return theta.detach().numpy()


@pytest.mark.parametrize("corrected", [False, True])
def test_without_noise_alg4_is_the_optax_one(corrected):
    grads = gradients(30)
    theta = torch.nn.Parameter(torch.zeros(4, 3))
    found = walk(LangevinAdam([theta], noise_variance=0, **ADAM, bias_correction=corrected), theta, grads)
    optimizer = langevin_dqn.langevin_adam(0.01, 0.0, 0.9, 0.999, 1e-3, bias_correction=corrected)
    state, expected = optimizer.init(jnp.zeros((4, 3))), jnp.zeros((4, 3))
    for grad in grads:
        step, state = optimizer.update(jnp.asarray(grad), state, key=None, num_data=50)
        expected = expected + step
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-7)


def test_without_noise_the_bias_corrected_drift_is_torchs_adam_and_sgd_is_torchs_sgd():
    grads = gradients(30)
    pairs = [
        (LangevinAdam, {**ADAM, "noise_variance": 0, "bias_correction": True}, torch.optim.Adam, ADAM),
        (LangevinSGD, {"lr": 0.1, "noise_variance": 0}, torch.optim.SGD, {"lr": 0.1}),
    ]
    for ours, settings, theirs, plain in pairs:
        a, b = torch.nn.Parameter(torch.zeros(4, 3)), torch.nn.Parameter(torch.zeros(4, 3))
        found, optimizer = walk(ours([a], **settings), a, grads), theirs([b], **plain)
        for grad in grads:
            b.grad = torch.as_tensor(grad)
            optimizer.step()
        np.testing.assert_allclose(found, b.detach().numpy(), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("size", [0.0, 1e-3, 10.0])
def test_alg4s_noise_has_its_variance_and_is_normal(size):
    """The third update under equal gradients, less the noiseless one; 1% in all for 3 sizes and 2 tests each."""
    variance, num_data, k, n = 0.7, 40, 3, 100_000
    noisy, plain = (torch.nn.Parameter(torch.zeros(n, dtype=torch.float64)) for _ in range(2))
    grads = np.full((k - 1, n), size)
    with_noise = LangevinAdam([noisy], noise_variance=variance, **ADAM, generator=seeded(1))
    without = LangevinAdam([plain], noise_variance=0.0, **ADAM)
    walk(with_noise, noisy, grads, num_data), walk(without, plain, grads, num_data)
    before = (noisy - plain).detach().numpy().copy()
    noise = walk(with_noise, noisy, grads[:1], num_data) - walk(without, plain, grads[:1], num_data) - before
    alpha_k = 0.01 * np.sqrt(1 - 0.999**k) / (1 - 0.9**k)
    expected = 2 * alpha_k * variance / (num_data * (np.sqrt(1 - 0.999**k) * size + 1e-3))
    level = 0.01 / 6
    low, high = stats.chi2(n).ppf([level / 2, 1 - level / 2])
    assert low < (noise**2).sum() / expected < high
    assert stats.kstest(noise / np.sqrt(expected), "norm").pvalue > level


def test_sgd_samples_the_posterior_of_a_quadratic():
    """Stationary variance σ_w²/(|D| h (1 - αh/2)) of 20,000 chains, at level 1%."""
    h, alpha, variance, num_data, n = 2.0, 0.1, 0.5, 25, 20_000
    theta = torch.nn.Parameter(torch.zeros(n, dtype=torch.float64))
    optimizer = LangevinSGD([theta], alpha, variance, generator=seeded(2))
    for _ in range(60):  # (1 - αh)^120 of the start is left
        theta.grad = h * theta.detach()
        optimizer.step(num_data=num_data)
    expected = variance / (num_data * h * (1 - alpha * h / 2))
    low, high = stats.chi2(n).ppf([0.005, 0.995])
    assert low < (theta**2).sum().item() / expected < high


def test_noise_falls_with_the_data_and_not_with_the_batch(make):
    spreads = []
    for num_data in (10, 1000):
        theta = torch.nn.Parameter(torch.zeros(50_000))
        spreads.append(walk(make([theta], 1.0, generator=seeded()), theta, np.zeros((1, 50_000)), num_data).std())
    assert spreads[0] / spreads[1] == pytest.approx(10, rel=1e-5)  # the same draws


def test_a_generator_repeats_and_parameters_differ(make):
    def run(seed):
        two = [torch.nn.Parameter(torch.zeros(5)) for _ in range(2)]
        optimizer = make(two, 1.0, generator=seeded(seed))
        for theta in two:
            theta.grad = torch.zeros(5)
        optimizer.step(num_data=10)
        return torch.stack([theta.detach() for theta in two])

    assert torch.equal(run(0), run(0))
    assert not torch.equal(run(0), run(1))
    assert not torch.equal(*run(0))


def test_groups_have_their_own_noise(make):
    still, moving = (torch.nn.Parameter(torch.zeros(5)) for _ in range(2))
    optimizer = make([{"params": [still], "noise_variance": 0.0}, {"params": [moving]}], 1.0)
    still.grad, moving.grad = torch.zeros(5), torch.zeros(5)
    optimizer.step(num_data=10)
    assert not still.any()
    assert moving.all()


def test_a_parameter_without_a_gradient_stays(make):
    theta = torch.nn.Parameter(torch.ones(5))
    make([theta], 1.0).step(num_data=10)
    assert torch.equal(theta, torch.ones(5))


def test_a_saved_state_goes_on_to_the_bit(make):
    grads = gradients(20)

    def begin():
        theta, generator = torch.nn.Parameter(torch.zeros(4, 3)), seeded()
        return theta, generator, make([theta], 1.0, generator=generator)

    theta, _, optimizer = begin()
    whole = walk(optimizer, theta, grads).copy()
    first, generator, optimizer = begin()
    walk(optimizer, first, grads[:10])
    second, other, resumed = begin()
    second.data.copy_(first.data)
    other.set_state(generator.get_state())
    resumed.load_state_dict(optimizer.state_dict())
    np.testing.assert_array_equal(walk(resumed, second, grads[10:]), whole)


def test_schedulers_and_closures(make):
    theta = torch.nn.Parameter(torch.ones(3))
    optimizer = make([theta], 0.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1.0 if k == 0 else 0.0)

    def closure():
        optimizer.zero_grad()
        loss = theta.square().sum()
        loss.backward()
        return loss

    assert optimizer.step(closure, num_data=10).item() == 3
    scheduler.step()
    moved = theta.detach().clone()
    assert not torch.equal(moved, torch.ones(3))
    optimizer.step(closure, num_data=10)
    assert torch.equal(theta, moved)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dtypes_are_kept(make, dtype):
    theta = torch.nn.Parameter(torch.zeros(3, dtype=dtype))
    theta.grad = torch.ones(3, dtype=dtype)
    make([theta], 1.0).step(num_data=10)
    assert theta.dtype == dtype
    assert torch.isfinite(theta).all()


def test_mistakes(make):
    theta = torch.nn.Parameter(torch.zeros(3))
    with pytest.raises(langevin_dqn.UserError, match=r"noise_variance=-1\.0 must not be negative\nhint:"):
        make([theta], -1.0)
    with pytest.raises(langevin_dqn.UserError, match=r"lr=-1\.0 must not be negative"):
        make([{"params": [theta], "lr": -1.0}], 1.0)
    optimizer = make([theta], 1.0)
    with pytest.raises(TypeError, match="num_data"):
        optimizer.step()
    with pytest.raises(langevin_dqn.UserError, match="num_data=0 must be at least 1"):
        optimizer.step(num_data=0)
    theta.grad = torch.zeros(3).to_sparse()
    with pytest.raises(langevin_dqn.UserError, match="sparse"):
        optimizer.step(num_data=10)


def test_without_torch_the_import_has_a_hint(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "langevin_dqn.torch")
    with pytest.raises(ModuleNotFoundError, match="torch is not installed\nhint: pip install"):
        importlib.import_module("langevin_dqn.torch")


def test_all_together_is_one_after_the_other(make):
    """The same noise in the same order: equal to rounding, over tensors of several shapes."""
    shapes = [(4, 3), (5,), (2, 2, 2)]
    ends = []
    for foreach in (False, True):
        thetas = [torch.nn.Parameter(torch.ones(shape)) for shape in shapes]
        optimizer = make(thetas, 0.5, foreach=foreach, generator=seeded())
        for step in range(5):
            for theta in thetas:
                theta.grad = torch.sin(theta.detach() + step)
            optimizer.step(num_data=50)
        ends.append([theta.detach().numpy() for theta in thetas])
    for one, other in zip(*ends, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-7)


def test_maximize_turns_the_gradient_around(make):
    ends = []
    for sign, maximize in ((1, True), (-1, False)):
        theta = torch.nn.Parameter(torch.ones(4, 3))
        ends.append(walk(make([theta], 0.5, maximize=maximize, generator=seeded()), theta, sign * gradients(5)))
    np.testing.assert_array_equal(*ends)


def test_a_state_from_before_has_neither(make):
    theta = torch.nn.Parameter(torch.ones(2))
    optimizer = make([theta], 0.5)
    old = optimizer.state_dict()
    for group in old["param_groups"]:
        del group["maximize"], group["foreach"]
    optimizer.load_state_dict(old)
    theta.grad = torch.ones(2)
    optimizer.step(num_data=5)


def test_the_package_brings_it():
    """``import langevin_dqn`` alone, as the README writes it, in a process of its own."""
    import subprocess

    code = "import langevin_dqn; print(langevin_dqn.torch.LangevinAdam.__name__)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "LangevinAdam"
