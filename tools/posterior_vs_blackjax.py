"""Effective samples per second of Langevin SGD: ours beside BlackJAX's SGLD, on one posterior.

Linear regression with known noise. Both take the same steps: the same step size, minibatches
of the same size drawn with replacement, the same number of chains, burn-in and thinning, each
compiled into one program as its users would write it. They run in turn; compilation is left out.

    pip install blackjax arviz-stats
    python tools/posterior_vs_blackjax.py
"""

import json
import statistics
import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import refuse, script_options
from langevin_dqn.errors import UserError


@dataclass
class Args:
    """Effective samples per second, ours and BlackJAX's."""

    dimensions: tuple[int, ...] = (2, 20)
    """Parameters of each problem; ten examples for each."""
    chains: tuple[int, ...] = (4, 64)
    """Chains, side by side."""
    samples: int = 1000
    """Draws per chain."""
    thinning: int = 20
    """Steps per draw."""
    repeats: int = 7
    """Rounds; the median is reported."""
    out: Path = Path("out/posterior_vs_blackjax.json")
    """File for the measurements."""


def make_problem(dimension: int):
    """Data, noise variance, prior variance, posterior covariance, and α = 0.04 / h for the largest curvature h."""
    import numpy as np

    rng = np.random.default_rng(dimension)
    size, noise_variance, prior_variance = 10 * dimension, 0.5, 1.0
    x = rng.normal(size=(size, dimension))
    y = x @ rng.normal(size=dimension) + rng.normal(0, np.sqrt(noise_variance), size)
    precision = x.T @ x / noise_variance + np.eye(dimension) / prior_variance
    curvature = np.linalg.eigvalsh(precision)[-1] * noise_variance / size
    data = (x.astype(np.float32), y.astype(np.float32))
    return data, noise_variance, prior_variance, np.linalg.inv(precision), float(0.04 / curvature)


def ours(problem, args: Args, chains: int, batch_size: int):
    import jax
    import jax.numpy as jnp

    from langevin_dqn import sample_posterior

    data, noise_variance, prior_variance, _, rate = problem

    def loss(params, example):
        return 0.5 * (example[0] @ params - example[1]) ** 2

    def negative_log_prior(params):
        return 0.5 * jnp.sum(params**2) / prior_variance

    def run(seed: int):
        draws = sample_posterior(
            loss,
            jnp.zeros(data[0].shape[1]),
            data,
            key=jax.random.key(seed),
            num_samples=args.samples,
            learning_rate=rate,
            noise_variance=noise_variance,
            negative_log_prior=negative_log_prior,
            batch_size=batch_size,
            burn_in=args.samples,
            thinning=args.thinning,
            chains=chains,
        )
        return jax.block_until_ready(draws.params)

    return run


def blackjax_sgld(problem, args: Args, chains: int, batch_size: int):
    import blackjax
    import jax
    import jax.numpy as jnp
    from blackjax.sgmcmc.gradients import grad_estimator

    (x, y), noise_variance, prior_variance, _, rate = problem
    size, step_size = len(y), rate * noise_variance / len(y)
    x, y = jnp.asarray(x), jnp.asarray(y)
    gradient = grad_estimator(
        lambda params: -0.5 * jnp.sum(params**2) / prior_variance,
        lambda params, example: -0.5 * (example[0] @ params - example[1]) ** 2 / noise_variance,
        size,
    )
    sgld = blackjax.sgld(gradient)

    def chain(key, position):
        def step(position, key):
            batch_key, step_key = jax.random.split(key)
            rows = jax.random.randint(batch_key, (batch_size,), 0, size)
            return sgld.step(step_key, position, (x[rows], y[rows]), step_size), None

        def draw(position, key):
            position, _ = jax.lax.scan(step, position, jax.random.split(key, args.thinning))
            return position, position

        burn_in_key, key = jax.random.split(key)
        position, _ = jax.lax.scan(step, position, jax.random.split(burn_in_key, args.samples))
        return jax.lax.scan(draw, position, jax.random.split(key, args.samples))[1]

    program = jax.jit(jax.vmap(chain, in_axes=(0, None)))

    def run(seed: int):
        return jax.block_until_ready(program(jax.random.split(jax.random.key(seed), chains), jnp.zeros(x.shape[1])))

    return run


def measure(problem, args: Args, chains: int, batch_size: int) -> dict:
    """Both samplers in turn, ``repeats`` times; medians, and how far the covariance is from the closed form."""
    import numpy as np

    from langevin_dqn.insight.draws import Draws

    samplers = {
        "langevin_dqn": ours(problem, args, chains, batch_size),
        "blackjax": blackjax_sgld(problem, args, chains, batch_size),
    }
    for run in samplers.values():
        run(0)  # compiles
    seconds: dict[str, list] = {name: [] for name in samplers}
    effective: dict[str, list] = {name: [] for name in samplers}
    errors: dict[str, list] = {name: [] for name in samplers}
    for repeat in range(1, args.repeats + 1):
        for name, run in samplers.items():
            before = time.perf_counter()
            params = run(repeat)
            seconds[name].append(time.perf_counter() - before)
            draws = Draws(params, np.arange(args.samples))
            effective[name].append(float(np.min(draws.effective_sample_size())))
            covariance = problem[3]
            errors[name].append(np.linalg.norm(draws.covariance() - covariance) / np.linalg.norm(covariance))
    rows = {}
    for name in samplers:
        rates = [e / s for e, s in zip(effective[name], seconds[name], strict=True)]
        rows[name] = {
            "effective_samples": statistics.median(effective[name]),
            "seconds": statistics.median(seconds[name]),
            "effective_samples_per_second": statistics.median(rates),
            "quartiles": [float(q) for q in np.quantile(rates, (0.25, 0.75))],
            "covariance_error": statistics.median(errors[name]),
        }
    ratios = [b / a for a, b in zip(seconds["langevin_dqn"], seconds["blackjax"], strict=True)]
    return {**rows, "times_as_fast": statistics.median(ratios)}


def main(args: Args) -> int:
    if find_spec("blackjax") is None:
        return refuse(UserError("blackjax is not installed", "pip install 'langevin-dqn[bench]'"))
    machine.prepare()
    results = []
    print("| parameters | examples | batch | chains | sampler | effective samples | per second | quartiles | error |")
    print("|---|---|---|---|---|---|---|---|---|")
    for dimension in args.dimensions:
        problem = make_problem(dimension)
        size, batch_size = len(problem[0][1]), len(problem[0][1]) // 4
        for chains in args.chains:
            result = measure(problem, args, chains, batch_size)
            for name in ("langevin_dqn", "blackjax"):
                r = result[name]
                rate, (low, high) = r["effective_samples_per_second"], r["quartiles"]
                print(
                    f"| {dimension} | {size} | {batch_size} | {chains} | {name} | {r['effective_samples']:,.0f} "
                    f"| {rate:,.0f} | {low:,.0f}–{high:,.0f} | {r['covariance_error']:.3f} |",
                    flush=True,
                )
            results.append({"dimension": dimension, "chains": chains, "batch_size": batch_size, **result})
    args.out.parent.mkdir(parents=True, exist_ok=True)
    settings = {k: v for k, v in asdict(args).items() if k != "out"}
    text = json.dumps({"machine": machine.describe(), "settings": settings, "results": results}, indent=1)
    args.out.write_text(text + "\n", encoding="utf-8")
    print(text)
    ahead = all(
        r["langevin_dqn"]["effective_samples_per_second"] >= r["blackjax"]["effective_samples_per_second"]
        for r in results
    )
    return 0 if ahead else 1


if __name__ == "__main__":
    raise SystemExit(main(script_options(Args, __doc__)))
