"""Which episodes of a stored run have to agree where it is repeated on another kind of processor."""

import dataclasses

import numpy as np
import pytest

from langevin_dqn import machine
from langevin_dqn.presets import preset
from langevin_dqn.runs import repeating
from langevin_dqn.runs.result import Result


def result(lengths, **changes):
    lengths = np.asarray(lengths, np.int32)
    config = preset("dqn", "paper", **changes)
    returns = np.linspace(0, 1, len(lengths)).astype(np.float32)
    return Result("dqn", "deep_sea/0", 0, "paper", config, 0.99, returns, 0, 1.0, lengths=lengths)


@pytest.mark.parametrize(
    ("lengths", "changes", "episodes"),
    [
        ([10] * 50, {}, 10),
        ([10] * 50, {"updates_per_step": 5}, 6),  # the sixth acts on 250 updates
        ([10] * 50, {"updates_per_step": 50}, 1),
        ([10] * 4, {}, 4),
        ([100] * 9, {"update_timing": "within"}, 2),  # after 100 and 200 updates
        ([300] * 9, {"update_timing": "within"}, 0),
    ],
)
def test_episodes_before_the_first_few_hundred_updates(lengths, changes, episodes):
    assert repeating.comparable_episodes(result(lengths, **changes)) == episodes


def test_what_is_rounding_and_what_is_not():
    kept = result([10] * 50, updates_per_step=5)
    here, elsewhere = machine.describe(), machine.describe() | {"processor": None}
    late, early = (np.where(np.arange(50) == place, 9, kept.returns).astype(np.float32) for place in (6, 5))
    for returns, row, outcome in (
        (kept.returns, here, "the same"),
        (late, here, "different"),
        (late, elsewhere, "differs in rounding"),
        (early, elsewhere, "different"),
    ):
        assert repeating.compare(kept, dataclasses.replace(kept, returns=returns), row) == outcome
