"""Tables 1 and 2 of the paper as data, in two variants.

``paper`` is what the text and its tables say; ``released`` is what the authors' published
code does, which differs in ways that change results. ``docs/deviations.md`` lists each
difference with its measured effect.
"""

from typing import Any

from langevin_dqn.config import AgentConfig
from langevin_dqn.errors import unknown

#: What the tables give per agent: table1 (DQN, Langevin DQN), table2 (the ensembles).
TABLES: dict[str, dict[str, Any]] = {
    "dqn": {"learning_rate": 1e-3, "epsilon": 0.05},
    "langevin_dqn": {"learning_rate": 1e-2, "noise_variance": 0.005, "regularizer": 1.0, "negative_slope": 0.1},
    "boot_dqn": {"members": 5, "learning_rate": 1e-3, "prior_scale": 3.0, "insertion_probability": 0.5},
    "ensemble_langevin_dqn": {"members": 5, "learning_rate": 1e-3, "noise_variance": 1e-4, "prior_scale": 3.0},
}

_RELEASED_COMMON: dict[str, Any] = {
    "discount": 0.99,
    "bias_correction": True,
    "independent_target": True,
    "shared_minibatch": True,
    "mean_over_members": True,
    "insertion": "mask",
}

#: What the authors' code does otherwise. It has no DQN or Boot DQN; for these two, what its
#: Langevin agents have in common is used.
RELEASED: dict[str, dict[str, Any]] = {
    "dqn": _RELEASED_COMMON,
    "langevin_dqn": _RELEASED_COMMON
    | {
        "noise_variance": 0.005**2,  # its noise_scale multiplies the standard deviation
        "regularizer": 0.005,
        "regularizer_form": "mean",
        "target_noise": 0.005,
    },
    "boot_dqn": _RELEASED_COMMON | {"min_replay_size": 128},
    "ensemble_langevin_dqn": _RELEASED_COMMON
    | {
        "noise_variance": 0.0001**2,
        "target_noise": 0.0001,
        "prior_noise": True,
        "min_replay_size": 128,
    },
}

AGENTS = tuple(TABLES)
PRESETS = ("paper", "released")


def preset(agent: str, variant: str = "paper", **changes: Any) -> AgentConfig:
    """The configuration of ``agent`` in one variant, with any field changed by name.

    Example:
        >>> preset("ensemble_langevin_dqn", members=7).noise_variance
        0.0001
    """
    if agent not in TABLES:
        raise unknown("agent", agent, AGENTS)
    if variant not in PRESETS:
        raise unknown("preset", variant, PRESETS)
    fields = TABLES[agent] | (RELEASED[agent] if variant == "released" else {})
    return AgentConfig().replace(**fields).replace(**changes)
