"""The help of every command, as a terminal of 80 columns shows it."""

import inspect
import io
import sys
from importlib import import_module

import pytest

from langevin_dqn.cli.arguments import parse
from langevin_dqn.cli.main import COMMANDS, usage
from langevin_dqn.errors import UserError
from langevin_dqn.field_docs import descriptions


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_80_columns_and_shows_no_empty_default(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        parse(import_module(COMMANDS[command][0]).Args, ["--help"], f"langevin-dqn {command}")
    assert stop.value.code == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith(f"usage: langevin-dqn {command} [-h]")
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if "None" in line or "False" in line or "''" in line or "default: )" in line] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_description(command):
    args = import_module(COMMANDS[command][0]).Args
    assert list(descriptions(args)) == list(inspect.get_annotations(args))


def test_the_list_of_commands_fits_80_columns():
    assert [line for line in usage().splitlines() if len(line) > 80] == []


def help_of(command, capsys):
    with pytest.raises(SystemExit):
        parse(import_module(COMMANDS[command][0]).Args, ["--help"], f"langevin-dqn {command}")
    return capsys.readouterr().out


def test_ids_and_lists_are_whole(monkeypatch, capsys):
    """A line is not broken after the comma of an id, which would be copied with it."""
    monkeypatch.setenv("COLUMNS", "80")
    words = help_of("run", capsys).split()
    assert {"deep_sea:depth=20,mapping_seed=7,", "(0,2,7).", "csv,json)"} <= set(words)


@pytest.mark.parametrize(
    ("command", "usage"),
    [
        ("store", "usage: langevin-dqn store [-h] pack FOLDER"),
        ("evaluate", "usage: langevin-dqn evaluate [-h] [OPTIONS] AGENTS ..."),
        ("reproduce", "usage: langevin-dqn reproduce [-h] [OPTIONS] FIGURES ..."),
        ("bench", "usage: langevin-dqn bench [-h] [OPTIONS]"),
    ],
)
def test_usage_names_what_is_required(command, usage, capsys):
    assert help_of(command, capsys).splitlines()[0] == usage


def test_a_terminal_without_lines_shows_tables_too(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(SystemExit):
        parse(import_module(COMMANDS["status"][0]).Args, ["--help"], "langevin-dqn status")
    stream.seek(0)
    assert "\n| --json " in stream.read()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["store"], "missing argument pack"),
        (["store", "pck", "out"], "unknown action 'pck'"),
        (["store", "pack"], "missing argument FOLDER"),
        (["report"], "missing option --store STR"),
        (["list", "agents"], "unknown argument agents"),
        (["run", "--seeds"], "missing value for --seeds"),
        (["run", "--episodes", "1.5"], "--episodes 1.5 is not a whole number"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_what_cannot_be_parsed_is_named(words, message, encoding, monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    with pytest.raises(UserError) as error:
        parse(import_module(COMMANDS[words[0]][0]).Args, words[1:], f"langevin-dqn {words[0]}")
    assert error.value.message == message
