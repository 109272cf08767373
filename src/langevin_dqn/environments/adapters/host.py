"""What an environment is that lives on the host: an object with a hidden state.

Gymnasium and dm_env environments are such objects. They cannot be compiled, so training
calls them step by step (``host_training.py``).
"""

import ast
from typing import Any, Protocol, runtime_checkable

import numpy as np

from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError


@runtime_checkable
class HostEnvironment(Protocol):
    """An episodic environment with a finite number of actions, numbered from 0."""

    @property
    def observation_space(self) -> Space: ...

    @property
    def num_actions(self) -> int: ...

    @property
    def max_return(self) -> float | None:
        """The best expected return of an episode, where it is known."""
        ...

    def reset(self, seed: int | None = None) -> np.ndarray:
        """Start an episode. A seed starts the environment's own randomness afresh."""
        ...

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        """``(obs, reward, terminated, truncated)``.

        Truncated is not terminated: what comes after a truncated step still has a value.
        """
        ...

    def close(self) -> None: ...


def split_settings(text: str) -> tuple[str, dict[str, Any]]:
    """``NAME:key=value,...`` as the name and its settings; a name may itself have colons."""
    name, _, settings = text.rpartition(":")
    if "=" not in settings:
        return text, {}
    pairs = [item.partition("=") for item in settings.split(",")]
    for key, separator, _ in pairs:
        if not (key and separator):
            raise UserError(f"settings {settings!r} cannot be read", "write for instance size=10,seed=3")
    return name, {key: _literal(value) for key, _, value in pairs}


def _literal(text: str) -> Any:
    """A number, true, false, or else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
