import numpy as np
import pytest

from langevin_dqn import preset
from langevin_dqn.runs.result import Result


def returns_learned_at(time, budget):
    """Returns whose regret stays just above 0.8 per episode and falls below it at ``time`` (None: never)."""
    if time is None:
        return np.zeros(budget, np.float32)
    returns = np.full(time, 0.19 - 0.4 / time, np.float32)
    returns[-1] = 0.99
    return returns


@pytest.fixture
def sea_run():
    """A made-up run of a deep sea that learned at a given episode."""

    def make(agent, time, *, depth=10, updates=1, seed=0, preset_name="paper", budget=5000, **changes):
        result = Result(
            agent=agent,
            env=f"deep_sea:depth={depth}",
            seed=seed,
            preset=preset_name,
            config=preset(agent, preset_name, updates_per_step=updates, **changes),
            max_return=0.99,
            learned_regret=0.8,
            returns=returns_learned_at(time, budget),
            updates=0,
            seconds=1.0,
        )
        assert result.learning_time == time
        return result

    return make
