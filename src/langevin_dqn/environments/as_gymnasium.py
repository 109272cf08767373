"""The old place of ``langevin_dqn.environments.adapters.as_gymnasium``."""

import warnings

from langevin_dqn.environments.adapters.as_gymnasium import GymnasiumEnv

__all__ = ["GymnasiumEnv"]

warnings.warn(f"{__name__} has moved to langevin_dqn.environments.adapters.as_gymnasium", DeprecationWarning, 2)
