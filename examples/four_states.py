"""The four states of Section 5: the posterior variance of Q* and the variance of the Langevin estimates."""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from langevin_dqn import machine


@dataclass
class Args:
    """Compute both variances in every cell and draw them as in Figure 4."""

    many: int = 1000
    """Data points for every state and action except (4, down), which has one."""
    next_state: int = 1
    """State to which (4, down) led, from 1 to 4."""
    chains: int = 200
    """Number of Langevin chains, equation (8)."""
    seed: int = 0
    """Random seed of the draws and the chains."""
    plot: Path | None = None
    """File for the picture; with a .png, a .pdf is written too."""
    quick: tyro.conf.FlagCreatePairsOff[bool] = False
    """Use fifty data points and 100 chains, which takes seconds instead of a minute."""


def main(args: Args) -> None:
    machine.prepare()
    import jax

    from langevin_dqn import prng
    from langevin_dqn.insight import tabular_langevin
    from langevin_dqn.insight.four_states import HORIZON, FourStates, posterior, spread
    from langevin_dqn.plots.four_states import triangles

    many, chains, draws = (50, 100, 50_000) if args.quick else (args.many, args.chains, 200_000)
    problem = FourStates(many=many, next_state=args.next_state)
    exact = posterior(problem, draws=draws, seed=args.seed)
    other = {
        "unknown transitions": posterior(problem, draws=draws, seed=args.seed, pseudo_count=0.25),
        "one reward for all h": posterior(problem, draws=draws, seed=args.seed, shared_reward=True),
    }
    started = time.perf_counter()
    key = jax.random.key(args.seed, impl=prng.PRNG)
    sampled = spread(tabular_langevin.sample(key, problem, chains=chains))
    print(f"{chains} chains: {time.perf_counter() - started:.0f} s", file=sys.stderr)

    print("| (4, down) at h | " + " | ".join(map(str, range(HORIZON))) + " |")
    print("|---" * (HORIZON + 1) + "|")
    rows = {"posterior": exact, "Langevin": sampled, **other}
    for name, found in rows.items():
        cells = zip(found.variance[:, 3, 1], found.standard_error[:, 3, 1], strict=True)
        print(f"| {name} | " + " | ".join(f"{v:.3f} ± {e:.3f}" for v, e in cells) + " |")
    ratio = sampled.variance / exact.variance
    print("\n| Langevin / posterior at h | " + " | ".join(map(str, range(HORIZON))) + " |")
    print("|---" * (HORIZON + 1) + "|")
    for state in range(4):
        for action, word in enumerate(("up", "down")):
            cells = " | ".join(f"{r:.2f}" for r in ratio[:, state, action])
            print(f"| ({state + 1}, {word}) | {cells} |")
    if args.plot:
        args.plot.parent.mkdir(parents=True, exist_ok=True)
        step = tabular_langevin.default_step(problem)
        caption = (
            f"(4, down): 1 datum, to state {args.next_state}; others: {many}; σ² = 1; ε = {step:g}; {chains} chains"
        )
        panels = {"exact posterior of Q*": exact.variance, "Langevin estimates (eq. 8)": sampled.variance}
        for path in {args.plot, args.plot.with_suffix(".pdf")}:
            print(f"wrote {triangles(problem, panels, path, caption)}", file=sys.stderr)


if __name__ == "__main__":
    main(tyro.cli(Args))
