"""From a name to an agent: presets, registered agents, and ``python:package.module:factory``."""

from collections.abc import Callable
from typing import Any, NamedTuple

from langevin_dqn import ids
from langevin_dqn.agents.base import class_name, completed
from langevin_dqn.agents.checking import check_agent, check_fits
from langevin_dqn.agents.making import make_agent
from langevin_dqn.agents.value_agent import ValueAgent
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments import HostEnvironment, make_env
from langevin_dqn.errors import UserError, unknown
from langevin_dqn.networks.base import check_network
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET
from langevin_dqn.presets import preset as preset_config

_REGISTERED: dict[str, Callable[..., Any]] = {}


class ResolvedAgent(NamedTuple):
    """An agent for one environment.

    Attributes:
        agent: the agent, with all optional methods.
        name: the preset's name, registered name or id; the class of an agent object; ``custom`` for a configuration.
        preset: the variant, or ``custom``.
        config: its configuration, or the output of ``describe()`` for a custom agent.
    """

    agent: Any
    name: str
    preset: str
    config: AgentConfig | dict[str, Any]


def register_agent(name: str, factory: Callable[..., Any]) -> None:
    """Give an agent a name that ``train`` and stored runs understand in this process.

    Args:
        name: the name; not one that is taken.
        factory: returns an ``Agent`` or an ``AgentConfig``; its keyword
            arguments are the agent's settings. One called ``environment`` is given the environment.
    """
    if name in AGENTS or _REGISTERED.get(name, factory) is not factory:
        raise UserError(f"an agent named {name!r} already exists", "choose another name")
    if not name or ":" in name or not callable(factory):
        raise UserError(
            f"cannot register {name!r}", "use a name without a colon, and a function that returns the agent"
        )
    _REGISTERED[name] = factory


def unknown_agent(name: str) -> UserError:
    """The error for a name that no agent has."""
    names = agent_names()
    return unknown("agent", name, names, f"choose one of {', '.join(names)}, or python:package.module:factory")


def agent_names() -> tuple[str, ...]:
    """The presets and the agents registered in this process."""
    return (*AGENTS, *_REGISTERED)


def factory_of(name: str) -> Callable[..., Any]:
    """What makes the agent that is registered under ``name``."""
    return _REGISTERED[name]


def is_own(agent: str) -> bool:
    """True for the id or the registered name of an agent of the user's own."""
    return agent.startswith("python:") or agent in _REGISTERED


def resolve_agent(
    agent: Any,
    environment: Any,
    *,
    preset: str | None = None,
    network: Any = None,
    changes: dict[str, Any] | None = None,
    env: str | None = None,
) -> ResolvedAgent:
    """The agent that was passed to ``train``, checked against the environment.

    Args:
        agent: a preset's name, a registered name, an id, a configuration, or an agent.
        environment: what it will act in.
        preset: the variant, for a preset's name; ``recommended`` by default.
        network: a network or the id of one, for a value agent.
        changes: fields to change, or the settings of a factory.
        env: the environment's id, where it has one: recommended settings depend on its family.
    """
    changes, space = changes or {}, environment.observation_space
    if preset is not None and not (isinstance(agent, str) and (agent in AGENTS or not is_own(agent))):
        what = agent if isinstance(agent, str) else f"an agent of type {class_name(agent)}"
        raise UserError(
            f"preset={preset} does not apply to {what}", f"leave out preset, or use one of {', '.join(AGENTS)}"
        )
    preset = preset or DEFAULT_PRESET
    network = make_network(network)
    if network is not None:
        check_network(network, space, environment.num_actions)
    name = agent if isinstance(agent, str) else "custom"
    reading = preset if isinstance(agent, str) and not is_own(agent) else "custom"
    if isinstance(agent, str):
        agent = _by_name(agent, environment, preset, changes, env)
    elif isinstance(agent, AgentConfig):
        agent = agent.replace(**changes)
    elif changes:
        raise UserError(
            f"settings cannot be changed for an agent object: {', '.join(changes)}",
            "change the agent itself with dataclasses.replace",
        )
    if isinstance(agent, AgentConfig):
        built = make_agent(resolve_config(agent, environment), network, space)
        return ResolvedAgent(built, name, reading, agent)
    if network is not None:
        raise UserError("network= cannot be used with a custom agent", "pass the network to the agent itself")
    check_agent(agent)
    if isinstance(agent, ValueAgent):
        check_network(agent.network, space, environment.num_actions)
    agent = completed(agent)
    check_fits(agent, space, environment.num_actions)
    return ResolvedAgent(agent, name if name != "custom" else class_name(agent), "custom", agent.describe())


def _by_name(name: str, environment: Any, preset: str, changes: dict[str, Any], env: str | None) -> Any:
    if name.startswith("python:"):
        return ids.call_factory(name, "agent", environment=environment, **changes)
    if name in _REGISTERED:
        return ids.call(_REGISTERED[name], name, "agent", environment=environment, **changes)
    if name not in AGENTS:
        raise unknown_agent(name)
    return preset_config(name, preset, env=env, **changes)


def make_network(network: Any) -> Any:
    """A network, or the one that an id ``python:package.module:factory`` names; None stays None."""
    if not isinstance(network, str):
        return network
    if not network.startswith("python:"):
        raise UserError(f"unknown network {network!r}", "write python:package.module:factory")
    return ids.call_factory(network, "network")


def resolve_config(config: AgentConfig, environment: Any) -> AgentConfig:
    """The configuration with what depends on the environment filled in: σ_w² per unit of depth."""
    if not config.noise_per_depth:
        return config
    depth = getattr(environment, "depth", None)
    if depth is None:
        raise UserError("noise_per_depth needs an environment with a depth", "use it with deep_sea, or set it to false")
    return config.replace(noise_variance=config.noise_variance * depth)


def describe_agent(agent: str, changes: dict[str, Any], env: str, network: str | None = None) -> dict[str, Any]:
    """What defines an agent of the user's own in an environment, as JSON."""
    environment = make_env(env)
    try:
        found = resolve_agent(agent, environment, network=network, changes=changes)
        return found.agent.describe()
    finally:
        if isinstance(environment, HostEnvironment):
            environment.close()
