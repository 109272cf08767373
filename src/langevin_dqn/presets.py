"""The settings of the four agents, in three variants.

``recommended``, the default, is what learns best here; ``docs/going_deeper.md`` derives it and says on
which seeds it was chosen. ``paper`` is what the paper's text and tables say; ``released`` is what the authors'
published code does, which differs in ways that change results. ``docs/reference/deviations.md`` lists each
difference with its measured effect.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

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

#: What all recommended agents have in common.
_RECOMMENDED_COMMON: dict[str, Any] = {
    "learning_rate": 1e-3,
    "discount": 0.9995,
    "recent_fraction": 0.5,
    "recent_window": 1000,
    "buffer_size": 1_000_000,
    "value_scaling": "grow",
}

#: A prior of a stated size, enough members that every action is preferred by one of them, and one minibatch for all,
#: with which an update in a deep sea costs about half as much.
_RECOMMENDED_ENSEMBLE: dict[str, Any] = _RECOMMENDED_COMMON | {
    "members": 16,
    "prior_std": 0.25,
    "shared_minibatch": True,
}

RECOMMENDED: dict[str, dict[str, Any]] = {
    "dqn": _RECOMMENDED_COMMON | {"epsilon": 0.05},
    "langevin_dqn": _RECOMMENDED_COMMON
    | {
        "noise_variance": 1e-6,
        "prior_std": 0.5,
        "prior_lifetime": 300.0,
        "prior_lifetime_growth": 0.1,
        "updates_per_step": 5,
    },
    "boot_dqn": _RECOMMENDED_ENSEMBLE | {"insertion_probability": 0.5, "insertion": "mask"},
    "ensemble_langevin_dqn": _RECOMMENDED_ENSEMBLE | {"noise_variance": 1e-6},
}


class Family(NamedTuple):
    """Environments that ask for other settings of the recommended presets.

    Attributes:
        ids: how the ids of its environments begin.
        common: what all agents change.
        agents: what some change beside that.
    """

    ids: tuple[str, ...]
    common: dict[str, Any]
    agents: dict[str, dict[str, Any]]


#: Learn while acting, discount, copy the target less often, and draw all transitions alike: with half of every
#: minibatch from the latest 1,000, a policy is soon forgotten.
_WITHIN_EPISODES: dict[str, Any] = {
    "discount": 0.99,
    "update_timing": "within",
    "updates_per_step": 1,
    "recent_fraction": 0.0,
}
_NO_PRIOR: dict[str, Any] = {"prior_std": 0.0, "prior_lifetime": 0.0, "prior_lifetime_growth": 0.0}
_SHORT_PRIOR: dict[str, Any] = {"prior_std": 0.02, "prior_lifetime": 300.0, "prior_lifetime_growth": 0.0}

_CONTROL_AGENTS: dict[str, dict[str, Any]] = {
    "langevin_dqn": _NO_PRIOR | {"noise_variance": 1e-5},
    "boot_dqn": {"prior_std": 0.0, "members": 5},
    "ensemble_langevin_dqn": {"prior_std": 0.0, "members": 5, "noise_variance": 1e-5},
}

#: Random actions in the first ten episodes, less and less. Without a prior, a greedy chain may settle on one action
#: before it has tried the others: in CartPole, 4 of 32 seeds did so for 10,000 steps, and none of 32 with this.
_RANDOM_START: dict[str, Any] = {"epsilon": 1.0, "epsilon_final": 0.0, "epsilon_decay_episodes": 10}

#: By name; the first that fits an environment's id counts. The settings were chosen on CartPole, Acrobot, MountainCar,
#: FrozenLake and bsuite's bandit, catch, umbrella and discounting chain, with seeds 101 to 108
#: (``tools/family_tries.py``).
FAMILIES: dict[str, Family] = {
    # Few states and one reward at the end: a prior helps to find it. Where steps slip at random, values need targets
    # that stay for longer.
    "toy text": Family(
        ids=("gym:FrozenLake", "gym:CliffWalking", "gym:Taxi", "gymnax:FrozenLake"),
        common=_WITHIN_EPISODES | {"target_period": 100},
        agents={
            "langevin_dqn": _SHORT_PRIOR | {"noise_variance": 1e-4},
            "boot_dqn": {"prior_std": 0.02, "members": 8},
            "ensemble_langevin_dqn": {"prior_std": 0.02, "members": 8, "noise_variance": 1e-4},
        },
    ),
    # Long episodes with a reward at every step. A prior of the size of a whole return would hide the differences
    # between actions, and every member has to learn by itself. A learning rate of 1e-3, or a target that is copied more
    # often, learns sooner but forgets a good policy of CartPole again.
    "control": Family(
        ids=("gym:", "gymnax:", "xminigrid:", "dm:"),
        common=_WITHIN_EPISODES | {"target_period": 200, "learning_rate": 2.5e-4},
        agents=_CONTROL_AGENTS
        | {name: _CONTROL_AGENTS[name] | _RANDOM_START for name in ("langevin_dqn", "ensemble_langevin_dqn")},
    ),
    # The same tasks with bsuite's few episodes, which leave no time for a lower learning rate. In units of the return,
    # ten times the largest value, that rate follows every noisy reward.
    "bsuite control": Family(
        ids=("cartpole/", "cartpole:", "cartpole_noise", "cartpole_scale", "mountain_car"),
        common=_WITHIN_EPISODES | {"target_period": 20, "value_scaling": "discounted"},
        agents=_CONTROL_AGENTS,
    ),
    # One step per episode: a value is learned as soon as its action was tried, and a prior that moves only disturbs it.
    "bandit": Family(
        ids=("bandit",),
        common={},
        agents={"langevin_dqn": {"prior_lifetime": 0.0, "prior_lifetime_growth": 0.0, "noise_variance": 1e-4}},
    ),
    # Every action soon meets a reward, and values have to be told apart more than states found: to one chain, a prior
    # that moves is one more source of noise.
    "short episodes": Family(
        ids=("catch", "discounting_chain"), common={}, agents={"langevin_dqn": _NO_PRIOR | {"noise_variance": 1e-5}}
    ),
    # The same, with a random reward at every step: the latest transitions say little, and all are drawn alike.
    "umbrella": Family(
        ids=("umbrella",),
        common={"recent_fraction": 0.0},
        agents={"langevin_dqn": _NO_PRIOR | {"noise_variance": 1e-5}},
    ),
}

AGENTS = tuple(TABLES)
PRESETS = ("recommended", "paper", "released")
DEFAULT_PRESET = "recommended"

#: What a run's agent is called where it was given as a configuration, which its changes then hold.
CUSTOM = "custom"


def family_of(env: str | None) -> str | None:
    """The family that an environment's id belongs to, or None.

    Examples:
        >>> family_of("gym:CartPole-v1"), family_of("cartpole"), family_of("deep_sea:depth=10")
        ('control', 'bsuite control', None)
    """
    if env is None:
        return None
    return next((name for name, family in FAMILIES.items() if f"{env}/".startswith(family.ids)), None)


def preset(agent: str, variant: str = DEFAULT_PRESET, *, env: str | None = None, **changes: Any) -> AgentConfig:
    """The configuration of ``agent`` in one variant, with any field changed by name.

    Args:
        agent: its name.
        variant: ``recommended``, ``paper`` or ``released``.
        env: the id of the environment; ``recommended`` depends on its family (`FAMILIES`).
        **changes: fields and their values.

    Examples:
        >>> preset("ensemble_langevin_dqn", "paper", members=7).prior_scale
        3.0
    """
    return AgentConfig().replace(**preset_fields(agent, variant, env)).replace(**changes)


def preset_fields(agent: str, variant: str, env: str | None) -> dict[str, Any]:
    """The fields of a preset that differ from the defaults."""
    if agent not in TABLES:
        raise unknown("agent", agent, AGENTS)
    if variant not in PRESETS:
        raise unknown("preset", variant, PRESETS)
    fields = {
        "recommended": RECOMMENDED[agent],
        "paper": TABLES[agent],
        "released": TABLES[agent] | RELEASED[agent],
    }[variant]
    family = family_of(env) if variant == "recommended" else None
    if family is not None:
        fields = fields | FAMILIES[family].common | FAMILIES[family].agents.get(agent, {})
    return fields


def configured(agent: str) -> bool:
    """True if an ``AgentConfig`` says all about the agent of that name in a run."""
    return agent in AGENTS or agent == CUSTOM


def configuration(agent: str, variant: str, changes: Mapping[str, Any], env: str) -> AgentConfig:
    """The configuration of a run's agent, which is ``configured``."""
    return AgentConfig().replace(**changes) if agent == CUSTOM else preset(agent, variant, env=env, **changes)
