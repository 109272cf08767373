"""Fixtures that more than one file uses."""

import sys

import pytest

from langevin_dqn import machine
from langevin_dqn.cli import main


@pytest.fixture
def langevin_dqn_command(monkeypatch, capsys):
    """The entry point in this process: (exit code, stdout, stderr)."""
    monkeypatch.setattr(machine, "prepare", lambda: None)

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["langevin-dqn", *map(str, argv)])
        with pytest.raises(SystemExit) as stop:
            main.main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call
