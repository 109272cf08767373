"""The index of a large store gives what its files give, and never what they gave before."""

import dataclasses
import os
import shutil

import numpy as np
import polars as pl
import pytest

from langevin_dqn.presets import preset
from langevin_dqn.runs import index, run_files
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store

LARGE = 12
JOB = Job("dqn", "deep_sea/0", preset="paper", seed=3, episodes=8, changes={"hidden": (5, 5)})


def result_of(job, **changes):
    """What a run might have given, without running it."""
    fields = {
        "agent": job.agent, "env": job.env, "seed": job.seed, "preset": job.preset,
        "config": preset(job.agent, job.preset, **job.changes), "max_return": 0.99, "updates": 7, "seconds": 1.25,
        "returns": np.random.default_rng(job.seed).normal(size=job.episodes).astype(np.float32),
        "lengths": np.full(job.episodes, 10, np.int32),
        "measures": {"total_bad_episodes": np.ones(job.episodes, np.float32)},
    }  # fmt: skip
    return Result(**fields | changes)


def arrays_of(result):
    return {"returns": result.returns, "lengths": result.lengths, **result.measures}


@pytest.fixture(autouse=True)
def small_index(tmp_path, monkeypatch):
    """An index in a cache folder of its own, from a few runs on."""
    monkeypatch.setattr(index, "LEAST", 5)
    monkeypatch.setattr(index, "_JOINED", 3)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("LANGEVIN_DQN_CACHE", raising=False)


def jobs_of(count):
    """Runs whose files have different columns."""
    kinds = [JOB, dataclasses.replace(JOB, agent="boot_dqn"), dataclasses.replace(JOB, episodes=9)]
    return [dataclasses.replace(kinds[seed % 3], seed=seed) for seed in range(count)]


def made_up(job):
    return result_of(job, **({"measures": {}} if job.seed % 2 else {}))


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store")
    for job in jobs_of(LARGE):
        made.put(job, made_up(job))
    return made


@pytest.fixture
def reads(monkeypatch):
    """Names of the files that are read."""
    names, read = [], run_files.read

    def counted(path):
        names.append(path.stem)
        return read(path)

    monkeypatch.setattr(run_files, "read", counted)
    return names


def same(a, b):
    columns = sorted(a.columns)
    return columns == sorted(b.columns) and a.select(columns).equals(b.select(columns))


def test_the_second_time_no_file_is_read(store, reads):
    afresh = store.load(afresh=True)
    assert len(reads) == LARGE
    first = store.load()
    reads.clear()
    assert same(store.load(), first)
    assert same(first, afresh)
    assert store.has_all(jobs_of(LARGE + 1)) == [True] * LARGE + [False]
    for job, found in zip(jobs_of(LARGE), store.get_all(jobs_of(LARGE)), strict=True):
        expected = made_up(job)
        assert found.to_dict() == expected.to_dict()
        a, b = arrays_of(found), arrays_of(expected)
        assert a.keys() == b.keys()
        assert all(a[name].tobytes() == b[name].tobytes() for name in a)
    assert reads == []
    assert store.load(columns=["seed", "env"]).columns == ["seed", "env"]
    assert sorted(store.load(columns=["seed", "env"])["seed"]) == list(range(LARGE))


def test_a_file_that_changed_is_read_again_and_only_that(store, reads):
    store.load()
    reads.clear()
    changed = jobs_of(LARGE)[4]
    store.put(changed, result_of(changed, updates=99))
    assert store.load().filter(pl.col("seed") == 4)["updates"].to_list() == [99]
    assert reads == [store.path(changed).stem]


def test_a_file_with_its_old_time_and_size_is_read_again(store, reads):
    """As after a tool that keeps times has put another file in its place."""
    store.load()
    path = store.path(jobs_of(LARGE)[4])
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    other = path.with_suffix(".other")
    other.write_bytes(content)
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    reads.clear()
    store.load()
    assert path.stem in reads


def test_a_run_that_is_gone_is_not_in_the_table(store):
    store.load()
    store.path(jobs_of(LARGE)[0]).unlink()
    assert sorted(store.load()["seed"]) == list(range(1, LARGE))
    assert store.has_all(jobs_of(LARGE)) == [False] + [True] * (LARGE - 1)
    assert store.get_all(jobs_of(LARGE))[0] is None


def test_a_damaged_file_is_set_aside(store):
    path = store.path(jobs_of(LARGE)[2])
    path.write_bytes(path.read_bytes()[:-20])
    assert store.has_all(jobs_of(LARGE)).count(False) == 1
    assert [found.stem for found in store.damaged] == [f"{path.stem}.0"]


def test_an_index_that_cannot_be_read_is_made_again(store, reads):
    store.load()
    index.Index(store.folder).path.write_bytes(b"PAR1 is not all")
    reads.clear()
    assert store.load().height == LARGE
    assert len(reads) == LARGE
    reads.clear()
    store.load()
    assert reads == []


def test_another_store_of_the_same_runs_has_another_index(store, reads, tmp_path):
    store.load()
    copy = tmp_path / "copy"
    shutil.copytree(store.folder, copy)
    reads.clear()
    assert same(Store(copy).load(), store.load())
    assert len(reads) == LARGE


def test_without_a_cache_all_is_read(store, reads, monkeypatch, tmp_path):
    monkeypatch.setenv("LANGEVIN_DQN_CACHE", "off")
    for _ in range(2):
        reads.clear()
        assert store.load().height == LARGE
        assert len(reads) == LARGE
    assert not (tmp_path / "cache").exists()


def test_small_stores_have_none(tmp_path):
    few = Store(tmp_path / "few")
    for job in jobs_of(3):
        few.put(job, made_up(job))
    assert few.load().height == 3
    assert not index.Index(few.folder).path.exists()


def test_a_job_asked_for_under_two_names_is_found_for_both(store):
    jobs = jobs_of(LARGE)
    again = Job("custom", jobs[0].env, 0, jobs[0].episodes, changes=vars(made_up(jobs[0]).config))
    found = store.get_all([*jobs, again])
    assert found[-1].agent == "custom"
    assert found[0].agent == jobs[0].agent
