"""Recorded maps in results and stores: they come back as they were, and name a run only where there are any."""

import dataclasses
import json

import numpy as np
import pytest

from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result, UncertaintyMaps
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of

SEA = "deep_sea:depth=4"


def made_up(maps=3, states=16, actions=2):
    rng = np.random.default_rng(0)
    return UncertaintyMaps(
        10 * np.arange(1, maps + 1, dtype=np.int32),
        rng.random((maps, states, actions), dtype=np.float32),
        rng.integers(0, 9, (maps, states), dtype=np.int32),
    )


def result_of(job, record):
    config = preset(job.agent, job.preset, **job.changes)
    returns = np.zeros(job.episodes, np.float32)
    return Result("dqn", job.env, job.seed, job.preset, config, 0.99, returns, 0, 1.0, record=record)


@pytest.mark.parametrize("maps", [3, 0])
def test_a_record_comes_back_from_the_store(tmp_path, maps):
    job, record = Job("dqn", SEA, 0, 35, preset="paper", record="q"), made_up(maps)
    Store(tmp_path).put(job, result_of(job, record))
    found = Store(tmp_path).get(job).record
    for name, values in vars(record).items():
        back = getattr(found, name)
        assert (back.shape, back.dtype, back.tobytes()) == (values.shape, values.dtype, values.tobytes())


def test_runs_with_and_without_a_record_share_a_store(tmp_path):
    plain = Job("dqn", SEA, 0, 35, preset="paper")
    recorded = dataclasses.replace(plain, record="q")
    Store(tmp_path).put(plain, result_of(plain, None))
    Store(tmp_path).put(recorded, result_of(recorded, made_up()))
    assert Store(tmp_path).get(plain).record is None
    assert Store(tmp_path).get(recorded).record is not None
    assert {str(found) for found in Store(tmp_path).load()["record_episodes"].to_list()} == {"None", "[10, 20, 30]"}


def test_a_record_names_a_run_only_where_there_is_one():
    """The name is the one this run had before there were records."""
    plain = Job("dqn", "deep_sea/0", preset="paper", seed=3, episodes=8, changes={"hidden": (5, 5)})
    assert key_of(plain) == "933d0c153e9f07a81cd5e959fa9940d0"
    assert key_of(dataclasses.replace(plain, record="q")) != key_of(plain)


def test_as_json():
    record = made_up()
    record.spread[0, 0, 0] = np.nan
    back = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    assert back["spread"][0][0][0] is None
    assert back["spread"][2] == record.spread[2].tolist()
    assert (back["episodes"], back["visits"]) == ([10, 20, 30], record.visits.tolist())
