"""Environments as pure JAX functions, and adapters to those of other libraries.

The names below load on first use, so that reading bsuite's sweeps does not load JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langevin_dqn.environments.adapters.dm_env import DmEnvironment
    from langevin_dqn.environments.adapters.gymnasium import GymnasiumEnvironment
    from langevin_dqn.environments.adapters.gymnax import GymnaxEnvironment
    from langevin_dqn.environments.adapters.host import HostEnvironment
    from langevin_dqn.environments.adapters.xminigrid import XMiniGridEnvironment
    from langevin_dqn.environments.base import ArraySpace, Environment, FeatureSpace, IndexSpace, Space
    from langevin_dqn.environments.checking import check_environment
    from langevin_dqn.environments.registry import as_environment, id_of, is_made_here, make_env, register_env, safe_env
    from langevin_dqn.pytrees import pytree, static

_HOME = {
    "ArraySpace": "environments.base",
    "DmEnvironment": "environments.adapters.dm_env",
    "Environment": "environments.base",
    "FeatureSpace": "environments.base",
    "GymnasiumEnvironment": "environments.adapters.gymnasium",
    "GymnaxEnvironment": "environments.adapters.gymnax",
    "HostEnvironment": "environments.adapters.host",
    "IndexSpace": "environments.base",
    "Space": "environments.base",
    "XMiniGridEnvironment": "environments.adapters.xminigrid",
    "as_environment": "environments.registry",
    "check_environment": "environments.checking",
    "id_of": "environments.registry",
    "is_made_here": "environments.registry",
    "make_env": "environments.registry",
    "pytree": "pytrees",
    "register_env": "environments.registry",
    "safe_env": "environments.registry",
    "static": "pytrees",
}

__all__ = [
    "ArraySpace",
    "DmEnvironment",
    "Environment",
    "FeatureSpace",
    "GymnasiumEnvironment",
    "GymnaxEnvironment",
    "HostEnvironment",
    "IndexSpace",
    "Space",
    "XMiniGridEnvironment",
    "as_environment",
    "check_environment",
    "id_of",
    "is_made_here",
    "make_env",
    "pytree",
    "register_env",
    "safe_env",
    "static",
]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'langevin_dqn.environments' has no attribute {name!r}")
    return getattr(import_module(f"langevin_dqn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
