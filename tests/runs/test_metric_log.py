"""Logs of metrics, read back by the readers they are for; folders that cannot be written to; rows after a resume."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from langevin_dqn import MetricLog, UserError, extras
from langevin_dqn.runs.metric_log import check_folder, check_writers

ROWS = [
    {"episode": n, "steps": 10 * n, "return": n / 3, "loss": None if n == 1 else 0.5 / n, "regret": -1e-9 * n}
    for n in range(1, 6)
]


def logged(folder, *writers, rows=ROWS, **more):
    with MetricLog(folder, writers, **more) as log:
        for row in rows:
            log.write(row)


def from_csv(folder):
    with (folder / "metrics.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    whole = {"episode": int, "steps": int}
    return [{n: None if v == "" else whole.get(n, float)(v) for n, v in row.items()} for row in read]


def from_json(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_csv_and_json_lines(tmp_path):
    logged(tmp_path, "csv", "json", about={"agent": "dqn"})
    assert from_csv(tmp_path) == ROWS
    assert from_json(tmp_path) == ROWS
    assert sorted(path.name for path in tmp_path.iterdir()) == ["metrics.csv", "metrics.jsonl"]


def test_rows_can_be_read_while_the_run_goes_on(tmp_path):
    with MetricLog(tmp_path) as log:
        for n, row in enumerate(ROWS, 1):
            log.write(row)
            assert from_csv(tmp_path) == from_json(tmp_path) == ROWS[:n]


@pytest.mark.parametrize("cut", [0, 7], ids=["whole", "cut off in a row"])
def test_a_log_goes_on_where_its_run_does(tmp_path, cut):
    """Rows after the checkpoint are written again, and a half one is dropped."""
    logged(tmp_path, "csv", "json")
    for path in tmp_path.iterdir():
        path.write_bytes(path.read_bytes()[: -cut or None])
    logged(tmp_path, "csv", "json", rows=ROWS[3:], steps=30)
    assert from_csv(tmp_path) == from_json(tmp_path) == ROWS
    logged(tmp_path, "csv", "json", rows=ROWS[:1])  # without a checkpoint the run begins anew
    assert from_csv(tmp_path) == from_json(tmp_path) == ROWS[:1]


def scalars(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder)).Reload()
    return {name: [(event.step, event.value) for event in found.Scalars(name)] for name in found.Tags()["scalars"]}


def test_tensorboards_own_reader(tmp_path):
    logged(tmp_path, "tensorboard")
    found = scalars(tmp_path)
    assert found.keys() == {"episode", "return", "loss", "regret"}
    for name, events in found.items():
        expected = [(row["steps"], row[name]) for row in ROWS if row[name] is not None]
        assert events == [(step, pytest.approx(value)) for step, value in expected]
    other = [row | {"loss": 7.0} for row in ROWS[3:]]
    logged(tmp_path, "tensorboard", rows=other, steps=30)  # a run that goes on from step 30
    assert [step for step, _ in scalars(tmp_path)["loss"]] == [20, 30, 40, 50]
    assert [value for _, value in scalars(tmp_path)["loss"]][2:] == [7.0, 7.0]


@pytest.mark.slow
def test_weights_and_biases_offline(tmp_path):
    """Its own reader of its own files finds the rows; nothing is sent."""
    code = (
        "import json, sys\nfrom langevin_dqn import MetricLog\n"
        "with MetricLog(sys.argv[1], ('wandb',), about={'agent': 'dqn', 'env': 'deep_sea', 'seed': 3}) as log:\n"
        "    for row in json.loads(sys.argv[2]): log.write(row)\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path), json.dumps(ROWS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=_without_mode())
    assert done.returncode == 0, done.stderr
    assert (done.stdout, done.stderr) == ("", "")
    (file,) = tmp_path.glob("wandb/offline-run-*/run-*.wandb")
    assert from_wandb(file) == [{n: v for n, v in row.items() if v is not None} for row in ROWS]


def _without_mode():
    return {name: value for name, value in os.environ.items() if name != "WANDB_MODE"}


def from_wandb(file):
    """The rows in a file of W&B's: LevelDB's log format, and messages that its package defines."""
    from wandb.proto import wandb_internal_pb2

    content, position, parts, rows = file.read_bytes(), 7, [], []
    assert content.startswith(b":W&B")
    while position + 7 <= len(content):
        room = 2**15 - position % 2**15
        if room < 7:  # the end of a block
            position += room
            continue
        length, kind = int.from_bytes(content[position + 4 : position + 6], "little"), content[position + 6]
        parts.append(content[position + 7 : position + 7 + length])
        position += 7 + length
        if kind in (1, 4):  # a whole record, or the last part of one
            record = wandb_internal_pb2.Record()
            record.ParseFromString(b"".join(parts))
            parts = []
            if record.WhichOneof("record_type") == "history":
                items = {item.nested_key[0] if item.nested_key else item.key: item for item in record.history.item}
                found = {name: json.loads(item.value_json) for name, item in items.items()}
                rows.append({name: value for name, value in found.items() if not name.startswith("_")})
    return rows


def test_writers_that_cannot_be_used(monkeypatch):
    with pytest.raises(UserError, match="unknown metrics format 'tensorbord'\nhint: did you mean 'tensorboard'"):
        check_writers(["csv", "tensorbord"])
    with pytest.raises(UserError, match="no format is given"):
        check_writers([])
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    check_writers(["csv", "json"])
    with pytest.raises(UserError, match=r"wandb is not installed\nhint: pip install 'langevin-dqn\[wandb\]'"):
        check_writers(["wandb"])


def test_a_log_that_is_there_stays(tmp_path):
    logged(tmp_path, "csv")
    before = (tmp_path / "metrics.csv").read_bytes()
    with pytest.raises(UserError, match=r"metrics.csv exists already\nhint: use another folder, or add --overwrite"):
        check_folder(tmp_path, ("json", "csv"), overwrite=False)
    check_folder(tmp_path, ("json",), overwrite=False)
    check_folder(tmp_path, ("csv",), overwrite=True)
    assert (tmp_path / "metrics.csv").read_bytes() == before


def test_folders_that_cannot_be_written_to(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        with pytest.raises(UserError, match=r"cannot write to .*\nhint: use another folder"):
            MetricLog(folder)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"cannot write to .*: No space left on device"):
        MetricLog(tmp_path / "log")


def test_a_disk_that_fills_does_not_cost_the_run(tmp_path):
    log = MetricLog(tmp_path)

    def full():
        raise OSError(28, "No space left on device")

    log._writers["csv"].write = lambda row: full()
    with pytest.warns(
        RuntimeWarning,
        match=r"cannot write metrics \(csv\): No space left on device; training continues without this log",
    ):
        log.write(ROWS[0])
    log.write(ROWS[1])
    log.close()
    assert from_json(tmp_path) == ROWS[:2]
