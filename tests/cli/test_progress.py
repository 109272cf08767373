"""The live line of ``run``: what it shows at 80 columns, and that results still go to stdout."""

import io
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest
from rich.console import Console

from langevin_dqn.cli import progress
from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

AGENT = "python:examples.tabular_rlsvi:TabularRLSVI"


@pytest.fixture
def terminal(monkeypatch):
    """A board whose stream is a terminal of 80 columns, and what was written to it."""
    stream = io.StringIO()
    monkeypatch.setattr(
        progress.terminal,
        "console",
        lambda file: Console(file=file, force_terminal=True, width=80, color_system=None, markup=False),
    )
    return stream


def test_a_line_of_80_columns_has_room_for_everything(terminal):
    jobs = [Job(AGENT, "deep_sea:depth=10", seed, episodes=1_000) for seed in range(20)]
    config, returns = preset("dqn"), np.zeros(1_000, np.float32)
    result = Result("dqn", "deep_sea", 0, "paper", config, 0.99, returns, 0, 1.0, learned_regret=0.8, steps=10_000)
    with progress.Board(jobs, terminal) as board:
        for index in range(20):
            board.finish(index, result)
    last = [line for line in terminal.getvalue().splitlines() if "episodes" in line][-1]
    assert "20,000/20,000 episodes" in last
    assert "learned · regret" in last
    assert "…" not in last


@pytest.mark.slow
def test_json_goes_to_a_file_while_stderr_is_a_terminal(tmp_path):
    """rich would send what is printed beside a live line to the line's own stream."""
    run = ["run", "--agent", "dqn", "--env", "deep_sea:depth=3", "--episodes", "5", "--json"]
    main, side = pty.openpty()
    out = tmp_path / "out.json"
    with out.open("w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "langevin_dqn.cli.main", *run], stdout=stdout, stderr=side, timeout=300
        )
    os.close(side)
    os.close(main)
    assert done.returncode == 0
    assert json.loads(out.read_text())["episodes"] == 5
