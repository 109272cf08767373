"""The runs that chose the recommended settings for control: returns by setting, in gymnax's copies of classic control.

    python tools/family_tries.py
    python tools/family_tries.py no_prior_1e-5 --env gymnax:Acrobot-v1

Their seeds are 101 to 103.
"""

import sys
from dataclasses import dataclass
from typing import Any

import tyro

from langevin_dqn import machine

_NO_PRIOR: dict[str, Any] = {"prior_std": 0.0, "prior_lifetime": 0.0}
_PRIOR: dict[str, Any] = {"noise_variance": 1e-6, "prior_lifetime": 300.0, "prior_lifetime_growth": 0.1}
_ENSEMBLE: dict[str, Any] = {"members": 8}

#: An agent, and what is changed from its recommended preset for control.
TRIES: dict[str, tuple[str, dict[str, Any]]] = {
    "prior_0.5_target_100": ("langevin_dqn", _PRIOR | {"prior_std": 0.5, "target_period": 100}),
    "prior_0.5": ("langevin_dqn", _PRIOR | {"prior_std": 0.5}),
    "prior_0.02": ("langevin_dqn", _PRIOR | {"prior_std": 0.02}),
    "no_prior_1e-6": ("langevin_dqn", _NO_PRIOR | {"noise_variance": 1e-6}),
    "no_prior_1e-5": ("langevin_dqn", _NO_PRIOR | {"noise_variance": 1e-5}),
    "no_prior_1e-4": ("langevin_dqn", _NO_PRIOR | {"noise_variance": 1e-4}),
    "no_prior_1e-3": ("langevin_dqn", _NO_PRIOR | {"noise_variance": 1e-3}),
    "ensemble_0.02_1e-4": ("ensemble_langevin_dqn", _ENSEMBLE | {"prior_std": 0.02, "noise_variance": 1e-4}),
    "ensemble_0.02_1e-5": ("ensemble_langevin_dqn", _ENSEMBLE | {"prior_std": 0.02, "noise_variance": 1e-5}),
    "ensemble_0.005_1e-5": ("ensemble_langevin_dqn", _ENSEMBLE | {"prior_std": 0.005, "noise_variance": 1e-5}),
    "dqn": ("dqn", {}),
}
STEPS = {"gymnax:CartPole-v1": 40_000, "gymnax:Acrobot-v1": 30_000, "gymnax:MountainCar-v0": 60_000}


@dataclass
class Args:
    """Run some of the tries, or all, and print the mean return of each fifth of the episodes."""

    names: tyro.conf.Positional[tuple[str, ...]] = tuple(TRIES)
    """Which."""
    env: tuple[str, ...] = tuple(STEPS)
    """In which environments."""
    seeds: tuple[int, ...] = (101, 102)
    """With which seeds."""


def main(args: Args) -> int:
    unknown = [name for name in (*args.names, *args.env) if name not in TRIES and name not in STEPS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join((*TRIES, *STEPS))}", file=sys.stderr)
        return 2
    machine.prepare()
    import numpy as np

    from langevin_dqn import train

    print("| environment | try | seed | mean return by fifths of the episodes | last 20 |\n|---|---|---|---|---|")
    for env in args.env:
        for name in args.names:
            agent, changes = TRIES[name]
            for seed in args.seeds:
                returns = train(agent, env, seed=seed, steps=STEPS[env], **changes).returns
                fifths = ", ".join(f"{part.mean():.0f}" for part in np.array_split(returns, 5) if len(part))
                print(f"| {env} | {name} | {seed} | {fifths} | {returns[-20:].mean():.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Args)))
