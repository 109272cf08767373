"""What the host looks for in each snapshot of a run: numbers that are not finite, and who is to blame for them.

The loops stop by themselves once the agent's parameters are not finite. Two more things are found here, at the latest
one chunk of episodes after they happen: rewards or observations of a compiled environment that are not finite, and
moments of an optimizer that have overflowed while the parameters still look sound.
"""

from typing import Any

import jax
import numpy as np

from langevin_dqn.environments import HostEnvironment
from langevin_dqn.errors import EnvironmentFault
from langevin_dqn.loops.snapshot import Snapshot

_HINT = "its rewards and observations must be finite numbers"


class Examiner:
    """Looks at the snapshots of one run, in their order.

    Args:
        agent: the agent.
        environment: the environment.
        name: what to call it in messages.
    """

    def __init__(self, agent: Any, environment: Any, name: str):
        self._agent, self._name = agent, name
        self._compiled = not isinstance(environment, HostEnvironment)  # of others, every answer is checked
        self._seen = 0

    def examined(self, now: Snapshot) -> Snapshot:
        """``now``, with what is wrong in it."""
        if self._compiled and now.fault is None:
            now = now._replace(fault=self._fault(now))
        self._seen = len(now.returns)
        return now._replace(finite=now.finite and are_finite(self._agent.accumulators(now.state)))

    def _fault(self, now: Snapshot) -> EnvironmentFault | None:
        broken = np.flatnonzero(~np.isfinite(now.returns[self._seen :])) + self._seen
        if now.finite and not broken.size:
            return None
        step = self._agent.nonfinite_step(now.state, now.steps)
        if step is not None:
            number, what = step
            return EnvironmentFault(f"{self._name}: the {what} of step {number:,} is not finite", _HINT)
        if broken.size:
            number = int(broken[0])
            last = int(np.sum(now.lengths[: number + 1], dtype=np.int64))
            first = last - int(now.lengths[number]) + 1
            place = f"episode {number + 1:,}, steps {first:,} to {last:,}"
            return EnvironmentFault(f"{self._name}: the return of {place}, is not finite", _HINT)
        return None


def are_finite(tree: Any) -> bool:
    """Whether all numbers of a tree are finite, computed on the host: nothing is compiled for it."""
    leaves = [leaf for leaf in jax.tree.leaves(tree) if jax.numpy.issubdtype(leaf.dtype, np.floating)]
    # A sum of float32 numbers in float64 is finite if and only if all of them are.
    return all(np.isfinite(np.sum(np.asarray(leaf), dtype=np.float64)) for leaf in leaves)
