"""Run extreme settings: each run must work, be rejected, or end with a reason, and have no number that is not finite.

Noise, learning rates and other numbers from 1e-30 to 1e39, rewards from 1e-6 to 1e6 with and without a scale of values
that grows, buffers and minibatches of one transition, one member and 100, discounts of 0 and 1. Each case is a short
run. It works if it makes all its episodes, with finite returns, parameters and numbers. It ends with a reason if
``Result.diverged`` gives one; such a run does not count as solved. Prints a table; exit code 1 if a case does neither.

    python tools/extremes.py
    python tools/extremes.py --only rewards
"""

import json
import math
import sys
from dataclasses import dataclass
from typing import Any, NamedTuple

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

SMALL = {"hidden": (8,), "batch_size": 8, "buffer_size": 1000}
EPISODES = 60
EXTREME = {
    "noise_variance": (1e-30, 1e-6, 1.0, 1e6, 1e12, 1e18, 1e39),
    "learning_rate": (0.0, 1e-30, 1.0, 1e6, 1e12, 1e18, 1e39),
    "discount": (0.0, 1.0),
    "target_period": (1, 10**6),
    "adam_eps": (0.0, 1e-30, 1e18),
    "adam_b1": (0.0, 0.999999),
    "adam_b2": (0.0, 0.999999),
    "regularizer": (1e-30, 1e12, 1e18),
    "loss_scale": (0.0, 1e-30, 1e12, 1e18),
    "updates_per_step": (0, 20),
    "epsilon": (1.0,),
}
REWARDS = (1e-6, 1e-3, 1.0, 1e3, 1e6)


@dataclass
class Args:
    """Run extreme settings."""

    only: str = ""
    """Run only the groups whose name contains this text."""


class Case(NamedTuple):
    """A run, and the group that it is shown with."""

    group: str
    agent: str
    env: str
    changes: dict[str, Any]
    shown: str


def cases() -> list[Case]:
    found = []
    base = {"noise_variance": 1e-4, "regularizer": 1e-3}
    learners = {
        "numbers, dense": {"row_updates": "dense"},
        "numbers, lazy rows": {"row_updates": "lazy", "regularizer": 0.0},
        "numbers, SGD": {"optimizer": "sgd", "row_updates": "dense"},
    }
    for group, learner in learners.items():
        for name, values in EXTREME.items():
            for value in values:
                changes = SMALL | base | learner | {name: value}
                found.append(Case(group, "langevin_dqn", "deep_sea:depth=4", changes, f"{name}={value:g}"))
    for scaling in ("fixed", "grow"):
        for env in ("bandit_scale", "catch_scale"):
            for scale in REWARDS:
                ids, shown = f"{env}:reward_scale={scale!r}", f"{env}, rewards × {scale:g}"
                changes = SMALL | {"members": 3, "value_scaling": scaling, "noise_variance": 1e-4}
                found.append(Case(f"rewards, value_scaling={scaling}", "ensemble_langevin_dqn", ids, changes, shown))
    sizes = [
        {"buffer_size": 1, "batch_size": 1},
        {"buffer_size": 1, "batch_size": 8},
        {"batch_size": 1},
        {"buffer_size": 8, "batch_size": 8},
        {"buffer_size": 1, "batch_size": 1, "min_replay_size": 2},
        {"members": 1},
        {"members": 100},
        {"members": 1001},
        {"hidden": (1,)},
    ]
    for size in sizes:
        shown = ", ".join(f"{name}={value}" for name, value in size.items())
        changes = SMALL | {"members": 2} | size
        found.append(Case("sizes", "ensemble_langevin_dqn", "deep_sea:depth=4", changes, shown))
    return found


def outcome(case: Case) -> tuple[str, bool]:
    """What a run did, and whether that is all right."""
    from langevin_dqn import UserError, train

    try:
        result = train(case.agent, case.env, episodes=EPISODES, preset="recommended", keep_agent=True, **case.changes)
    except UserError as error:
        return f"refused: {error.message}; {error.hint}", True
    if result.diverged:
        text = f"ended at episode {result.episodes}: {result.diverged}"
        return text, not result.solved
    wrong = problems(result)
    return ("works" if not wrong else f"WRONG: {', '.join(wrong)}"), not wrong


def problems(result) -> list[str]:
    """What is wrong with a run that counts."""
    import jax
    import numpy as np

    wrong = [] if result.episodes == EPISODES else [f"{result.episodes} episodes"]
    wrong += [] if np.isfinite(result.returns).all() else ["returns"]
    leaves = jax.tree_util.tree_leaves_with_path(result.trained.state)
    wrong += [
        jax.tree_util.keystr(path)
        for path, leaf in leaves
        if jax.numpy.issubdtype(leaf.dtype, jax.numpy.floating) and not np.isfinite(np.asarray(leaf)).all()
    ]
    try:
        json.dumps(result.to_dict(), allow_nan=False)
    except ValueError:
        wrong.append("a number of the summary")
    return wrong + ([] if math.isfinite(result.total_return) else ["the total return"])


def main(args: Args) -> int:
    machine.prepare()
    failed, group = 0, None
    print("| setting | outcome |\n|---|---|", flush=True)
    for case in cases():
        if args.only not in case.group:
            continue
        if case.group != group:
            group = case.group
            print(f"| **{group}** | |")
        words, good = outcome(case)
        failed += not good
        print(f"| {case.shown} | {words} |", flush=True)
    print(f"{failed} cases are wrong")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
