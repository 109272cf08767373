"""Repeat the runs that chose the recommended settings for families of environments: returns by setting.

    python tools/family_tries.py
    python tools/family_tries.py noise_1e-4 target_100 --env gymnax:Acrobot-v1

Their seeds are 101 to 108, and 200 to 231 for the random start (``greedy_start`` is without).
"""

import sys
from dataclasses import dataclass
from typing import Any

import tyro

from langevin_dqn import machine
from langevin_dqn.cli.arguments import refuse, script_options
from langevin_dqn.deeper.bsuite import PARTS
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.errors import unknown
from langevin_dqn.presets import RECOMMENDED

_PRIOR: dict[str, Any] = {"noise_variance": 1e-6, "prior_lifetime": 300.0, "prior_lifetime_growth": 0.1}
_BEFORE: dict[str, Any] = {"recent_fraction": 0.5}
_STILL: dict[str, Any] = {"prior_lifetime": 0.0, "prior_lifetime_growth": 0.0}
_NONE: dict[str, Any] = _STILL | {"prior_std": 0.0}

#: An agent, and what is changed from its recommended preset for the environment.
TRIES: dict[str, tuple[str, dict[str, Any]]] = {
    "as_recommended": ("langevin_dqn", {}),
    "greedy_start": ("langevin_dqn", {"epsilon": 0.0, "epsilon_decay_episodes": 0}),
    "half_recent": ("langevin_dqn", _BEFORE),
    "prior_0.5": ("langevin_dqn", _BEFORE | _PRIOR | {"prior_std": 0.5}),
    "prior_0.02": ("langevin_dqn", _BEFORE | _PRIOR | {"prior_std": 0.02}),
    "noise_1e-6": ("langevin_dqn", _BEFORE | {"noise_variance": 1e-6}),
    "noise_1e-4": ("langevin_dqn", {"noise_variance": 1e-4}),
    "noise_1e-3": ("langevin_dqn", {"noise_variance": 1e-3}),
    "target_20": ("langevin_dqn", {"target_period": 20}),
    "target_100": ("langevin_dqn", {"target_period": 100}),
    "target_500": ("langevin_dqn", {"target_period": 500}),
    "wide": ("langevin_dqn", {"target_period": 100, "hidden": (128, 128)}),
    "rate_5e-4": ("langevin_dqn", {"learning_rate": 5e-4}),
    "rate_1e-3": ("langevin_dqn", {"learning_rate": 1e-3}),
    "rate_1e-3_target_20": ("langevin_dqn", {"learning_rate": 1e-3, "target_period": 20}),
    "rate_5e-4_target_500": ("langevin_dqn", {"learning_rate": 5e-4, "target_period": 500}),
    "adam_eps_1e-4": ("langevin_dqn", {"adam_eps": 1e-4}),
    "between_episodes": ("langevin_dqn", {"update_timing": "between"}),
    "as_deep_sea": ("langevin_dqn", RECOMMENDED["langevin_dqn"] | {"update_timing": "between", "target_period": 4}),
    "noise_1e-5_one_update": ("langevin_dqn", {"noise_variance": 1e-5, "updates_per_step": 1}),
    "still_prior": ("langevin_dqn", _STILL),
    "still_prior_noise_1e-4": ("langevin_dqn", _STILL | {"noise_variance": 1e-4}),
    "no_prior": ("langevin_dqn", _NONE),
    "no_prior_noise_1e-4": ("langevin_dqn", _NONE | {"noise_variance": 1e-4}),
    "no_prior_noise_1e-5": ("langevin_dqn", _NONE | {"noise_variance": 1e-5}),
    "no_prior_nothing_recent": ("langevin_dqn", _NONE | {"noise_variance": 1e-5, "recent_fraction": 0.0}),
    "no_prior_rate_1e-2": ("langevin_dqn", _NONE | {"noise_variance": 2.5e-5, "learning_rate": 1e-2}),
    "no_prior_all_older": (
        "langevin_dqn",
        _NONE | {"noise_variance": 2.5e-5, "learning_rate": 1e-2, "recent_fraction": 0.0, "discount": 0.99},
    ),
    "prior_0.1": ("langevin_dqn", {"prior_std": 0.1}),
    "scale_of_returns": ("langevin_dqn", {"value_scaling": "grow"}),
    "ensemble": ("ensemble_langevin_dqn", {}),
    "ensemble_scale_of_returns": ("ensemble_langevin_dqn", {"value_scaling": "grow"}),
    "ensemble_fixed_scale": ("ensemble_langevin_dqn", {"value_scaling": "fixed"}),
    "ensemble_small_prior": ("ensemble_langevin_dqn", {"prior_std": 0.02, "recent_fraction": 0.0}),
    "ensemble_half_recent": ("ensemble_langevin_dqn", _BEFORE | {"members": 8, "prior_std": 0.005}),
    "ensemble_of_8": ("ensemble_langevin_dqn", {"members": 8, "prior_std": 0.005}),
    "ensemble_target_100": ("ensemble_langevin_dqn", {"target_period": 100}),
    "dqn": ("dqn", {}),
}
STEPS = {
    "gymnax:CartPole-v1": 100_000,
    "gymnax:Acrobot-v1": 50_000,
    "gymnax:MountainCar-v0": 60_000,
    "gymnax:FrozenLake-misc": 50_000,
}
#: Of bsuite: episodes, as in ``langevin-dqn reproduce deeper_bsuite``.
EPISODES = {
    f"{name}/{number}": episodes
    for name, (_, episodes) in PARTS.items()
    if "scale" not in SWEEPS[name].tags
    for number in range(len(SWEEPS[name].settings))
}


@dataclass
class Args:
    """Run some of the tries, or all, and print the mean return of each fifth of the episodes."""

    names: tyro.conf.Positional[tuple[str, ...]] = tuple(TRIES)
    """Names of the tries. Default: all."""
    env: tuple[str, ...] = tuple(STEPS)
    """Environments: those of the default, or bsuite ids such as catch/0."""
    seeds: tuple[int, ...] = (101, 102)
    """Random seeds."""
    steps: int | None = None
    """Steps of each run. Default: those that the settings were chosen with."""


def main(args: Args) -> int:
    for kind, names, known in (("try", args.names, TRIES), ("environment", args.env, {**STEPS, **EPISODES})):
        for name in names:
            if name not in known:
                return refuse(unknown(kind, name, known, "see python tools/family_tries.py --help"))
    machine.prepare()
    import numpy as np

    from langevin_dqn import train
    from langevin_dqn.paper.categories import scores_of

    print("| environment | try | seed | mean return by fifths of the episodes | last 20 | bsuite's score |")
    print("|---|---|---|---|---|---|")
    for env in args.env:
        for name in args.names:
            agent, changes = TRIES[name]
            for seed in args.seeds:
                budget = {"steps": args.steps or STEPS.get(env), "episodes": EPISODES.get(env)}
                result = train(agent, env, seed=seed, **budget, **changes)
                score = f"{scores_of([result])['score'].item():.2f}" if env in EPISODES else ""
                returns = result.returns
                fifths = ", ".join(f"{part.mean():.3g}" for part in np.array_split(returns, 5) if len(part))
                print(f"| {env} | {name} | {seed} | {fifths} | {returns[-20:].mean():.3g} | {score} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(script_options(Args, f"{__doc__}\n\nNAMES are {', '.join(TRIES)}.")))
