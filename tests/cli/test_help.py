"""The help of every command, as a terminal of 80 columns shows it."""

import inspect
from importlib import import_module

import pytest

from langevin_dqn.cli.arguments import parse
from langevin_dqn.cli.main import COMMANDS, usage
from langevin_dqn.field_docs import descriptions


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_80_columns_and_shows_no_empty_default(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        parse(import_module(COMMANDS[command][0]).Args, ["--help"], f"langevin-dqn {command}")
    assert stop.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith("usage:")] == []
    assert [line for line in lines if "None" in line or "False" in line or "''" in line or "default: )" in line] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_description(command):
    args = import_module(COMMANDS[command][0]).Args
    assert list(descriptions(args)) == list(inspect.get_annotations(args))


def test_the_list_of_commands_fits_80_columns():
    assert [line for line in usage().splitlines() if len(line) > 80] == []
