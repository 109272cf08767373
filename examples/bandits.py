"""Langevin DQN compared with exact Thompson sampling, ε-greedy and UCB, in three kinds of bandits.

Every seed has its own means, drawn from the prior. For Gaussian and linear arms, the exact
posterior is known; Langevin DQN samples it by its updates. For the neural bandit it is not
known: there Langevin DQN is compared with DQN, with ε-greedy and with greedy actions.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from langevin_dqn import machine

EPSILON = 0.1
BAND = "mean over seeds, standard error as a band"

#: The neural bandit's agents by name, and what they change. They learn alike, but for how they explore. A weight's
#: prior has variance 1/50, that of 50 units at the start. The rewards' own variance, 0.09, explores for too long.
NEURAL: dict[str, tuple[str, dict[str, Any]]] = {
    "langevin_dqn": ("langevin_dqn", {"noise_variance": 0.001, "regularizer": 25.0}),
    "dqn": ("dqn", {"epsilon": EPSILON}),
    "dqn_greedy": ("dqn", {"epsilon": 0.0}),
}
NEURAL_COMMON: dict[str, Any] = {
    "learning_rate": 1e-3,
    "loss_scale": 0.5,
    "negative_slope": 0.1,
    "updates_per_step": 2,
}


@dataclass
class Args:
    """Compare regrets in bandits of Gaussian arms, linear arms and neural contexts."""

    arms: int = 10
    """Number of arms of the Gaussian bandit."""
    steps: int = 2000
    """Steps per seed."""
    seeds: int = 50
    """Seeds for the Gaussian bandit; with 0, it is left out."""
    other_seeds: int = 10
    """Seeds for the linear and the neural bandit; with 0, they are left out."""
    plot: Path | None = None
    """File for the picture of the Gaussian bandit; that of the other two has _others in its name."""
    quick: tyro.conf.FlagCreatePairsOff[bool] = False
    """Run a smaller version, with the Gaussian bandit only."""


def known(family: str, seeds: int, steps: int, updates_per_step: int) -> dict[str, np.ndarray]:
    """The regret of each pull where the posterior is known, by agent: (seeds, steps)."""
    from langevin_dqn import make_env
    from langevin_dqn.insight import bandit_agents, bandits

    ids = bandit_agents.seeds_of(family, seeds)
    made: list[Any] = [make_env(env_id) for env_id in ids]
    changes = [bandit_agents.posterior_settings(bandit, updates_per_step) for bandit in made]
    rules = {"thompson": bandits.thompson(), "epsilon_greedy": bandits.epsilon_greedy(EPSILON), "ucb": bandits.ucb()}
    regrets = {"langevin_dqn": bandit_agents.agent_regrets("langevin_dqn", ids, steps, changes)}
    return regrets | {name: bandits.regrets(rule, made, steps) for name, rule in rules.items()}


def neural(seeds: int, steps: int) -> dict[str, np.ndarray]:
    from langevin_dqn.insight import bandit_agents

    ids = bandit_agents.seeds_of("contextual_bandit", seeds)
    return {
        name: bandit_agents.agent_regrets(agent, ids, steps, [NEURAL_COMMON | own] * seeds)
        for name, (agent, own) in NEURAL.items()
    }


def show(title: str, regrets: dict[str, np.ndarray], reference: str, seconds: float) -> None:
    """Regret of each agent, and its ratio to the reference over the same bandits."""
    from rich.console import Console
    from rich.table import Table

    from langevin_dqn.insight.bandit_agents import ratio_interval

    seeds, steps = next(iter(regrets.values())).shape
    table = Table(title=f"{title}: regret after {steps:,} steps, {seeds} seeds ({seconds:.0f} s)")
    for column in ("agent", "mean", "standard error", f"ratio to {reference}", "95% interval"):
        table.add_column(column, justify="left" if column == "agent" else "right")
    totals = {name: values.sum(axis=1, dtype=np.float64) for name, values in regrets.items()}
    for name, total in totals.items():
        ratio, low, high = ratio_interval(total, totals[reference])
        error = total.std(ddof=1) / np.sqrt(seeds)
        table.add_row(name, f"{total.mean():.1f}", f"{error:.1f}", f"{ratio:.2f}", f"{low:.2f} to {high:.2f}")
    Console().print(table)


def main(args: Args) -> None:
    machine.prepare()
    if args.quick:
        args.steps, args.seeds, args.other_seeds = 100, 3, 0
    if args.plot:
        args.plot.parent.mkdir(parents=True, exist_ok=True)
    if args.seeds:
        gaussian_arms(args)
    if args.other_seeds:
        other_bandits(args)


def gaussian_arms(args: Args) -> None:
    from langevin_dqn.plots.bandit_regret import regret_curves

    began = time.perf_counter()
    regrets = known(f"bandit:arms={args.arms}", args.seeds, args.steps, 50)
    show(f"{args.arms} Gaussian arms", regrets, "thompson", time.perf_counter() - began)
    if args.plot:
        caption = f"{args.arms} Gaussian arms, {args.seeds} seeds with means of their own; {BAND}"
        print(f"wrote {regret_curves({'': regrets}, args.plot, caption)}")


def other_bandits(args: Args) -> None:
    from langevin_dqn.plots.bandit_regret import regret_curves

    began = time.perf_counter()
    linear = known("linear_bandit", args.other_seeds, args.steps, 20)
    show("20 linear arms, 5 features", linear, "thompson", time.perf_counter() - began)
    began = time.perf_counter()
    contexts = neural(args.other_seeds, args.steps)
    show("5 neural arms, 8 features", contexts, "dqn", time.perf_counter() - began)
    if args.plot:
        panels = {"20 linear arms, 5 features": linear, "5 neural arms, 8 features": contexts}
        path = args.plot.with_name(f"{args.plot.stem}_others{args.plot.suffix}")
        print(f"wrote {regret_curves(panels, path, f'{args.other_seeds} seeds with means of their own; {BAND}')}")


if __name__ == "__main__":
    main(tyro.cli(Args))
