"""The script that causes faults, in short: writers killed at random, and a disk that is full."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "faults.py"


def rows_of(*words):
    done = subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]


@pytest.mark.parametrize("what", ["exports", "packing"])
def test_files_of_killed_writers_are_whole(what):
    ((fault, times, outcome, verdict),) = rows_of("--kills", "15", "--only", f"kill {what}")
    assert (fault, times, verdict) == (f"kill -9, {what}", "3", "ok")
    assert outcome.startswith("0 files broken")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_in_a_sweep():
    ((fault, _, outcome, verdict),) = rows_of("--only", "disk full sweep")
    assert (fault, verdict) == ("disk full, sweep", "ok"), outcome
    assert "make room" in outcome
