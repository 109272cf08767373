"""Repeat the runs that chose the recommended presets: settings that were tried, and when each seed learned.

    python tools/deeper_tries.py --list
    python tools/deeper_tries.py window_300 batch_64

``docs/going_deeper.md`` reports them. Their seeds are below 1000; the figures' seeds are above.
"""

import sys
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from langevin_dqn import machine
from langevin_dqn.cli.arguments import refuse, script_options
from langevin_dqn.errors import unknown

_ENSEMBLE: dict[str, Any] = {
    "members": 20, "prior_scale": 0.0, "prior_std": 0.5, "recent_fraction": 0.5, "recent_window": 1000,
}  # fmt: skip
_SMALL = _ENSEMBLE | {"batch_size": 64}
_CHAIN: dict[str, Any] = {
    "noise_variance": 1e-6, "regularizer": 0.0, "negative_slope": 0.0, "learning_rate": 1e-3, "recent_fraction": 0.5,
    "recent_window": 1000, "updates_per_step": 5, "batch_size": 64, "prior_std": 0.5,
}  # fmt: skip


@dataclass(frozen=True)
class Try:
    """One setting, changed from a preset, and the runs that tried it."""

    agent: str
    depth: int
    seeds: tuple[int, ...]
    budget: int
    changes: dict[str, Any]
    preset: str = "paper"

    def mapping(self, seed: int) -> int:
        """The seed of the sea's action mapping."""
        return seed if self.preset == "recommended" else seed * 7919 % 1000 + 1


def _ensemble(**changes: Any) -> Try:
    return Try("ensemble_langevin_dqn", 30, (101, 102), 1500, changes)


def _chain(depth: int = 20, lifetime: int = 100, **changes: Any) -> Try:
    """``lifetime`` is in episodes, all of which have ``depth`` steps."""
    changes = _CHAIN | changes | {"prior_lifetime": float(lifetime * depth)}
    return Try("langevin_dqn", depth, (101, 102, 103, 104), 1000 if depth == 10 else 2000, changes)


def _one_chain(**changes: Any) -> Try:
    """Langevin DQN as recommended, at depth 10."""
    return Try("langevin_dqn", 10, (101, 102, 103, 104, 105, 106), 1000, changes, "recommended")


TRIES = {
    "batch_128": _ensemble(**_ENSEMBLE),
    "batch_128_members_16": _ensemble(**_ENSEMBLE | {"members": 16}),
    "batch_128_members_12": _ensemble(**_ENSEMBLE | {"members": 12}),
    "batch_128_std_0.25": _ensemble(**_ENSEMBLE | {"prior_std": 0.25}),
    "batch_64": _ensemble(**_SMALL),
    "batch_32": _ensemble(**_SMALL | {"batch_size": 32}),
    "members_16": _ensemble(**_SMALL | {"members": 16}),
    "members_10": _ensemble(**_SMALL | {"members": 10}),
    "window_300": _ensemble(**_SMALL | {"recent_window": 300}),
    "recent_three_quarters": _ensemble(**_SMALL | {"recent_fraction": 0.75}),
    "no_noise": _ensemble(**_SMALL | {"noise_variance": 0.0}),
    "std_0.25": _ensemble(**_SMALL | {"prior_std": 0.25}),
    "std_1": _ensemble(**_SMALL | {"prior_std": 1.0}),
    "learning_rate_2e-3": _ensemble(**_SMALL | {"learning_rate": 2e-3}),
    "hidden_32": _ensemble(**_SMALL | {"hidden": (32, 32)}),
    **{
        f"chain_{depth}_std_{std}_lifetime_{lifetime}": _chain(depth, lifetime, prior_std=std)
        for depth in (10, 20)
        for std in (0.2, 0.5)
        for lifetime in (30, 100, 300)
    },
    "chain_3_networks": _chain(prior_networks=3),
    "chain_32_networks": _chain(prior_networks=32),
    "chain_20_updates": _chain(prior_std=0.2, updates_per_step=20),
    "chain_learning_rate_3e-3": _chain(prior_std=0.2, learning_rate=3e-3),
    "one_chain": _one_chain(),
    "one_chain_learning_rate_3e-3": _one_chain(learning_rate=3e-3),
    "one_chain_learning_rate_1e-2": _one_chain(learning_rate=1e-2),
    "one_chain_learning_rate_3e-3_leaky": _one_chain(learning_rate=3e-3, negative_slope=0.1),
    "one_chain_learning_rate_3e-3_lifetime_100": _one_chain(learning_rate=3e-3, prior_lifetime=100.0),
    "one_chain_noise_1e-4": _one_chain(noise_variance=1e-4),
    "one_chain_no_noise": _one_chain(noise_variance=0.0),
    "one_chain_lifetime_100": _one_chain(prior_lifetime=100.0),
    "one_chain_lifetime_50": _one_chain(prior_lifetime=50.0),
    "one_chain_lifetime_100_growth_0.05": _one_chain(prior_lifetime=100.0, prior_lifetime_growth=0.05),
    "one_chain_std_1_lifetime_100": _one_chain(prior_std=1.0, prior_lifetime=100.0),
    "one_chain_32_networks": _one_chain(prior_networks=32),
    "one_chain_target_period_1": _one_chain(target_period=1),
    "one_chain_window_300": _one_chain(recent_window=300),
}


@dataclass
class Args:
    """Run tries, and print when each seed learned."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Names of the tries, as --list shows them. Without names, they are listed."""
    list: Annotated[bool, tyro.conf.arg(name="list")] = False
    """Show the names, and run nothing."""


def main(args: Args) -> int:
    for name in args.names:
        if name not in TRIES:
            return refuse(unknown("try", name, TRIES, "see python tools/deeper_tries.py --list"))
    if args.list or not args.names:
        print("\n".join(TRIES))
        return 0
    machine.prepare()
    from langevin_dqn import train

    print("| try | depth | learned at, by seed |\n|---|---|---|")
    for name in args.names:
        one, times = TRIES[name], []
        for seed in one.seeds:
            env = f"deep_sea:depth={one.depth},mapping_seed={one.mapping(seed)}"
            result = train(
                one.agent, env, seed=seed, episodes=one.budget, preset=one.preset, stop_when_solved=True, **one.changes
            )
            times.append(str(result.learning_time or "never"))
        print(f"| {name} | {one.depth} | {', '.join(times)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(script_options(Args, f"{__doc__}\n\nNAMES are {', '.join(TRIES)}.")))
