"""What defines a run, and the key that follows from it."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Protocol

from langevin_dqn.presets import CUSTOM, configuration, configured, preset_fields
from langevin_dqn.version import ALGORITHM_VERSION

_NAMES = ("agent", "preset", "changes", "outputs")


class Run(Protocol):
    """The request for a run; ``langevin_dqn.runs.runners.Job`` is one.

    ``vars`` of it has the rest: the budget, and what else a job may have.
    """

    @property
    def agent(self) -> str: ...
    @property
    def env(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def preset(self) -> str: ...
    @property
    def changes(self) -> Mapping[str, Any]: ...
    @property
    def network(self) -> str | None: ...
    def to_json(self) -> str: ...


def identity(run: Run) -> dict[str, Any]:
    """What defines a run: change any of it, and the returns would change.

    The names of agents and presets are not part of it; the configuration they stand for is, or for an agent
    that is none of the presets its id and what it says about itself. What is None, and fields of the configuration at
    their defaults, are left out, so that a field added later does not orphan every stored run. A default may
    therefore change only together with ``ALGORITHM_VERSION``; a test holds that.
    """
    return identity_with(run, describe(run))


def identity_with(run: Run, description: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of ``run`` where ``describe`` gives, or once gave, ``description``."""
    asked = {name: value for name, value in vars(run).items() if name not in _NAMES and value is not None}
    if not configured(run.agent):  # two modules may have agents that describe themselves alike
        asked["agent_id"] = run.agent
    return {**asked, "algorithm_version": ALGORITHM_VERSION, **description}


def describe(run: Run) -> dict[str, Any]:
    """The agent's part of a run's identity. For an agent with an id of its own this imports its code."""
    if configured(run.agent):
        return {"config": _config_identity(run)}
    from langevin_dqn.agents.registry import describe_agent

    return {"agent": describe_agent(run.agent, dict(run.changes), run.env, run.network)}


#: Identities of configurations by the settings they came from: to make one takes half a millisecond.
_identities: dict[str, dict[str, Any]] = {}
_MOST_IDENTITIES = 10_000


def _config_identity(run: Run) -> dict[str, Any]:
    asked = {} if run.agent == CUSTOM else preset_fields(run.agent, run.preset, run.env)
    text = f"{asked!r} {run.changes!r}"
    if text not in _identities:
        if len(_identities) >= _MOST_IDENTITIES:
            _identities.clear()
        _identities[text] = configuration(run.agent, run.preset, run.changes, run.env).identity()
    return _identities[text]


def key_of(run: Run) -> str:
    """The name of a run's file: a hash of its identity."""
    return hash_of(identity(run))


def hash_of(identity: Mapping[str, Any]) -> str:
    """The key that belongs to an identity."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
