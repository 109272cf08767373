"""Make the two polynomial tables of ``langevin_dqn.prng`` and compare them with what is there.

    python tools/fit_normal.py

Prints the coefficients and their largest errors; it changes no file.
"""

import argparse

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial, polynomial
from scipy.special import ndtri

from langevin_dqn import prng
from langevin_dqn.cli.arguments import filled

LOG_DEGREE, RATIO_DEGREE = 7, 12
Fit = tuple[np.ndarray, np.ndarray, np.ndarray]  # coefficients, points, exact values


def log_table() -> Fit:
    """log(1 + f) / f on [sqrt(1/2) - 1, sqrt(2) - 1], by least squares."""
    f = np.linspace(np.sqrt(0.5) - 1, np.sqrt(2) - 1, 4000)
    exact = np.log1p(f) / f
    return Chebyshev.fit(f, exact, LOG_DEGREE).convert(kind=Polynomial).coef, f, exact


def ratio_table(rounds: int = 60) -> Fit:
    """z / x in sqrt(w) - 2, 0 <= w = -log(1 - x^2) <= 16: weights grow with the relative error (Lawson)."""
    t = -2 * np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)
    w = (t + 2) ** 2
    x = np.sqrt(-np.expm1(-w))
    exact = -ndtri(np.exp(-w) / (1 + x) / 2) / x  # the tail (1 - x) / 2, without cancellation
    weight = np.ones_like(t)
    for _ in range(rounds):
        fit = Chebyshev.fit(t, exact, RATIO_DEGREE, domain=[-2, 2], w=np.sqrt(weight) / exact)
        weight *= np.abs(fit(t) / exact - 1)
        weight /= weight.mean()
    return fit.convert(kind=Polynomial).coef, t, exact


def main() -> None:
    for name, (fitted, points, exact), table in (
        ("_LOG", log_table(), np.array(prng._LOG)),
        ("_RATIO", ratio_table(), np.array(prng._RATIO)),
    ):
        print(f"{name} = (", *(f"    {c!r}," for c in fitted.tolist()), ")", sep="\n")
        here, there = (np.abs(polynomial.polyval(points, c) / exact - 1).max() for c in (fitted, table))
        apart = np.abs(polynomial.polyval(points, fitted - table) / exact).max()
        print(f"largest relative error {here:.2e}; of that in prng.py {there:.2e}; largest difference {apart:.1e}\n")


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=filled(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    main()
