"""Langevin optimizers and the noise they draw."""

from langevin_dqn.optimizers.langevin import LangevinAdamState, LangevinSgdState, langevin_adam, langevin_sgd

__all__ = ["LangevinAdamState", "LangevinSgdState", "langevin_adam", "langevin_sgd"]
