"""Five tiny environments, each of which tests one thing that an agent must get right.

| probe | actions | what an agent must get right |
|---|---|---|
| ``probe_value`` | 1 | the value of one state: reward 1, then the end |
| ``probe_state`` | 1 | values that differ by state: reward -1 or 1, as the state shows |
| ``probe_bootstrap`` | 1 | a reward one step later, through the target network |
| ``probe_action`` | 2 | values that differ by action |
| ``probe_policy`` | 2 | the right action for each state |
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import Environment, IndexSpace
from langevin_dqn.errors import unknown
from langevin_dqn.pytrees import static
from langevin_dqn.runs import metrics

PROBES = ("value", "state", "bootstrap", "action", "policy")


@dataclass(frozen=True)
class Probe(Environment):
    """One of the five probes; the state is what is observed, 0 or 1."""

    task: str = static()

    observation_space = IndexSpace(2)
    learned_regret = metrics.LEARNED_SHARE

    @property
    def num_actions(self) -> int:
        return 2 if self.task in ("action", "policy") else 1

    @property
    def max_return(self) -> float:
        return 0.0 if self.task == "state" else 1.0

    @property
    def max_steps(self) -> int:
        return 2 if self.task == "bootstrap" else 1

    def reset(self, key: jax.Array):
        is_random = self.task in ("state", "policy")
        state = jax.random.randint(key, (), 0, 2) if is_random else jnp.int32(0)
        return state, state

    def step(self, key: jax.Array, state: jax.Array, action: jax.Array):
        del key
        reward, terminated = {
            "value": (1.0, True),
            "state": (2.0 * state - 1, True),
            "bootstrap": (state, state == 1),
            "action": (2.0 * action - 1, True),
            "policy": (jnp.where(action == state, 1.0, -1.0), True),
        }[self.task]
        after = jnp.int32(1) if self.task == "bootstrap" else state
        return after, after, jnp.float32(reward), jnp.bool_(terminated), jnp.bool_(False)


def probe(task: str = "value") -> Probe:
    """The probe of that name."""
    if task not in PROBES:
        raise unknown("probe", task, PROBES)
    return Probe(task)
