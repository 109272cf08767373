"""Figure 4: uncertainty moving backward in time in the four-state MDP, computed and not trained."""

import functools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from langevin_dqn.insight.four_states import DOWN, HORIZON, UNCERTAIN, UP, FourStates, Spread, posterior, spread
from langevin_dqn.paper.claims import FAILS, HOLDS, Claim, Finding
from langevin_dqn.paper.figure import Figure, FigureReport
from langevin_dqn.plots import four_states
from langevin_dqn.runs.result import Result

#: The example of docs/notes/four_states.md: one datum of (4, down), 1,000 of every other pair.
PROBLEM = FourStates()
CHAINS = 200

#: Standard errors by which one variance has to exceed another.
_ERRORS = 3.0
#: How far the sampled variance of the uncertain pair may be from the posterior's.
WITHIN = 0.2


@functools.cache
def spreads() -> dict[str, Spread]:
    """The posterior of Q* and the stationary distribution of eq. (8); both with fixed seeds, in seconds."""
    import jax

    from langevin_dqn import prng
    from langevin_dqn.insight import tabular_langevin

    key = jax.random.key(0, impl=prng.PRNG)
    return {
        "posterior": posterior(PROBLEM),
        "Langevin": spread(tabular_langevin.sample(key, PROBLEM, chains=CHAINS)),
    }


def _above(found: Spread, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether one cell's variance exceeds another's by more than chance."""
    gap = found.variance[first] - found.variance[second]
    return bool(gap > _ERRORS * np.hypot(found.standard_error[first], found.standard_error[second]))


def moves_backward(_: Sequence[Result]) -> Finding:
    """At every h the uncertain pair first; at h = 4 then (3, down) and (4, up); at h = 0 (1, up) too."""
    wrong = []
    for name, found in spreads().items():
        cells = list(np.ndindex(found.variance.shape[1:]))
        for h in range(HORIZON):
            rest = [cell for cell in cells if cell != UNCERTAIN]
            wrong += [f"{name} h={h} {cell}" for cell in rest if not _above(found, (h, *UNCERTAIN), (h, *cell))]
        reached = [(2, DOWN), (3, UP)]
        for cell in cells:
            if cell not in (UNCERTAIN, *reached):
                wrong += [f"{name} h=4 {cell}" for pair in reached if not _above(found, (4, *pair), (4, *cell))]
        if not _above(found, (0, 0, UP), (HORIZON - 1, 0, UP)):
            wrong.append(f"{name} h=0 (1, up)")
    first = {name: float(found.variance[0, 0, UP]) for name, found in spreads().items()}
    words = "variance of Q at h = 0 for (1, up): " + ", ".join(f"{name} {value:.3f}" for name, value in first.items())
    floor = 1 / PROBLEM.many
    order = f"violated at {'; '.join(wrong)}" if wrong else "as claimed"
    words += f" (its own data leave {floor:.3f}); order {order}"
    test = f"every order by more than {_ERRORS:g} standard errors"
    return Finding(FAILS if wrong else HOLDS, words, {"variance_1_up": first, "wrong": wrong}, test)


def tracks_posterior(_: Sequence[Result]) -> Finding:
    exact, sampled = spreads()["posterior"], spreads()["Langevin"]
    ratios = [float(sampled.variance[h, *UNCERTAIN] / exact.variance[h, *UNCERTAIN]) for h in range(HORIZON)]
    errors = [
        float(
            ratios[h]
            * np.hypot(*(s.standard_error[h, *UNCERTAIN] / s.variance[h, *UNCERTAIN] for s in (exact, sampled)))
        )
        for h in range(HORIZON)
    ]
    fine = all(abs(ratio - 1) <= WITHIN for ratio in ratios)
    values = ", ".join(f"{ratio:.2f} ± {error:.2f}" for ratio, error in zip(ratios, errors, strict=True))
    words = f"sampled over exact variance of (4, down), h = 0 to 5: {values}"
    return Finding(HOLDS if fine else FAILS, words, {"ratios": ratios}, f"every ratio within {WITHIN:.0%} of 1")


def draw(_: FigureReport, path: Path, caption: str) -> Path:
    panels = {
        "exact posterior of Q*": spreads()["posterior"].variance,
        "Langevin estimates (eq. 8)": spreads()["Langevin"].variance,
    }
    return four_states.triangles(PROBLEM, panels, path, caption)


def describe(_: FigureReport) -> str:
    parts = []
    for name, found in spreads().items():
        values = ", ".join(f"{found.variance[h, *UNCERTAIN]:.2f}" for h in range(HORIZON))
        parts.append(
            f"{name}: variance of (4, down) at h = 0 to 5: {values}; "
            f"of (1, up) at h = 0: {found.variance[0, 0, UP]:.3f}."
        )
    return "Two triangles for each state and time, up and down, darker where Q is less certain. " + " ".join(parts)


FIGURE = Figure(
    id="fig4",
    label="Figure 4",
    title="Four states: uncertainty moves backward in time",
    claims=(
        Claim(
            "backward",
            "Uncertainty about (4, down) moves backward: to (3, down) and (4, up) at h = 4, and to (1, up) at h = 0.",
            moves_backward,
        ),
        Claim(
            "tracks",
            "The variance of the Langevin estimate follows the posterior's for the uncertain pair.",
            tracks_posterior,
        ),
    ),
    note=f"Computed, not trained: the exact posterior, and {CHAINS} chains of equation (8). Rows are states, columns "
    f"periods, the two triangles the actions up and down; one datum of (4, down), {PROBLEM.many:,} of every other "
    "pair. Dotted: plausible transitions; dashed: the observed one of (4, down). docs/notes/four_states.md reports "
    "every variance.",
    draw=draw,
    describe=describe,
)
