"""Environments as pure JAX functions."""

from langevin_dqn.environments.base import ArraySpace, Environment, IndexSpace, Space
from langevin_dqn.environments.registry import make_env

__all__ = ["ArraySpace", "Environment", "IndexSpace", "Space", "make_env"]
