"""Environments as pure JAX functions, and adapters to those that live on the host."""

from langevin_dqn.environments.adapters.host import HostEnvironment
from langevin_dqn.environments.base import ArraySpace, Environment, IndexSpace, Space, pytree
from langevin_dqn.environments.registry import make_env

__all__ = ["ArraySpace", "Environment", "HostEnvironment", "IndexSpace", "Space", "make_env", "pytree"]
