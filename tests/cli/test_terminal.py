"""What commands print: names as they are, no escape sequences, valid JSON, and a line for whoever stops them."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest
from rich.table import Table

from langevin_dqn.cli import terminal
from langevin_dqn.errors import UserError, visible
from langevin_dqn.presets import preset
from langevin_dqn.report import markdown
from langevin_dqn.runs import checksum
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store

NAME = "[bold]x[/bold] <script>alert(1)</script> \x1b[31mred\x1b[0m :smile: |a|"


def printed(what):
    stream = io.StringIO()
    terminal.console(file=stream, width=200, force_terminal=True).print(what)
    return stream.getvalue()


def test_a_name_is_shown_as_it_is():
    table = Table("name", title=NAME)
    table.add_row(NAME)
    for text in (printed(NAME), printed(table)):
        assert "[bold]x[/bold]" in text
        assert ":smile:" in text
        assert "\x1b[31m" not in text
        assert "\\x1b[31mred" in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("ä π·…", "ä π·…"),
        ("\udcff", "\\udcff"),
        ("\x9b1m", "\\x9b1m"),
        ("no\xa0break", "no\xa0break"),
    ],
)
def test_what_is_hidden_becomes_visible(text, shown):
    assert visible(text) == shown


def test_json_is_valid(capsys):
    terminal.print_json({"a": float("inf"), "b": [1.0, float("nan")], "c": {"d": (float("-inf"), 2)}, "e": "NaN"})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.0, None], "c": {"d": [None, 2]}, "e": "NaN"}


@pytest.fixture
def store(tmp_path):
    """A run whose names somebody chose with care."""
    job = Job("dqn", "probe_value", 0, 5, preset="paper")
    result = Result(
        "dqn", "probe_value", 0, "paper", preset("dqn", "paper"), 0.99, np.zeros(5, np.float32), 5, 0.01,
        lengths=np.ones(5, np.int32), learned_regret=0.8,
    )  # fmt: skip
    path = Store(tmp_path / "store").put(job, result)
    table = pl.read_parquet(path).drop(checksum.COLUMN)
    checksum.added(table.with_columns(env=pl.lit(NAME + "\nnext line"), machine=pl.lit(NAME))).write_parquet(path)
    return tmp_path / "store"


def test_names_of_a_store_on_the_terminal(langevin_dqn_command, store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    code, out, err = langevin_dqn_command("status", "--store", store)
    assert code == 0
    assert "\x1b" not in out + err
    assert "[bold]x[/bold]" in out
    code, out, err = langevin_dqn_command("verify", "--store", store)
    assert code == 1
    assert "\x1b" not in out + err


def test_names_in_markdown():
    assert markdown._cell("a|b\n<b>c</b> [x](y) \x1b[0m") == r"a\|b &lt;b>c&lt;/b> [x]\(y) \x1b[0m"
    assert markdown._cell("p < 0.05, 1 <2") == "p < 0.05, 1 <2"


def test_messages_are_one_line_each(langevin_dqn_command, tmp_path):
    code, out, err = langevin_dqn_command("evaluate", f"{tmp_path}/a\x1b[31m\u202e.npz")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 2
    assert "\x1b" not in err


# -- pipes, disks and signals ---------------------------------------------------------


def command(*words, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "langevin_dqn.cli.main", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


def test_a_reader_that_leaves_is_no_failure():
    program = command("list")
    program.stdout.close()
    assert (program.wait(60), program.stderr.read()) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_output_to_a_full_disk():
    words = [sys.executable, "-m", "langevin_dqn.cli.main", "list", "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "No space left on device\nhint: make room on the disk" in done.stderr


def test_a_full_disk_says_make_room(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    job = Job("dqn", "probe_value", 0, 5, preset="paper")
    result = Result("dqn", "probe_value", 0, "paper", preset("dqn", "paper"), 0.99, np.zeros(5, np.float32), 5, 0.01)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="No space left on device") as found:
        Store(tmp_path).put(job, result)
    assert found.value.hint == "make room and repeat the command; finished runs are kept"
    assert not list(tmp_path.glob("v*/.*"))


def test_files_that_may_not_grow(tmp_path):
    """A limit of the file size is the closest to a full disk that needs no rights."""
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (1000, {resource.RLIM_INFINITY}));"
        "import sys; sys.argv = ['langevin-dqn', 'run', '--agent', 'dqn', '--store', sys.argv[1]];"
        "from langevin_dqn.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "store")], capture_output=True, text=True)
    assert done.returncode == 2
    assert f"error: cannot write to {tmp_path / 'store'}: File too large\nhint: use another folder\n" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("number", "code", "words"), [(signal.SIGTERM, 143, "stopped by SIGTERM"), (signal.SIGINT, 130, "stopped")]
)
def test_a_command_that_has_nothing_to_save(number, code, words, tmp_path):
    """While it waits for something."""
    program = subprocess.Popen(
        [sys.executable, "-c", WAITING, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (tmp_path / "waiting").exists():
        time.sleep(0.05)
    program.send_signal(number)
    out, err = program.communicate(timeout=60)
    assert (program.returncode, out) == (code, "")
    assert words in err
    assert "Traceback" not in err


WAITING = """
import sys, time
from pathlib import Path
from langevin_dqn.cli import listing, main

def wait(args):
    (Path(folder) / "waiting").touch()
    time.sleep(60)

folder = sys.argv[1]
listing.main = wait
sys.argv = ["langevin-dqn", "list"]
main.main()
"""
