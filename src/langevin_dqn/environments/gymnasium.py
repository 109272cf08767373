"""The old place of ``langevin_dqn.environments.adapters.gymnasium``."""

import warnings

from langevin_dqn.environments.adapters.gymnasium import GymnasiumEnvironment

__all__ = ["GymnasiumEnvironment"]

warnings.warn(f"{__name__} has moved to langevin_dqn.environments.adapters.gymnasium", DeprecationWarning, 2)
