"""How much room a run has for its results and its replay; a state in a run of other limits than it was made for.

A program is compiled for the sizes of its arrays. With few different sizes, a run of another number of episodes finds
the program of the one before. More room than needed changes no result.
"""

from typing import Any, NamedTuple

from langevin_dqn.agents.base import class_name
from langevin_dqn.array_files import layout
from langevin_dqn.environments.base import Environment, Space
from langevin_dqn.errors import UserError
from langevin_dqn.networks.base import example_observation

#: Sizes are rounded up to a power of two, at least these.
_EPISODES, _STEPS = 2**10, 2**16
#: Observations of more bytes are left alone: their replay would take memory that the user did not ask for.
_SMALL = 256


class Room(NamedTuple):
    """Sizes of a run's arrays.

    Attributes:
        episodes: whose results it can hold.
        steps: that the replay must be able to hold; None if that is not known.
    """

    episodes: int
    steps: int | None


def exact_room(environment: Environment, episodes: int, steps: int | None) -> Room:
    """Room for so many episodes and steps, and no more."""
    longest = environment.max_steps
    return Room(episodes, steps if longest is None else min(episodes * longest, steps or episodes * longest))


def rounded_room(environment: Environment, episodes: int, steps: int | None) -> Room:
    """Room for at least so many episodes and steps, the same for many limits."""
    needed = exact_room(environment, episodes, steps)
    return Room(_rounded(episodes, _EPISODES), rounded_steps(environment.observation_space, needed.steps))


def rounded_steps(space: Space, steps: int | None) -> int | None:
    """Steps to make room for in the replay, at least so many."""
    obs = example_observation(space)
    return steps if steps is None or obs.size * obs.dtype.itemsize > _SMALL else _rounded(steps, _STEPS)


def _rounded(count: int, least: int) -> int:
    return max(least, 1 << (count - 1).bit_length())


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
