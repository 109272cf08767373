"""The agents of a comparison: each with its settings, and crossed with the settings of a grid."""

import inspect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from langevin_dqn import ids
from langevin_dqn.comparison.grammar import split_list, split_name
from langevin_dqn.config import FIELD_TYPES, RENAMED, AgentConfig, current_name, parse_assignment
from langevin_dqn.errors import UserError, unknown
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET, preset
from langevin_dqn.runs.runners import Job

#: What names an agent in Python: a name with settings, a name and a dictionary of settings, or a configuration.
AgentChoice = str | tuple[str, Mapping[str, Any]] | AgentConfig


class Contender(NamedTuple):
    """An agent with all its settings.

    Attributes:
        label: what it is called in tables and pictures.
        agent: a preset's name, a registered name or an id.
        preset: the variant, for a preset's name.
        changes: the settings that were changed.
        crossed: those of them that come from a grid.
    """

    label: str
    agent: str
    preset: str
    changes: dict[str, Any]
    crossed: dict[str, Any]


class Entry(NamedTuple):
    """One run of a comparison, and the agent it belongs to."""

    contender: Contender
    job: Job


class _Cross(NamedTuple):
    """One line of a grid; ``agent`` is the only one to cross, where it is given."""

    agent: str | None
    setting: str
    values: Sequence[Any]


def contenders_of(
    agents: str | Iterable[str] | Mapping[str, AgentChoice],
    *,
    grid: Mapping[str, Iterable[Any]] | None = None,
    common: Mapping[str, Any] | None = None,
    variant: str = DEFAULT_PRESET,
) -> list[Contender]:
    """Every agent of a comparison, checked.

    Args:
        agents: names with settings; or labels, and what each stands for.
        grid: by setting, or by ``agent:setting``, the values to cross.
        common: settings of every agent that has them; an agent's own come first.
        variant: the preset, for agents that are presets' names.
    """
    chosen = _chosen(agents, variant)
    lines = [_cross(name, values) for name, values in (grid or {}).items()]
    for setting in common or {}:
        _check_taken(setting, chosen)
    for line in lines:
        if line.agent is None:
            _check_taken(line.setting, chosen)
        elif line.agent not in {name for one in chosen for name in (one.label, one.agent)}:
            raise unknown("agent of the grid", line.agent, [one.label for one in chosen])
    found: list[Contender] = []
    for one in chosen:
        given = {name: value for name, value in (common or {}).items() if _takes(one.agent, name)}
        own = _typed(one.agent, given) | one.changes
        fitting = [line for line in lines if _crosses(line, one)]
        for line in fitting:
            if _canonical(one.agent, line.setting) in one.changes:
                raise UserError(f"{line.setting} is set by both {one.label} and the grid", "leave out one of them")
        for values in itertools.product(*(line.values for line in fitting)):
            crossed = _typed(one.agent, {line.setting: v for line, v in zip(fitting, values, strict=True)})
            found.append(one._replace(label=_label(one.label, crossed), changes=own | crossed, crossed=crossed))
    for one in found:
        if one.agent in AGENTS:
            preset(one.agent, one.preset, **one.changes)  # a wrong value is an error now
    _check_distinct([one.label for one in found], "agent")
    return found


def _chosen(agents: Any, variant: str) -> list[Contender]:
    """The agents without a grid."""
    if isinstance(agents, str):
        agents = split_list([agents], "agents")
    if isinstance(agents, AgentConfig) or not isinstance(agents, Iterable):
        raise UserError(f"agents={agents!r} cannot be read", "write agents=['dqn', 'langevin_dqn'], or {label: agent}")
    pairs = list(agents.items()) if isinstance(agents, Mapping) else [(None, agent) for agent in agents]
    if not pairs:
        raise UserError("no agents to compare", "for example, dqn,langevin_dqn")
    found = [_one(label, agent, variant) for label, agent in pairs]
    _check_distinct([one.label for one in found], "agent")
    return found


def _one(label: str | None, agent: Any, variant: str) -> Contender:
    if isinstance(agent, AgentConfig):
        # A stored run counts by its configuration, whatever name that was made from.
        known = preset("dqn", "paper")
        changes = {name: getattr(agent, name) for name in FIELD_TYPES if getattr(agent, name) != getattr(known, name)}
        return Contender(label or "custom", "dqn", "paper", changes, {})
    if isinstance(agent, str):
        name, settings = split_name(agent)
        _check_known(name)
        return Contender(label or agent, name, variant, _typed(name, settings), {})
    if isinstance(agent, tuple) and len(agent) == 2 and isinstance(agent[1], Mapping):
        name, given = agent[0], dict(agent[1])
        _check_known(name)
        return Contender(label or _label(name, given), name, variant, _typed(name, given), {})
    raise UserError(
        f"an object of type {type(agent).__name__} cannot be an agent of a comparison",
        "use a name, (name, settings) or an AgentConfig; custom agents are python:package.module:factory",
    )


def _check_known(name: Any) -> None:
    """Refuse a name that no agent has; what a ``python:`` id names is imported later."""
    if name in AGENTS or (isinstance(name, str) and name.startswith("python:")):
        return
    from langevin_dqn.agents.registry import agent_names, unknown_agent

    if name in agent_names():
        return
    first = str(name).partition(":")[0]
    if first in AGENTS:
        raise UserError(f"{name!r} cannot be read", f"write settings as {first}:setting=value")
    raise unknown_agent(str(name))


def _cross(name: str, values: Any) -> _Cross:
    agent, _, setting = name.rpartition(":")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise UserError(f"the grid of {name} is not a list", f"for example, grid={{{name!r}: [{values!r}]}}")
    listed = list(values)
    if not listed:
        raise UserError(f"the grid of {name} is empty", "give at least one value")
    return _Cross(agent or None, setting, listed)


def _crosses(line: _Cross, one: Contender) -> bool:
    return _takes(one.agent, line.setting) if line.agent is None else line.agent in (one.label, one.agent)


def _takes(agent: str, setting: str) -> bool:
    """Whether an agent has a setting of this name."""
    if agent in AGENTS:
        return setting in FIELD_TYPES or setting in RENAMED
    parameters = inspect.signature(_factory(agent)).parameters.values()
    return any(p.kind is p.VAR_KEYWORD or p.name == setting for p in parameters)


def _factory(agent: str) -> Any:
    if agent.startswith("python:"):
        return ids.import_object(agent.partition(":")[2], "python")
    from langevin_dqn.agents.registry import factory_of

    return factory_of(agent)


def _check_taken(setting: str, chosen: Sequence[Contender]) -> None:
    """Refuse a setting that no agent has."""
    if not any(_takes(one.agent, setting) for one in chosen):
        if any(one.agent in AGENTS for one in chosen):
            current_name(setting)  # refuses it with the nearest name
        raise UserError(
            f"no agent of this comparison has a setting {setting!r}", "check the arguments of the agent's factory"
        )


def _canonical(agent: str, setting: str) -> str:
    return current_name(setting) if agent in AGENTS else setting


def _typed(agent: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under their current names, texts read as the command line reads them."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if agent in AGENTS:
            key, value = parse_assignment(f"{name}={value}") if isinstance(value, str) else (current_name(name), value)
            found[key] = tuple(value) if isinstance(value, list) else value
        else:
            found[name] = ids.literal(value) if isinstance(value, str) else value
    return found


def _label(name: str, settings: Mapping[str, Any]) -> str:
    """A name with settings, as a user would write it."""
    if not settings:
        return name
    more = ",".join(f"{key}={shown(value)}" for key, value in settings.items())
    return f"{name},{more}" if split_name(name).settings else f"{name}:{more}"


def shown(value: Any) -> str:
    """A setting's value as the command line reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _check_distinct(labels: Sequence[str], what: str) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise UserError(f"{what} {label!r} is named twice", "leave out one of them")
