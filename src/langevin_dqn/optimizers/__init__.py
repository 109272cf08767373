"""Langevin optimizers and the noise they draw."""

from langevin_dqn.optimizers.langevin import LangevinAdamState, LangevinSgdState, langevin_adam, langevin_sgd
from langevin_dqn.optimizers.schedules import polynomial_decay

__all__ = ["LangevinAdamState", "LangevinSgdState", "langevin_adam", "langevin_sgd", "polynomial_decay"]
