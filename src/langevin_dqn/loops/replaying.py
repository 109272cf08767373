"""An environment on the host brought back to where a saved run was, by repeating the run's actions.

The hidden state of an environment cannot be saved in general. But it follows from its seed and the actions, so they
are repeated, without learning: that takes the environment's own time only. Its observations and rewards are compared
with those of the first time. An environment with the methods ``save_state() -> dict`` (of arrays) and
``load_state(dict)`` is asked for its state instead, and nothing is repeated.
"""

import warnings
from typing import Any

import jax
import numpy as np

from langevin_dqn.environments import HostEnvironment
from langevin_dqn.loops.host import HostRun, random_steps

_INEXACT = (
    "{name} is not deterministic: the same seed and actions give other observations or rewards, so its state cannot be "
    "restored. The run continues with a new episode and differs from an uninterrupted run"
)


def restored(environment: HostEnvironment, name: str, seed: int, agent: Any, run: HostRun) -> HostRun:
    """The run to continue, after its environment has been restored.

    Where that cannot be done, a warning is issued, and the run continues with a new episode; the steps of the one that
    was cut off count in all steps and nowhere else.
    """
    if bool(run.restorable) and _restore(environment, seed, agent.random_steps, run):
        return run
    warnings.warn(_INEXACT.format(name=name), RuntimeWarning, stacklevel=2)
    return run._replace(ended=np.array(True), restorable=np.array(False))


def _restore(environment: HostEnvironment, seed: int, warm_up: int, run: HostRun) -> bool:
    """Bring the environment to where the run was; False if its observations or rewards differ."""
    if run.environment:
        environment.load_state(run.environment)  # type: ignore[attr-defined]
        return True
    if warm_up > 0:
        random_steps(environment, seed, warm_up)
    obs, ended, begun, episodes = None, True, 0, 0
    for action in run.actions.tolist():
        if ended:
            environment.reset(None if begun else seed)
            begun, total, length = begun + 1, np.float32(0), 0
        obs, reward, terminated, truncated = environment.step(action)
        total, length, ended = total + np.float32(reward), length + 1, bool(terminated or truncated)
        if ended:
            if episodes == len(run.returns) or length != run.lengths[episodes]:
                return False
            if total.tobytes() != run.returns[episodes].tobytes():
                return False
            episodes += 1
    if ended and not bool(run.ended) and int(run.begun) == begun + 1:  # its environment failed in the first step
        obs, begun, ended = environment.reset(None if begun else seed), begun + 1, False
    same_place = (episodes, begun, ended) == (len(run.returns), int(run.begun), bool(run.ended))
    last = np.asarray(jax.device_get(run.carry.obs))
    return same_place and (obs is None or np.asarray(obs, last.dtype).tobytes() == last.tobytes())
