"""What a sampler returns: draws of a parameter tree, and how much they are worth."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import numpy as np

from langevin_dqn.errors import UserError


@dataclass(frozen=True, repr=False)
class Draws:
    """Draws of a tree of parameters. All weigh the same, with any schedule of step sizes.

    Attributes:
        params: the tree; every leaf has the axes (chain, draw) before its own.
        steps: updates made before each draw, of shape (draw,).
    """

    params: Any
    steps: np.ndarray

    def flat(self) -> np.ndarray:
        """All parameters side by side, as float64 of shape (chain, draw, parameter)."""
        leaves = [np.asarray(leaf, np.float64) for leaf in jax.tree.leaves(self.params)]
        return np.concatenate([leaf.reshape(*leaf.shape[:2], -1) for leaf in leaves], axis=-1)

    def mean(self) -> Any:
        """The posterior mean, as a tree of parameters."""
        return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64).mean((0, 1)), self.params)

    def covariance(self) -> np.ndarray:
        """The posterior covariance of ``flat``, over all chains."""
        draws = self.flat()
        return np.cov(draws.reshape(-1, draws.shape[-1]), rowvar=False, ddof=0).reshape(draws.shape[-1], -1)

    def effective_sample_size(self) -> Any:
        """Effective sample size of each parameter's mean (ArviZ's bulk ESS), as a tree."""
        return self._diagnose(_arviz().ess)

    def r_hat(self) -> Any:
        """How far apart chains are, as a tree: 1 where they agree, above 1.01 where they must run longer.

        It needs chains with different starting points: pass a function as ``params``.
        """
        return self._diagnose(_arviz().rhat)

    def summary(self) -> "Summary":
        """Mean, standard deviation, 90% interval, effective draws and R-hat of every parameter, with warnings."""
        names = [
            f"{jax.tree_util.keystr(path)}[{','.join(map(str, place))}]" if place else jax.tree_util.keystr(path)
            for path, leaf in jax.tree_util.tree_leaves_with_path(self.params)
            for place in np.ndindex(np.shape(leaf)[2:])
        ]
        draws = self.flat()
        low, high = np.quantile(draws, (0.05, 0.95), axis=(0, 1))
        worth, apart = (
            np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(found)])
            for found in (self.effective_sample_size(), self.r_hat())
        )
        columns = (draws.mean((0, 1)), draws.std((0, 1)), low, high, worth, apart)
        rows = [Row(name or "value", *map(float, row)) for name, *row in zip(names, *columns, strict=True)]
        return Summary(tuple(rows), _warnings(rows, chains=draws.shape[0]))

    def __repr__(self) -> str:
        chains, count, size = self.flat().shape
        return f"Draws({count} draws of {size} parameters in each of {chains} chains; see summary())"

    def _diagnose(self, function: Callable[..., Any]) -> Any:
        def diagnose(leaf):
            draws = np.asarray(leaf, np.float64)
            return np.asarray(function(draws, chain_axis=0, draw_axis=1))

        return jax.tree.map(diagnose, self.params)


class Row(NamedTuple):
    """What is known of one parameter."""

    name: str
    mean: float
    std: float
    low: float
    high: float
    effective_draws: float
    r_hat: float


@dataclass(frozen=True)
class Summary:
    """A table of parameters that prints as text.

    Attributes:
        rows: one per parameter.
        warnings: why the draws may not be trusted yet; empty if nothing speaks against them.
    """

    rows: tuple[Row, ...]
    warnings: tuple[str, ...]

    #: Parameters that are printed; all are in ``rows``.
    SHOWN: ClassVar[int] = 20

    def __str__(self) -> str:
        width = max(9, *(len(row.name) for row in self.rows[: self.SHOWN]))
        head = f"{'parameter':{width}}  {'mean':>10} {'std':>10} {'5%':>10} {'95%':>10} {'effective':>9} {'R-hat':>6}"
        lines = [
            f"{row.name:{width}}  {row.mean:10.4g} {row.std:10.4g} {row.low:10.4g} {row.high:10.4g} "
            f"{row.effective_draws:9.0f} {row.r_hat:6.3f}"
            for row in self.rows[: self.SHOWN]
        ]
        more = [f"... and {len(self.rows) - self.SHOWN} more"] if len(self.rows) > self.SHOWN else []
        return "\n".join([head, *lines, *more, *(f"warning: {warning}" for warning in self.warnings)])

    __repr__ = __str__


#: R-hat above which chains disagree, and effective draws per chain below which a mean is rough (Vehtari et al., 2021).
MOST_R_HAT = 1.01
LEAST_EFFECTIVE = 100


def _warnings(rows: list[Row], chains: int) -> tuple[str, ...]:
    found = []
    apart = [row for row in rows if not row.r_hat <= MOST_R_HAT]
    if apart and chains > 1:
        worst = max(row.r_hat for row in apart)
        found.append(
            f"chains disagree: R-hat above {MOST_R_HAT} for {len(apart)} of {len(rows)} parameters "
            f"(at most {worst:.3g}); run longer, or with a longer burn_in"
        )
    if chains == 1:
        found.append("convergence cannot be assessed from one chain; use several, with different starting points")
    few = [row for row in rows if not row.effective_draws >= LEAST_EFFECTIVE * chains]
    if few:
        least = min(row.effective_draws for row in few)
        found.append(
            f"few effective draws: below {LEAST_EFFECTIVE} per chain for {len(few)} of {len(rows)} parameters "
            f"(at least {least:.0f} in all); draw more, or increase thinning"
        )
    return tuple(found)


def _arviz() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what else could be installed
            from arviz_stats.base import array_stats
    except ImportError:
        raise UserError("arviz-stats is not installed", "pip install 'langevin-dqn[insight]'") from None
    return array_stats
