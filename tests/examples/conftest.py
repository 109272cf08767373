"""What the tests of the examples share; ``examples`` is on the Python path."""

import sys

import pytest

from langevin_dqn import machine
from langevin_dqn.cli import main


@pytest.fixture
def command(monkeypatch, capsys):
    """The command line in this process: (exit code, stdout, stderr)."""
    monkeypatch.setattr(machine, "prepare", lambda: None)

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["langevin-dqn", *map(str, argv)])
        with pytest.raises(SystemExit) as stop:
            main.main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call
