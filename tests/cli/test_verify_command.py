"""``langevin-dqn verify``: what it passes, and what it notices."""

import shutil

import polars as pl
import pytest

from langevin_dqn import machine
from langevin_dqn.runs import checksum
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store


@pytest.fixture
def verify(langevin_dqn_command):
    return lambda *argv: langevin_dqn_command("verify", *argv)


JOBS = [
    Job("dqn", "probe_action", 0, 30, preset="paper"),
    Job("langevin_dqn", "deep_sea:depth=4", 1, 20, "released", True, {"updates_per_step": 2, "hidden": (8,)}),
    Job(
        "ensemble_langevin_dqn",
        "deep_sea:depth=4",
        2,
        None,
        preset="paper",
        steps=60,
        changes={"noise_variance": 1e-5},
        record="q",
    ),
]


@pytest.fixture(scope="module")
def real_store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("real"))
    for job in JOBS:
        store.put(job, job.run())
    return store


def test_runs_come_out_the_same(verify, real_store):
    code, out, err = verify("--store", real_store.folder, "--rerun", 5)
    assert (code, out) == (0, f"{real_store.folder}: all checks passed\n")
    assert "3 runs read, 3 match their keys" in err
    assert sum(line.startswith("the same: ") for line in err.splitlines()) == 3


def change(store, job, column, value):
    path = store.path(job)
    changed = (
        pl.read_parquet(path)
        .drop(checksum.COLUMN)
        .with_columns((value if isinstance(value, pl.Series) else pl.lit(value)).alias(column))
    )
    checksum.added(changed).write_parquet(path)


@pytest.mark.parametrize(
    ("column", "value"),
    [("noise_variance", 0.5), ("seed", 7), ("asked_episodes", 31), ("env", "probe_delay"), ("agent", "nobody")],
)
def test_a_file_that_does_not_match_its_key(verify, real_store, tmp_path, column, value):
    store = Store(shutil.copytree(real_store.folder, tmp_path / "copy"))
    change(store, JOBS[0], column, value)
    code, out, _ = verify("--store", store.folder)
    assert code == 1
    assert f"{store.path(JOBS[0]).name} does not match its key" in out
    assert "1 check failed" in out


def test_returns_that_were_tampered_with(verify, real_store, tmp_path):
    store = Store(shutil.copytree(real_store.folder, tmp_path / "copy"))
    path = store.path(JOBS[0])
    table = pl.read_parquet(path)
    returns = [value + 1e-6 for value in table["returns"].to_list()[0]]
    changed = table.drop(checksum.COLUMN).with_columns(returns=pl.Series([returns], dtype=table["returns"].dtype))
    checksum.added(changed).write_parquet(path)
    assert verify("--store", store.folder)[0] == 0  # only doing it again can tell
    code, out, err = verify("--store", store.folder, "--rerun", 3)
    assert code == 1
    assert out.startswith("different returns when repeated: dqn on probe_action, seed 0\n")
    assert "repeated with" not in err  # it was made here, so that rounding is no excuse


@pytest.mark.parametrize(
    ("changed_from", "processor", "code", "outcome"),
    [
        (12, "another", 0, "differs in rounding: "),
        (0, "another", 1, "different: "),
        (12, None, 0, "differs in rounding: "),  # as runs of version 0.1
        (12, machine.processor(), 1, "different: "),
    ],
)
def test_rounding_is_told_from_other_differences(verify, real_store, tmp_path, changed_from, processor, code, outcome):
    store = Store(shutil.copytree(real_store.folder, tmp_path / "copy"))
    returns = store.get(JOBS[0]).returns.copy()
    returns[changed_from:] += 0.5
    change(store, JOBS[0], "returns", pl.Series([returns]))
    change(store, JOBS[0], "processor", processor)
    found, out, err = verify("--store", store.folder, "--rerun", 5)
    assert found == code, err
    assert sum(line.startswith(outcome) for line in err.splitlines()) == 1
    assert ("repeated with" in err) == (code == 0)
    assert ("different returns when repeated" in out) == (code == 1)


def test_a_file_cut_short(verify, real_store, tmp_path):
    store = Store(shutil.copytree(real_store.folder, tmp_path / "copy"))
    path = store.path(JOBS[1])
    path.write_bytes(path.read_bytes()[:-20])
    code, out, err = verify("--store", store.folder)
    assert code == 1
    assert "unreadable file" in out
    assert "2 runs read" in err


@pytest.mark.slow
def test_a_verdict_that_drifted(verify, langevin_dqn_command, made_up_store, tmp_path):
    file = tmp_path / "claims.jsonl"
    file.write_text(langevin_dqn_command("report", "--store", made_up_store, "--json")[1])
    assert verify("--store", made_up_store, "--verdicts", file)[0] == 0

    whole = file.read_text()
    row = next(line for line in whole.splitlines() if "falls drastically" in line)
    file.write_text(whole.replace(row, row.replace("holds", "does not hold", 1)))
    code, out, _ = verify("--store", made_up_store, "--verdicts", file)
    assert code == 1
    (line,) = [line for line in out.splitlines() if line.startswith("fig")]
    assert line.startswith("fig3: shorter: ")
    assert line.endswith("the file has 'does not hold', the runs give 'holds'")

    file.write_text(whole.replace(row + "\n", ""))
    code, out, _ = verify("--store", made_up_store, "--verdicts", file)
    assert code == 1
    assert "the file has 'nothing'" in out


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (None, "none.json", "cannot read"),
        ("no claims", "bad.json", "not a file with one claim per line"),
        ('{"figure": "fig2"}', "bad.json", "not a file with one claim per line"),
        ("", "empty.json", "no verdicts"),
        ("| [fig2](#fig2) | a | ✓ holds |", "page.md", "not a file with one claim per line"),
    ],
)
def test_verdicts_that_cannot_be_read(verify, made_up_store, tmp_path, text, name, message):
    if text is not None:
        (tmp_path / name).write_text(text)
    code, out, err = verify("--store", made_up_store, "--verdicts", tmp_path / name)
    assert (code, out) == (2, "")
    assert message in err
    assert "hint:" in err


def test_bad_input(verify, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for argv, message in (
        (("--store", tmp_path / "nowhere"), "no store"),
        (("--store", tmp_path / "file"), "is a file"),
        (("--store", tmp_path / "empty"), "has no runs"),
        (("--store", tmp_path / "empty", "--rerun", -1), "must be at least 0"),
        (("--store", tmp_path / "empty", "--workers", 0), "must be at least 1"),
    ):
        code, out, err = verify(*argv)
        assert (code, out) == (2, "")
        assert message in err
        assert err.count("hint:") == 1
