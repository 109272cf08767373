"""Whether an agent is the one that wrote a file, by comparing their descriptions."""

import json
from dataclasses import asdict
from typing import Any

from langevin_dqn.agents.value_agent import ValueAgent
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError


def describe_space(space: Space) -> dict[str, Any]:
    """A space as JSON."""
    return json.loads(json.dumps({"kind": type(space).__name__, **asdict(space)}))


def check_same_agent(source: str, name: str, described: dict[str, Any], built: Any) -> None:
    """Refuse another agent or network than the one that wrote a file.

    Args:
        source: the file, for messages.
        name: what the agent was called there.
        described: what it said of itself.
        built: the agent that is there now.
    """
    found = json.loads(json.dumps(built.describe()))
    if _comparable(described) == _comparable(found):
        return
    before, now = (_comparable(words) for words in (described, found))
    if isinstance(built, ValueAgent) and described.get("network") != found.get("network"):
        network, other = described.get("network"), found.get("network")
        if not (isinstance(network, dict) and isinstance(other, dict) and network.get("class") == other.get("class")):
            named = network.get("class", "another one") if isinstance(network, dict) else "another one"
            raise UserError(f"{source} was saved with the network {named}", "pass it with network= or --network")
        raise UserError(f"{source} was saved with a network with {_differences(network, other)}", _SAME)
    if isinstance(before.get("config"), AgentConfig) and before | {"config": now.get("config")} == now:
        said = _differences(before["config"].to_dict(), now["config"].to_dict())
        raise UserError(f"{source} was saved with {said}", _SAME)
    raise UserError(
        f"{source} was saved by a different agent, or with different settings or another version of it",
        f"{name_agent(name)}, with the settings used in training",
    )


_SAME = "use the settings used in training"


def _differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    """What was set otherwise, and how it is set now."""
    keys = [key for key in before if before[key] != now.get(key)]
    old, new = (", ".join(f"{key}={words.get(key)}" for key in keys[:3]) for words in (before, now))
    return f"{old}, not {new}"


def _comparable(description: dict[str, Any]) -> dict[str, Any]:
    """A description in which fields that were added or renamed later do not count."""
    config = description.get("config")
    return description | {"config": AgentConfig.from_dict(config)} if isinstance(config, dict) else description


def name_agent(agent: str) -> str:
    """The hint that an agent has to be named."""
    return f"pass it with agent= or --agent{f' {agent}' if agent.startswith('python:') else ''}"
