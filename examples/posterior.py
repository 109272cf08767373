"""Two posteriors sampled by Langevin SGD, which is gradient descent with noise in the updates.

Left, the two parameters of a line, for which the exact posterior is known; right, predictions of
a small network between and beyond its data.
"""

from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine

NOISE_VARIANCE = 0.04


@dataclass
class Args:
    """Sample two posteriors by Langevin SGD."""

    plot: Path = Path("out/posterior.png")
    """File for the picture."""
    seed: int = 0
    """Random seed of the chains."""


def fit_line(seed: int):
    """Langevin SGD on y = θ0 + θ1 x with ten examples; the draws, and the posterior's mean and covariance."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from langevin_dqn import polynomial_decay, sample_posterior

    rng = np.random.default_rng(3)
    x = np.stack([np.ones(10), rng.uniform(0, 2, 10)], axis=1).astype(np.float32)
    y = (x @ [0.5, -0.4] + rng.normal(0, np.sqrt(NOISE_VARIANCE), 10)).astype(np.float32)
    draws = sample_posterior(
        lambda params, example: 0.5 * (example[0] @ params - example[1]) ** 2,
        jnp.zeros(2),
        (x, y),
        key=jax.random.key(seed),
        num_samples=250,
        learning_rate=polynomial_decay(0.6, offset=100, power=1 / 3),
        noise_variance=NOISE_VARIANCE,
        negative_log_prior=lambda params: 0.5 * jnp.sum(params**2),
        batch_size=5,
        burn_in=1000,
        thinning=200,
        chains=8,
    )
    covariance = np.linalg.inv(x.T @ x / NOISE_VARIANCE + np.eye(2))
    return draws, covariance @ x.T @ y / NOISE_VARIANCE, covariance


def network(params, x):
    """One hidden layer of tanh units."""
    import jax.numpy as jnp

    return jnp.tanh(x * params["in"] + params["bias"]) @ params["out"]


def fit_network(seed: int):
    """Langevin gradient descent on a network with a gap in its data; the data, a grid, and the draws' values on it."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from langevin_dqn import sample_posterior

    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-2, -0.8, 20), rng.uniform(0.8, 2, 20)]).astype(np.float32)
    y = (np.sin(2 * x) + rng.normal(0, np.sqrt(NOISE_VARIANCE), 40)).astype(np.float32)
    units = 20

    def start(key):
        names = ("in", "bias", "out")
        return {name: jax.random.normal(k, (units,)) for name, k in zip(names, jax.random.split(key, 3), strict=True)}

    draws = sample_posterior(
        lambda params, example: 0.5 * (network(params, example[0]) - example[1]) ** 2,
        start,
        (x, y),
        key=jax.random.key(seed),
        num_samples=200,
        learning_rate=0.02,
        noise_variance=NOISE_VARIANCE,
        negative_log_prior=lambda params: sum(0.5 * jnp.sum(leaf**2) for leaf in jax.tree.leaves(params)),
        burn_in=20_000,
        thinning=200,
        chains=16,
    )
    grid = jnp.linspace(-3, 3, 121)
    values = jax.vmap(jax.vmap(lambda params: jax.vmap(lambda x: network(params, x))(grid)))(draws.params)
    return x, y, np.asarray(grid), np.asarray(values).reshape(-1, grid.size)


def draw(path: Path, line, net) -> None:
    import matplotlib
    import numpy as np

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    draws, mean, covariance = line
    with plt.rc_context({"font.size": 8, "axes.titlesize": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(5.5, 2.9), layout="constrained")
        points = draws.flat().reshape(-1, 2)
        left.plot(*points.T, ".", color="#D55E00", ms=2, alpha=0.35, mew=0, label="draws")
        angles = np.linspace(0, 2 * np.pi, 200)
        for share, dashes in ((0.5, "-"), (0.95, (0, (4, 2)))):
            radius = np.sqrt(-2 * np.log(1 - share))
            ring = mean[:, None] + radius * np.linalg.cholesky(covariance) @ [np.cos(angles), np.sin(angles)]
            left.plot(*ring, color="#000000", lw=1.1, ls=dashes, label=f"closed form, {share:.0%}")
        left.set(xlabel=r"offset $\theta_0$", ylabel=r"slope $\theta_1$", title="a line: Langevin SGD")
        left.set_ylim(top=0.3)  # room for the legend
        left.legend(frameon=False, fontsize=7, loc="upper right", markerscale=4)
        x, y, grid, values = net
        for share, alpha in ((0.95, 0.2), (0.5, 0.35)):
            low, high = np.quantile(values, (0.5 - share / 2, 0.5 + share / 2), axis=0)
            right.fill_between(grid, low, high, color="#0072B2", alpha=alpha, lw=0, label=f"{share:.0%} of the draws")
        right.plot(grid, np.median(values, axis=0), color="#0072B2", lw=1.2, label="median")
        right.plot(x, y, "o", color="#000000", ms=2.5, mew=0, label="data")
        right.set(xlabel="$x$", ylabel=r"$f_\theta(x)$", title="a network: Langevin gradient descent")
        right.legend(frameon=False, fontsize=7, loc="upper center")
        right.set_ylim(top=right.get_ylim()[1] + 1.8)  # room for the legend
        figure.supxlabel(
            f"left: 8 chains of 250 draws, batches of 5 of 10 examples, falling steps; "
            f"right: 16 chains of 200 draws, 40 examples. $\\sigma_w^2$ = {NOISE_VARIANCE:g}",
            size=6,
            color="0.35",
        )
        figure.savefig(path, dpi=200)
        plt.close(figure)


def main(args: Args) -> None:
    machine.prepare()
    import numpy as np

    from langevin_dqn.plots.style import check_path

    args.plot.parent.mkdir(parents=True, exist_ok=True)
    path = check_path(args.plot)
    line, net = fit_line(args.seed), fit_network(args.seed)
    draws, mean, covariance = line
    with np.printoptions(precision=4, suppress=True):
        print("posterior mean of the line:", mean, "drawn:", draws.mean())
        print("standard deviations:       ", np.sqrt(np.diag(covariance)), "drawn:", draws.flat().std((0, 1)))
    grid, values = net[2:]
    for x in (-1.5, 0.0, 3.0):
        print(f"network at x = {x:4}: standard deviation {values[:, np.argmin(abs(grid - x))].std():.2f}")
    draw(path, line, net)
    print(f"wrote {path}")


if __name__ == "__main__":
    main(tyro.cli(Args))
