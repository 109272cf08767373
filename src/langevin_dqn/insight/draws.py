"""What a sampler returns: draws of a parameter tree, and how much they are worth."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from langevin_dqn.errors import UserError


@dataclass(frozen=True)
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
        """How many independent draws are worth as much for each parameter's mean (ArviZ's bulk ESS), as a tree."""
        return self._diagnose(_arviz().ess)

    def r_hat(self) -> Any:
        """How far apart chains are, as a tree: 1 where they agree, above 1.01 where they must run longer.

        It sees only what the chains have seen, so start them apart: pass a function as ``params``.
        """
        return self._diagnose(_arviz().rhat)

    def _diagnose(self, function: Callable[..., Any]) -> Any:
        def diagnose(leaf):
            draws = np.asarray(leaf, np.float64)
            return np.asarray(function(draws, chain_axis=0, draw_axis=1))

        return jax.tree.map(diagnose, self.params)


def _arviz() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about what else could be installed
            from arviz_stats.base import array_stats
    except ImportError:
        raise UserError("arviz-stats is not installed", "pip install 'langevin-dqn[insight]'") from None
    return array_stats
