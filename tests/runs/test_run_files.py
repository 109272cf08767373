"""Files of runs and agents: sizes are known before anything is decoded, and no bit flips unseen."""

import importlib.util
import io
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from langevin_dqn.presets import preset
from langevin_dqn.runs import checksum, parquet_footer, run_files
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store

JOB = Job("dqn", "probe_value", 0, 5, preset="paper")


@pytest.fixture
def path(tmp_path):
    result = Result(
        "dqn", "probe_value", 0, "paper", preset("dqn", "paper"), 0.99, np.zeros(5, np.float32), 5, 0.01,
        lengths=np.ones(5, np.int32), learned_regret=0.8,
    )  # fmt: skip
    return Store(tmp_path).put(JOB, result)


@pytest.mark.parametrize("statistics", [True, False])
def test_the_footer_says_what_is_there(tmp_path, statistics):
    table = pl.DataFrame({"a": ["x", "y"], "b": [[1, 2, 3], [4]], "c": [1.5, None]})
    table.write_parquet(tmp_path / "t.parquet", statistics=statistics)
    with (tmp_path / "t.parquet").open("rb") as file:
        found = parquet_footer.declared(file)
        assert file.tell() == 0
    assert (found.rows, found.values) == (2, 2 + 4 + 2)
    assert 0 < found.size < 1000


def test_a_footer_that_cannot_be_read(tmp_path, path):
    content = path.read_bytes()
    size = int.from_bytes(content[-8:-4], "little")
    for end in (b"", b"PAR1", content[-8:], b"\xff" * 4 + b"PAR1", content[-8 - size : -200] + content[-8:]):
        (tmp_path / "file").write_bytes(end)
        with (tmp_path / "file").open("rb") as file, pytest.raises(ValueError):  # noqa: PT011
            parquet_footer.declared(file)


def test_what_declares_too_much_is_not_decoded(path, monkeypatch):
    assert run_files.read(path) is not None
    monkeypatch.setattr(pl, "read_parquet", None)
    for name, limit in (("_MOST_VALUES", 50), ("_MOST_BYTES", 100)):
        with monkeypatch.context() as patch:
            patch.setattr(run_files, name, limit)
            assert run_files.read(path) is None
    pl.DataFrame({"a": [1, 2]}).write_parquet(path)
    assert run_files.read(path) is None


def change(path, table):
    """Somebody who changes a file on purpose writes its checksum, too."""
    checksum.added(table.drop(checksum.COLUMN)).write_parquet(path)


@pytest.mark.parametrize("column", ["agent", "seed", "returns", "lengths", "seconds", "jax"])
def test_a_column_that_is_missing_or_empty(path, column):
    table = pl.read_parquet(path)
    change(path, table.drop(column))
    assert run_files.read(path) is None
    change(path, table.with_columns(pl.lit(None).alias(column)))
    assert run_files.read(path) is None


@pytest.mark.parametrize(
    ("column", "value"),
    [("seed", "0"), ("returns", 1.0), ("returns", [["a"]]), ("hidden", [["50"]]), ("members", "two"), ("agent", 3),
     ("solved", "yes"), ("measure_x", "text"), ("finished_at", 5), ("max_return", "much")],
)  # fmt: skip
def test_a_column_of_another_type(path, tmp_path, column, value):
    table = pl.read_parquet(path)
    change(path, table.with_columns(pl.Series(column, value if isinstance(value, list) else [value])))
    store = Store(tmp_path)
    assert store.get(JOB) is None
    assert len(store.damaged) == 1


def test_settings_that_no_run_can_have(path, tmp_path):
    change(path, pl.read_parquet(path).with_columns(batch_size=pl.lit(-5)))
    store = Store(tmp_path)
    assert store.get(JOB) is None
    assert [damaged.parent.name for damaged in store.damaged] == ["damaged"]


def test_links_inside_a_store(path, tmp_path):
    elsewhere = tmp_path / "elsewhere.parquet"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert Store(tmp_path).get(JOB) is None
    assert elsewhere.exists()
    other = tmp_path / "other"
    other.mkdir()
    (other / path.parent.name).symlink_to(tmp_path)
    with pytest.raises(ValueError, match="is a symbolic link"):
        Store(other).prepare()


def test_backtraces_of_compiled_code_do_not_reach_the_terminal(path, monkeypatch, capfd):
    def panicking(*_, **__):
        os.write(2, b"thread '<unnamed>' panicked at crates/polars\nstack backtrace:\n")
        raise pl.exceptions.ComputeError

    monkeypatch.setattr(pl, "read_parquet", panicking)
    assert run_files.read(path) is None
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(pl, "read_parquet", lambda *_, **__: os.write(2, b"something else\n") and None)
    with pytest.raises(AttributeError):
        run_files.read(path)
    assert capfd.readouterr().err == "something else\n"


def test_no_flipped_bit_changes_anything_unnoticed(tmp_path):
    script = Path(__file__).parents[2] / "tools" / "flip_bits.py"
    spec = importlib.util.spec_from_file_location(script.stem, script)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    outcomes = tool.count(tmp_path, bits=60, seed=1)
    assert {kind: found["UNNOTICED"] for kind, found in outcomes.items()} == {"stored runs": 0, "saved agents": 0}
    assert all(found["noticed"] >= 10 for found in outcomes.values())


def test_a_checksum_of_an_agent_covers_its_line_of_json(tmp_path):
    from langevin_dqn import array_files

    file = tmp_path / "a.npz"
    array_files.write(file, {"seed": 3}, {"x": np.ones(3)})
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    arrays["about"] = np.array(str(arrays["about"]).replace('"seed": 3', '"seed": 4'))
    content = io.BytesIO()
    np.savez(content, **arrays)
    file.write_bytes(content.getvalue())
    with pytest.raises(ValueError, match="is damaged"):
        array_files.ArrayFile.open(file).load()


@pytest.mark.parametrize(
    ("kind", "accepted"),
    [
        (pl.List(pl.Float32), True),
        (pl.Array(pl.Int64, 3), True),
        (pl.List(pl.Null), True),  # of runs without episodes
        (pl.List(pl.String), False),
        (pl.List(pl.List(pl.Float32)), False),
        (pl.Float32(), False),
        (pl.String(), False),
    ],
)
def test_a_list_of_numbers(kind, accepted):
    assert run_files.is_numbers(kind) is accepted


def test_a_stored_run_has_no_statistics(path):
    """They would say nothing of a single row, and take room in each of thousands of files."""
    columns = pytest.importorskip("pyarrow.parquet").ParquetFile(path).metadata.row_group(0)
    assert not any(columns.column(number).is_stats_set for number in range(columns.num_columns))


def test_what_is_small_fits_and_what_is_large_is_compared_with_the_memory(monkeypatch):
    for memory, large in ((1, False), (2**27, True), (None, True)):  # None: the system does not say
        monkeypatch.setattr(run_files.machine, "available_memory", lambda memory=memory: memory)
        assert run_files.fits(2**26)
        assert run_files.fits(2**26 + 1) is large


def test_a_checksum_is_what_it_always_was():
    """Stored runs carry it: another one would make all of them damaged."""
    table = pl.DataFrame({"a": ["x"], "n": [3], "f": [0.25], "l": [[1.0, 2.0]], "t": [None]})
    assert checksum.added(table)[checksum.COLUMN].item() == "6966ed0a82861a7c756fc9cbe6644c78"
