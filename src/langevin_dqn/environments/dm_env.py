"""The old place of ``langevin_dqn.environments.adapters.dm_env``."""

import warnings

from langevin_dqn.environments.adapters.dm_env import DmEnvironment

__all__ = ["DmEnvironment"]

warnings.warn(f"{__name__} has moved to langevin_dqn.environments.adapters.dm_env", DeprecationWarning, 2)
