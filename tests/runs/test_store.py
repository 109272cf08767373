"""A run is a file: there as a whole or not at all, and found again by what defines it."""

import dataclasses
import os
import shutil
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import langevin_dqn
from langevin_dqn import AgentConfig, UserError
from langevin_dqn.agents import registry
from langevin_dqn.presets import preset
from langevin_dqn.runs import store
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, identity, key_of
from langevin_dqn.training import ALGORITHM_VERSION, Result

JOB = Job("dqn", "deep_sea/0", preset="paper", seed=3, episodes=8, changes={"hidden": (5, 5)})


def result_of(job, **changes):
    """What a run might have given, without running it."""
    rng = np.random.default_rng(job.seed)
    n = job.episodes
    fields = {
        "agent": job.agent, "env": job.env, "seed": job.seed, "preset": job.preset,
        "config": preset(job.agent, job.preset, **job.changes), "max_return": 0.99,
        "returns": rng.normal(size=n).astype(np.float32), "updates": 7, "seconds": 1.25,
        "lengths": np.full(n, 10, np.int32), "measures": {"total_bad_episodes": np.ones(n, np.float32)},
    }  # fmt: skip
    return Result(**fields | changes)


def arrays_of(result):
    return {"returns": result.returns, "lengths": result.lengths, **result.measures}


def assert_same(found, expected):
    a, b = arrays_of(found), arrays_of(expected)
    assert a.keys() == b.keys()
    assert all(a[name].tobytes() == b[name].tobytes() for name in a)
    assert found.to_dict() == expected.to_dict()
    assert (found.max_return, found.config) == (expected.max_return, expected.config)


def test_a_run_comes_back_as_it_was(tmp_path):
    folder, result = tmp_path / "a" / "store", result_of(JOB)
    assert not Store(folder).has(JOB)
    assert Store(folder).get(JOB) is None
    path = Store(folder).put(JOB, result)
    assert path == Store(folder).path(JOB)
    assert Store(folder).has(JOB)
    assert_same(Store(folder).get(JOB), result)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("changes", [{"max_return": None}, {"diverged": "because"}, {"measures": {}}])
def test_what_may_be_missing_comes_back_too(tmp_path, changes):
    result = result_of(JOB, **changes)
    Store(tmp_path).put(JOB, result)
    assert_same(Store(tmp_path).get(JOB), result)


@pytest.mark.slow
def test_a_real_run_comes_back_bit_for_bit(tmp_path):
    result = JOB.run()
    Store(tmp_path).put(JOB, result)
    assert_same(Store(tmp_path).get(JOB), result)


@pytest.mark.parametrize(
    "changes",
    [
        {"env": "deep_sea/1"},
        {"seed": 4},
        {"episodes": 9},
        {"agent": "boot_dqn"},
        {"preset": "released"},
        {"stop_when_solved": True},
        {"changes": {"hidden": (5, 6)}},
        {"changes": {"hidden": (5, 5), "updates_per_step": 2}},
    ],
    ids=str,
)
def test_what_defines_a_run_names_it(changes):
    assert key_of(dataclasses.replace(JOB, **changes)) != key_of(JOB)


def test_the_way_a_number_is_written_does_not_name_it():
    zero, also_zero = (
        Job("langevin_dqn", "deep_sea/0", 0, 5, preset="paper", changes={"regularizer": z}) for z in (2, 2.0)
    )
    assert key_of(zero) == key_of(also_zero)


def test_names_are_only_names():
    """The same configuration by another road is the same run, and comes back under the name asked for."""
    config = preset("boot_dqn", "paper").to_dict() | {"hidden": (50, 50)}
    same = Job("dqn", JOB.env, 0, 5, preset="paper", changes=config)
    assert key_of(same) == key_of(Job("boot_dqn", JOB.env, 0, 5, preset="paper"))


# Defaults are not part of a run's name, so that a new field leaves old runs valid. Hence:
DEFAULTS = {
    2: {
        "members": 1, "hidden": (50, 50), "negative_slope": 0.0, "learning_rate": 0.001, "noise_variance": 0.0,
        "noise_per_depth": False, "adam_b1": 0.9, "adam_b2": 0.999, "adam_eps": 1e-06, "bias_correction": False,
        "regularizer": 0.0, "regularizer_form": "sum", "loss_scale": 1.0, "mean_over_members": False, "discount": 1.0,
        "batch_size": 128, "shared_minibatch": False, "buffer_size": 100000, "buffer_discipline": "oldest",
        "min_replay_size": 0, "insertion_probability": 1.0, "insertion": "buffers", "target_period": 4,
        "independent_target": False, "target_noise": 0.0, "prior_scale": 0.0, "prior_noise": False, "epsilon": 0.0,
        "epsilon_final": 0.0, "epsilon_decay_episodes": 0, "updates_per_step": 1, "update_timing": "between",
        "row_updates": "auto", "optimizer": "adam", "value_scale": 1.0, "value_scaling": "fixed", "prior_std": 0.0,
        "prior_lifetime": 0.0, "prior_lifetime_growth": 0.0, "prior_networks": 8, "recent_fraction": 0.0,
        "recent_window": 1000,
    },
}  # fmt: skip


def test_a_default_changes_only_with_the_version_of_the_algorithm():
    """Every field there is: one that is new goes into the table, one whose default changed needs a new version."""
    assert dataclasses.asdict(AgentConfig()) == DEFAULTS[ALGORITHM_VERSION]


def test_keys_of_runs_that_are_stored_stay():
    """Worked out by the code that made the committed runs."""
    known = {
        "933d0c153e9f07a81cd5e959fa9940d0": Job("dqn", "deep_sea/0", 3, 8, preset="paper", changes={"hidden": (5, 5)}),
        "039249efdb1df56e777093f212f468c7": Job(
            "langevin_dqn", "deep_sea:depth=10", 0, 100, "released", True, {"updates_per_step": 2}
        ),
        "17ae97b8fd7b78f2b571fd22704d28c3": Job(
            "boot_dqn", "bandit/0", 1, preset="paper", steps=50, record="q", keep_agent=True
        ),
    }
    assert {key: key_of(job) for key, job in known.items()} == {key: key for key in known}


@pytest.fixture
def describes_itself(monkeypatch):
    """A registry in which every agent that is none of the presets describes itself by what it was asked for."""

    def describe_agent(agent, changes, env, network):
        return {"agent": agent, "version": "1", "env": env, "network": network, **changes}

    monkeypatch.setattr(registry, "describe_agent", describe_agent)
    return describe_agent


OWN = Job("python:mine:agent", "deep_sea/0", 3, 8, changes={"size": 4, "names": ("a", "b")})


def test_an_agent_of_ones_own_comes_back_with_its_description(tmp_path, describes_itself):
    description = describes_itself(OWN.agent, OWN.changes | {"names": ["a", "b"]}, OWN.env, None)
    config = {"config": description, "agent": OWN.agent, "preset": OWN.preset}
    result = result_of(dataclasses.replace(JOB, seed=OWN.seed), **config)
    Store(tmp_path).put(OWN, result)
    found = Store(tmp_path).get(OWN)
    assert_same(found, result)
    assert found.config == description
    assert (found.setting("size"), found.setting("members", 1), found.setting("none")) == (4, 1, None)
    row = Store(tmp_path).load().row(0, named=True)
    assert Job.from_json(row["job"]) == OWN
    assert row.get("members") is None


def test_what_an_agent_says_about_itself_names_its_runs(describes_itself):
    identities = identity(OWN)
    assert identities["agent"] == describes_itself(OWN.agent, OWN.changes, OWN.env, None)
    assert identities["algorithm_version"] == ALGORITHM_VERSION
    assert "config" not in identities
    for changes in ({"agent": "python:mine:other"}, {"changes": {"size": 5}}, {"network": "python:mine:net"}):
        assert key_of(dataclasses.replace(OWN, **changes)) != key_of(OWN)


def test_a_network_of_ones_own_names_a_run():
    assert key_of(dataclasses.replace(JOB, network="python:mine:net")) != key_of(JOB)
    assert "network" not in identity(JOB)


def test_settings_by_name():
    result = result_of(JOB)
    assert (result.setting("hidden"), result.setting("members"), result.setting("nothing", 3)) == ((5, 5), 1, 3)


def test_both_kinds_of_agents_in_one_table(tmp_path, describes_itself):
    Store(tmp_path).put(JOB, result_of(JOB))
    Store(tmp_path).put(OWN, result_of(JOB, config={"size": 4}, agent=OWN.agent))
    table = Store(tmp_path).load()
    assert table["agent"].to_list() == ["dqn", OWN.agent]
    assert table["members"].to_list() == [1, None]


def test_the_version_of_the_algorithm_keeps_runs_apart(tmp_path, monkeypatch):
    Store(tmp_path).put(JOB, result_of(JOB))
    for module in ("store", "identity"):
        monkeypatch.setattr(f"langevin_dqn.runs.{module}.ALGORITHM_VERSION", ALGORITHM_VERSION + 1)
    assert not Store(tmp_path).has(JOB)
    assert identity(JOB)["algorithm_version"] == ALGORITHM_VERSION + 1
    Store(tmp_path).put(JOB, result_of(JOB, updates=8))
    assert Store(tmp_path).load()["updates"].to_list() == [8]
    both = Store(tmp_path).load(all_versions=True)
    assert sorted(both["algorithm_version"]) == [ALGORITHM_VERSION, ALGORITHM_VERSION + 1]


@pytest.mark.parametrize("kept", [0, 1, 100, -100, -1], ids=lambda n: f"[:{n}]")
def test_a_truncated_file_is_set_aside_and_its_run_done_again(tmp_path, kept):
    path = Store(tmp_path).put(JOB, result_of(JOB))
    path.write_bytes(path.read_bytes()[:kept])
    opened = Store(tmp_path)
    assert not opened.has(JOB)
    assert not path.exists()
    assert opened.damaged == list((tmp_path / "damaged").iterdir())
    Store(tmp_path).put(JOB, result_of(JOB))
    assert Store(tmp_path).has(JOB)


def test_no_flipped_bit_changes_a_run_unnoticed(tmp_path):
    """A file with one bit flipped is set aside, unless it still holds what was written."""
    result = result_of(JOB, returns=np.random.default_rng(0).normal(size=8).astype(np.float32))
    path = Store(tmp_path).put(JOB, result)
    written = path.read_bytes()
    rng, noticed = np.random.default_rng(1), 0
    for bit in rng.choice(8 * len(written), 120, replace=False):
        damaged = bytearray(written)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(damaged)
        found = Store(tmp_path).get(JOB)
        noticed += found is None
        if found is not None:
            assert_same(found, result)
    assert noticed > 20
    path.write_bytes(written)
    assert_same(Store(tmp_path).get(JOB), result)


def test_a_run_without_a_checksum_is_read(tmp_path):
    path = Store(tmp_path).put(JOB, result_of(JOB))
    pl.read_parquet(path).drop("checksum").write_parquet(path)
    assert_same(Store(tmp_path).get(JOB), result_of(JOB))


def test_a_truncated_file_does_not_keep_the_others_from_loading(tmp_path):
    other = dataclasses.replace(JOB, seed=4)
    for job in (JOB, other):
        path = Store(tmp_path).put(job, result_of(job))
    path.write_bytes(path.read_bytes()[:200])
    opened = Store(tmp_path)
    assert opened.load()["seed"].to_list() == [3]
    assert len(opened.damaged) == 1


#: Legal names of folders that a pattern would read otherwise.
ODD_NAMES = ["a[b]", "a?b", "a*b", "{a,b}", "**", "a [0-9] b"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_folder_may_have_any_name(tmp_path, name):
    folder = tmp_path / name / "store"
    Store(folder).put(JOB, result_of(JOB))
    opened = Store(folder)
    assert opened.has(JOB)
    assert_same(opened.get(JOB), result_of(JOB))
    assert opened.load().height == len(opened.names()) == 1
    assert opened.damaged == []


@pytest.mark.parametrize("name", ["[ab]", "?", "*", "a.b", "-"])
def test_a_file_may_have_any_name(tmp_path, name):
    """It is no run, and is set aside alone."""
    good = Store(tmp_path).put(JOB, result_of(JOB))
    for content in (b"junk", good.read_bytes(), b"other junk"):
        (good.parent / f"{name}.parquet").write_bytes(content)
        assert Store(tmp_path).load()["seed"].to_list() == [JOB.seed]
    assert {p.name for p in (tmp_path / "damaged").iterdir()} == {f"{name}.{number}.parquet" for number in range(3)}


def test_nothing_that_was_set_aside_is_written_over(tmp_path):
    path = Store(tmp_path).put(JOB, result_of(JOB))
    first, second = (tmp_path / "damaged" / f"{path.stem}.{number}.parquet" for number in (0, 1))
    for content in ("first", "second", "third"):
        path.write_text(content)
        assert not Store(tmp_path).has(JOB)
        if content == "second":
            first.unlink()
    assert (first.read_text(), second.read_text()) == ("third", "second")


def test_a_file_under_a_foreign_name_does_not_count(tmp_path):
    path = Store(tmp_path).put(JOB, result_of(JOB))
    other = dataclasses.replace(JOB, seed=4)
    shutil.copy(path, Store(tmp_path).path(other))
    assert not Store(tmp_path).has(other)
    assert Store(tmp_path).has(JOB)


def test_a_writer_killed_half_way_leaves_no_run(tmp_path):
    """The process dies between writing and renaming."""
    code = f"""
import os, sys
sys.path[:0] = {[os.path.dirname(__file__), *sys.path]!r}
from test_store import JOB, result_of
from langevin_dqn.runs.store import Store
os.replace = lambda *_: os._exit(9)
Store({str(tmp_path)!r}).put(JOB, result_of(JOB))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    (left,) = Store(tmp_path).path(JOB).parent.iterdir()
    assert left.suffix == ".tmp"
    assert not Store(tmp_path).has(JOB)
    assert Store(tmp_path).load().is_empty()


def test_a_clock_that_is_ahead_removes_no_file_of_a_living_writer(tmp_path, monkeypatch):
    """Ages are by the clock of the file system, which wrote the times of the files."""
    folder = Store(tmp_path).path(JOB).parent
    folder.mkdir(parents=True)
    living, left = folder / ".abc.1.tmp", tmp_path / ".progress.json.abc.tmp"
    living.touch()
    left.touch()
    os.utime(left, (time.time() - 7200,) * 2)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_400)
    Store(tmp_path).put(JOB, result_of(JOB))
    assert living.exists()
    assert not left.exists()


def test_what_a_killed_writer_left_is_swept_once_nobody_can_be_writing_it(tmp_path):
    folder = Store(tmp_path).put(JOB, result_of(JOB)).parent
    old, new = folder / ".abc.1.tmp", folder / ".abc.2.tmp"
    for left, age in ((old, 3700), (new, 3500)):
        left.write_bytes(b"half a")
        os.utime(left, (time.time() - age,) * 2)
    Store(tmp_path).load()
    assert old.exists()  # reading changes nothing
    Store(tmp_path).put(JOB, result_of(JOB))
    assert sorted(folder.iterdir()) == sorted([new, Store(tmp_path).path(JOB)])


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left"):
        Store(tmp_path).put(JOB, result_of(JOB))
    assert list(Store(tmp_path).path(JOB).parent.iterdir()) == []


def test_a_store_that_is_a_file(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UserError, match="is a file"):
        Store(file)


def test_copying_folders_merges_stores(tmp_path):
    jobs = [dataclasses.replace(JOB, seed=seed) for seed in range(4)]
    for i, job in enumerate(jobs):
        Store(tmp_path / f"store{i % 2}").put(job, result_of(job))
    shutil.copytree(tmp_path / "store0", tmp_path / "store1", dirs_exist_ok=True)
    merged = Store(tmp_path / "store1")
    assert all(merged.has(job) for job in jobs)
    assert merged.load()["seed"].to_list() == [0, 1, 2, 3]


def test_load_results_is_one_table(tmp_path):
    other = Job("langevin_dqn", "catch/0", preset="paper", seed=0, episodes=5)
    measures = {"total_regret": np.arange(5, dtype=np.float32)}
    Store(tmp_path).put(JOB, result_of(JOB))
    Store(tmp_path).put(other, result_of(other, measures=measures, max_return=None))
    table = langevin_dqn.load_results(tmp_path)
    assert table["agent"].to_list() == ["dqn", "langevin_dqn"]
    assert table["noise_variance"].to_list() == [0, 0.005]
    assert table["returns"].list.len().to_list() == [8, 5]
    assert table.filter(env="catch/0")["measure_total_regret"].to_list() == [[0, 1, 2, 3, 4]]
    assert table.filter(agent="dqn").explode("returns", "lengths").height == 8
    assert table["machine"].null_count() == table["jax"].null_count() == 0
    assert table.schema["learning_time"] == pl.Int64


def test_load_results_of_nothing(tmp_path):
    with pytest.raises(UserError, match="no store"):
        langevin_dqn.load_results(tmp_path / "nowhere")
    assert langevin_dqn.load_results(tmp_path).is_empty()


def test_the_table_goes_to_pandas(tmp_path):
    """With the extras ``pandas`` or ``all``."""
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for seed in (0, 1):
        job = dataclasses.replace(JOB, seed=seed)
        Store(tmp_path).put(job, result_of(job))
    table = store.load_results(tmp_path)
    frame = table.to_pandas()
    assert list(frame.columns) == table.columns
    assert frame["seed"].tolist() == [0, 1]
    np.testing.assert_array_equal(frame["returns"][0], table["returns"][0].to_numpy())
