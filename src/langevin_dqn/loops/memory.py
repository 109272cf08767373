"""What a run needs in memory, estimated from the shapes of its arrays before any of them is made.

A run holds its replay (observations, cached prior values and masks, per buffer), the state of its agent (weights,
target, two moments and priors, per member) and room for its results. While it learns, about one more copy of the
agent's state is needed for gradients and new values. ``tools/memory_estimate.py`` compares the estimate with what runs
take.
"""

from typing import Any, NamedTuple

import jax

from langevin_dqn import keys, machine
from langevin_dqn.environments import HostEnvironment
from langevin_dqn.errors import UserError
from langevin_dqn.loops.capacity import rounded_room, rounded_steps
from langevin_dqn.loops.compiled import most_episodes

#: Bytes of an episode in the results: its return and its length, and each measure.
_EPISODE, _MEASURE = 8, 4


class Need(NamedTuple):
    """Bytes that a run needs.

    Attributes:
        replay: the agent's memory.
        agent: the rest of its state, and a copy of it for updates.
        results: of all episodes.
    """

    replay: int
    agent: int
    results: int

    @property
    def total(self) -> int:
        return self.replay + self.agent + self.results


def estimate(agent: Any, environment: Any, episodes: int | None, steps: int | None) -> Need:
    """What a run of this agent with these limits needs; nothing is computed but shapes."""
    space, actions = environment.observation_space, environment.num_actions
    if isinstance(environment, HostEnvironment):
        capacity, results = rounded_steps(space, steps), 0
    else:
        room = rounded_room(environment, most_episodes(episodes, steps), steps)
        measures = jax.eval_shape(lambda key: environment.measure(environment.reset(key)[0]), keys.run_key(0))
        capacity, results = room.steps, room.episodes * (_EPISODE + _MEASURE * len(measures))
    state = jax.eval_shape(lambda key: agent.init(key, space, actions, capacity), keys.run_key(0))
    own = _bytes(jax.eval_shape(agent.without_memory, state))
    return Need(_bytes(state) - own, 2 * own, results)


def check(agent: Any, environment: Any, episodes: int | None, steps: int | None, at_once: int = 1) -> None:
    """Refuse runs that need more memory than there is.

    Args:
        agent: the agent.
        environment: what it acts in.
        episodes: limit of each run.
        steps: limit of each run.
        at_once: runs at a time.
    """
    need, there = estimate(agent, environment, episodes, steps), machine.available_memory()
    if there is None or at_once * need.total <= there:
        return
    who = "the run needs" if at_once == 1 else f"{at_once} runs at once need"
    message = f"{who} about {_size(at_once * need.total)} of memory, and {_size(there)} are available"
    raise UserError(message, _remedy(agent, need, there, at_once))


def _remedy(agent: Any, need: Need, there: int, at_once: int) -> str:
    """Which setting to lower: that of the largest part."""
    parts = ", ".join(f"{name} {_size(size)}" for name, size in need._asdict().items())
    if at_once > 1 and need.total <= there:
        return f"use --workers {there // need.total}, or fewer; a run has: {parts}"
    if need.results == max(need):
        return f"use fewer episodes or steps; a run has: {parts}"
    if need.agent == max(need):
        return f"use fewer members, or smaller hidden layers; a run has: {parts}"
    settings = getattr(agent, "settings", None)
    if settings is None:
        return f"use a smaller replay buffer; a run has: {parts}"
    size = max(int(settings.buffer_size * there / (2 * at_once * need.replay)), 1)
    return f"set buffer_size={size} or less, or use fewer members; a run has: {parts}"


def _bytes(tree: Any) -> int:
    leaves = [jax.eval_shape(jax.random.key_data, leaf) if _is_key(leaf) else leaf for leaf in jax.tree.leaves(tree)]
    return sum(leaf.size * leaf.dtype.itemsize for leaf in leaves)


def _is_key(leaf: Any) -> bool:
    return jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"
