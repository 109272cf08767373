"""An agent's state in a run that may make more steps, or fewer, than it was made for."""

from typing import Any

from langevin_dqn.agents.base import class_name
from langevin_dqn.array_files import layout
from langevin_dqn.errors import UserError


def refitted_state(agent: Any, state: Any, expected: Any, capacity: int | None) -> Any:
    """``state`` with the shapes of ``expected``, which a run of at most ``capacity`` steps has."""
    if layout(state) == layout(expected):
        return state
    state = agent.with_capacity(state, capacity)
    if layout(state) != layout(expected):
        raise UserError(
            f"{class_name(agent)}: with_capacity returns a state whose layout differs from that of init",
            "resume with the episodes and steps of the first run, or correct with_capacity",
        )
    return state
