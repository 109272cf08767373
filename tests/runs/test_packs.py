"""A packed store is the same store: nothing is lost, changed or taken for intact when it is not."""

import errno
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from langevin_dqn import UserError, files
from langevin_dqn.presets import preset
from langevin_dqn.runs import checksum, index, packs
from langevin_dqn.runs.result import Result, UncertaintyMaps
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store
from langevin_dqn.version import ALGORITHM_VERSION

VERSION = f"v{ALGORITHM_VERSION}"
#: Runs that differ in their columns, types and lengths.
JOBS = [
    *(Job("dqn", "deep_sea/0", preset="paper", seed=n, episodes=5 + n % 3, changes={"hidden": (5,)}) for n in range(6)),
    Job("langevin_dqn", "catch", preset="released", seed=1, episodes=4),
    Job("ensemble_langevin_dqn", "deep_sea:depth=4", preset="paper", seed=2, episodes=6, record="q"),
    Job("dqn", "deep_sea/0", preset="paper", seed=9, episodes=5, changes={"hidden": ()}),  # a list without a type
]


def result_of(job, shift=0.0):
    n, rng = job.episodes, np.random.default_rng(job.seed)
    maps = UncertaintyMaps(np.arange(2), rng.normal(size=(2, 3, 2)).astype(np.float32), np.ones((2, 3), np.int32))
    return Result(
        agent=job.agent,
        env=job.env,
        seed=job.seed,
        preset=job.preset,
        config=preset(job.agent, job.preset, env=job.env, **job.changes),
        max_return=0.99 if job.env.startswith("deep_sea") else None,
        returns=(rng.normal(size=n) + shift).astype(np.float32),
        lengths=np.full(n, 10, np.int32),
        updates=7,
        seconds=1.25,
        measures={"total_bad_episodes": np.ones(n, np.float32)} if job.agent == "dqn" else {},
        record=maps if job.record else None,
    )


def fill(folder, jobs=JOBS):
    store = Store(folder)
    for job in jobs:
        store.put(job, result_of(job))
    return store


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    fill(folder).pack()
    return folder


def pack_of(folder) -> Path:
    (path,) = (folder / VERSION / packs.FOLDER).glob("*.parquet")
    return path


def assert_all_there(folder, jobs=JOBS):
    store = Store(folder)
    assert store.has_all(jobs) == [True] * len(jobs)
    for job, found in zip(jobs, store.get_all(jobs), strict=True):
        assert np.array_equal(found.returns, result_of(job).returns)
        assert found.to_dict() == result_of(job).to_dict()
        assert (found.record is None) == (job.record is None)
    assert not store.damaged


def test_a_packed_store_is_read_as_single_files_are(tmp_path):
    store = fill(tmp_path)
    before, names = store.load(afresh=True), store.names()
    (packing,) = store.pack()
    assert packing[:2] == (len(JOBS), len(JOBS))
    assert packing.freed > 0
    assert not list((tmp_path / VERSION).glob("*.parquet"))
    assert_frame_equal(Store(tmp_path).load().select(before.columns), before)
    assert Store(tmp_path).names() == names
    assert_all_there(tmp_path)


def test_many_runs_are_found_through_the_index_too(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "LEAST", 2)
    store = fill(tmp_path, JOBS[:5])
    store.pack()
    fill(tmp_path, JOBS[5:])
    assert_all_there(tmp_path)
    rows = Store(tmp_path).load(columns=["seed", "episodes"])
    assert sorted(rows["episodes"]) == sorted(job.episodes for job in JOBS)


def test_each_row_has_its_own_columns_and_types_back(packed, tmp_path):
    single = fill(tmp_path)
    for job in JOBS:
        one, other = single._read(single.path(job)), Store(packed)._read(Store(packed).path(job))
        assert other.schema == one.schema
        assert_frame_equal(other.drop("finished_at", "checksum"), one.drop("finished_at", "checksum"))


def test_new_runs_are_added_beside_and_packed_with_the_others(tmp_path):
    fill(tmp_path, JOBS[:3]).pack()
    fill(tmp_path, JOBS[3:])
    assert_all_there(tmp_path)
    (packing,) = Store(tmp_path).pack()
    assert packing[:2] == (len(JOBS), len(JOBS) - 3)
    pack_of(tmp_path)  # the one before is gone
    assert_all_there(tmp_path)
    assert Store(tmp_path).pack()[0].added == 0


def test_a_single_file_counts_instead_of_a_packed_run(tmp_path):
    store = fill(tmp_path)
    store.pack()
    store.put(JOBS[0], result_of(JOBS[0], shift=1.0))
    expected = result_of(JOBS[0], shift=1.0).returns
    assert np.array_equal(Store(tmp_path).get(JOBS[0]).returns, expected)
    assert Store(tmp_path).load().height == len(JOBS)
    Store(tmp_path).pack()
    assert np.array_equal(Store(tmp_path).get(JOBS[0]).returns, expected)


def test_copying_folders_merges_packed_stores(tmp_path):
    for name, jobs in (("a", JOBS[:4]), ("b", JOBS[3:])):
        fill(tmp_path / name, jobs).pack()
    shutil.copytree(tmp_path / "a", tmp_path / "b", dirs_exist_ok=True)
    assert_all_there(tmp_path / "b")
    Store(tmp_path / "b").pack()
    pack_of(tmp_path / "b")
    assert_all_there(tmp_path / "b")


def test_a_store_sees_what_another_process_packs(tmp_path):
    store = fill(tmp_path)
    assert all(map(store.has, JOBS))
    Store(tmp_path).pack()
    assert all(map(store.has, JOBS))
    assert not store.damaged


@pytest.mark.parametrize("after", range(0, len(JOBS) + 2))
def test_nothing_is_lost_when_packing_ends_midway(tmp_path, monkeypatch, after):
    fill(tmp_path, JOBS[:3]).pack()
    fill(tmp_path, JOBS[3:])
    removed = []

    def unlink(path, *args, own=Path.unlink, **options):
        if len(removed) == after:
            raise KeyboardInterrupt
        removed.append(path)
        own(path, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        try:
            Store(tmp_path).pack()
        except KeyboardInterrupt:
            assert len(removed) == after
    assert_all_there(tmp_path)
    Store(tmp_path).pack()
    pack_of(tmp_path)
    assert_all_there(tmp_path)


def test_a_full_disk_removes_nothing(tmp_path, monkeypatch):
    fill(tmp_path)

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "replacing", full)
        with pytest.raises(UserError) as error:
            Store(tmp_path).pack()
    assert "No space left" in error.value.message
    assert "no run is lost" in error.value.hint
    assert_all_there(tmp_path)


def test_a_file_that_holds_something_else_removes_nothing(tmp_path, monkeypatch):
    fill(tmp_path, JOBS[:3]).pack()
    fill(tmp_path, JOBS[3:])
    with monkeypatch.context() as patch:
        own = packs._content
        patch.setattr(packs, "_content", lambda tables: own(list(tables)[4:]))
        with pytest.raises(UserError, match="does not hold what was written"):
            Store(tmp_path).pack()
    assert_all_there(tmp_path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_bit_is_noticed_or_changes_nothing(packed, tmp_path, data):
    content = bytearray(pack_of(packed).read_bytes())
    at = data.draw(st.integers(0, len(content) * 8 - 1))
    content[at // 8] ^= 1 << at % 8
    folder = tmp_path / str(at)
    home = folder / VERSION / packs.FOLDER
    home.mkdir(parents=True, exist_ok=True)
    (home / pack_of(packed).name).write_bytes(content)
    store = Store(folder)
    found = store.get_all(JOBS)
    for job, result in zip(JOBS, found, strict=True):
        if result is not None:
            assert np.array_equal(result.returns, result_of(job).returns)
            assert result.to_dict() == result_of(job).to_dict()
    assert store.damaged or None not in found
    shutil.rmtree(folder)


def test_a_damaged_group_costs_the_runs_in_it_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "_GROUP", 2)
    store = fill(tmp_path)
    store.pack()
    path = pack_of(tmp_path)
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)  # in the first group
    path.write_bytes(content)
    store = Store(tmp_path)
    intact = sum(store.has_all(JOBS))
    assert len(JOBS) - 2 <= intact < len(JOBS)
    assert store.damaged == [path]
    Store(tmp_path).pack()
    assert (tmp_path / "damaged").exists()
    again = Store(tmp_path)
    assert sum(again.has_all(JOBS)) == intact
    assert not again.damaged


def test_a_large_pack_has_few_groups(tmp_path, monkeypatch):
    """Its footer stays short."""
    monkeypatch.setattr(packs, "_GROUP", 1)
    monkeypatch.setattr(packs, "_MOST_GROUPS", 2)
    fill(tmp_path).pack()
    assert pl.scan_parquet(pack_of(tmp_path)).select(pl.len()).collect().item() == len(JOBS)
    assert row_groups(pack_of(tmp_path)) == 2
    assert_all_there(tmp_path)


def test_a_large_damaged_pack_is_read_in_its_few_groups(tmp_path, monkeypatch):
    """Not run by run: each read goes through the footer."""
    monkeypatch.setattr(packs, "_GROUP", 1)
    monkeypatch.setattr(packs, "_MOST_GROUPS", 2)
    fill(tmp_path).pack()
    path = pack_of(tmp_path)
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)  # in the first group
    path.write_bytes(content)
    reads, scan = [], pl.scan_parquet
    monkeypatch.setattr(pl, "scan_parquet", lambda *args, **named: reads.append(1) or scan(*args, **named))
    frames, intact = packs._parts(path)
    assert not intact
    assert sum(frame.height for frame in frames) == len(JOBS) // 2
    assert len(reads) == 2


def row_groups(path):
    """As PyArrow counts them."""
    return pytest.importorskip("pyarrow.parquet").ParquetFile(path).num_row_groups


def test_what_is_not_a_pack_is_not_used(tmp_path):
    home = tmp_path / VERSION / packs.FOLDER
    home.mkdir(parents=True)
    (home / "a.parquet").write_bytes(b"PAR1 nothing PAR1")
    pl.DataFrame({"key": ["a"], "x": [1]}).write_parquet(home / "b.parquet")
    pl.DataFrame(
        {"key": ["a"], "_types": ['{"x": "Array(Float32, shape=(999999999999,))"}'], "x": [None]}
    ).write_parquet(home / "c.parquet")
    pl.DataFrame({"key": ["a"], "_types": ["[]"]}).write_parquet(home / "d.parquet")
    store = Store(tmp_path)
    assert store.names() == set()
    assert store.load().is_empty()
    assert [path.name for path in store.damaged] == ["a.parquet", "b.parquet", "c.parquet", "d.parquet"]


def test_a_damaged_pack_is_written_again_from_single_files(tmp_path):
    """The new pack has the content, and so the name, of the damaged one."""
    fill(tmp_path / "single")
    shutil.copytree(tmp_path / "single", tmp_path / "store")
    Store(tmp_path / "store").pack()
    path = pack_of(tmp_path / "store")
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)
    path.write_bytes(content)
    shutil.copytree(tmp_path / "single", tmp_path / "store", dirs_exist_ok=True)
    store = Store(tmp_path / "store")
    store.pack()
    assert not store.damaged
    assert pack_of(tmp_path / "store") == path
    assert_all_there(tmp_path / "store")


def test_a_damaged_single_file_hides_no_packed_run(tmp_path):
    store = fill(tmp_path)
    store.pack()
    store.put(JOBS[0], result_of(JOBS[0], shift=1.0))
    path = store.path(JOBS[0])
    for read in (lambda s: s.get_all(JOBS), lambda s: s.get(JOBS[0]), lambda s: s.load(), lambda s: s.pack()):
        path.write_bytes(b"cut short")
        opened = Store(tmp_path)
        read(opened)
        assert not path.exists()
        assert [found.parent.name for found in opened.damaged] == ["damaged"]
        assert_all_there(tmp_path)


def test_a_damaged_single_file_hides_no_packed_run_of_a_large_store(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "LEAST", 2)
    store = fill(tmp_path)
    store.pack()
    fill(tmp_path, JOBS[:3])
    store.path(JOBS[1]).write_bytes(b"cut short")
    opened = Store(tmp_path)
    assert opened.has_all(JOBS) == [True] * len(JOBS)
    assert opened.load().height == len(JOBS)


def packs_meanwhile(monkeypatch, folder, moment):
    """Another process packs ``folder`` once, when the pack of ours calls the function of that name."""
    own, done = getattr(packs, moment), []

    def called(*args):
        if not done:
            done.append(True)
            Store(folder).pack()
        return own(*args)

    monkeypatch.setattr(packs, moment, called)


@pytest.mark.parametrize("moment", ["_parts", "_write", "_read", "_size"])
def test_two_may_pack_at_once(tmp_path, monkeypatch, moment):
    fill(tmp_path, JOBS[:3]).pack()
    fill(tmp_path, JOBS[3:6])
    with monkeypatch.context() as patch:
        packs_meanwhile(patch, tmp_path, moment)
        Store(tmp_path).pack()
    assert_all_there(tmp_path, JOBS[:6])
    Store(tmp_path).pack()
    pack_of(tmp_path)
    assert_all_there(tmp_path, JOBS[:6])


def test_what_comes_while_packing_stays(tmp_path, monkeypatch):
    """A pack that is copied into the store after it was looked through has runs that the new one has not."""
    fill(tmp_path / "other", JOBS[6:]).pack()
    fill(tmp_path / "store", JOBS[:6])
    own = packs._write

    def write(*args):
        shutil.copytree(tmp_path / "other", tmp_path / "store", dirs_exist_ok=True)
        return own(*args)

    with monkeypatch.context() as patch:
        patch.setattr(packs, "_write", write)
        Store(tmp_path / "store").pack()
    assert_all_there(tmp_path / "store")


def test_a_run_that_cannot_be_packed_stays_a_single_file(tmp_path):
    store = fill(tmp_path)
    path = store.path(JOBS[0])
    odd = pl.read_parquet(path).drop(checksum.COLUMN).with_columns(_types=pl.lit("mine"), extra=pl.lit(b"bytes"))
    checksum.added(odd).write_parquet(path)
    (packing,) = Store(tmp_path).pack()
    assert packing.runs == len(JOBS) - 1
    assert path.exists()
    assert Store(tmp_path).pack()[0].runs == len(JOBS) - 1
    assert_all_there(tmp_path, JOBS[1:])
    assert Store(tmp_path).get(JOBS[0]).episodes == JOBS[0].episodes


def test_a_pack_that_cannot_be_read_now_is_not_set_aside(tmp_path, monkeypatch):
    fill(tmp_path).pack()
    path = pack_of(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(packs.run_files, "fits", lambda size: False)
        with pytest.raises(UserError, match="of memory, more than there is"):
            Store(tmp_path).get(JOBS[0])

    def fails(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(files, "open_regular", fails)
        with pytest.raises(UserError, match=r"cannot read .*: Input/output error"):
            Store(tmp_path).pack()
    assert path.exists()
    assert_all_there(tmp_path)


def test_a_link_in_its_place_is_refused(tmp_path):
    fill(tmp_path / "store")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "store" / VERSION / packs.FOLDER).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="symbolic link"):
        Store(tmp_path / "store").pack()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_command(tmp_path, langevin_dqn_command):
    fill(tmp_path / "store")
    code, out, _ = langevin_dqn_command("store", "pack", str(tmp_path / "store"))
    assert code == 0
    assert f"{len(JOBS)} runs are packed, {len(JOBS)} of them now" in out
    assert_all_there(tmp_path / "store")
    (tmp_path / "empty").mkdir()
    for folder, words in (("nowhere", "there is no store"), ("empty", "has no runs")):
        code, _, err = langevin_dqn_command("store", "pack", str(tmp_path / folder))
        assert code == 2
        assert words in err
        assert "hint:" in err
