"""Every command in README and the pages can be given as it stands; those that train are run, on a small budget."""

import re
import runpy
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pages
import pytest

from langevin_dqn import machine
from langevin_dqn.cli import main as cli
from langevin_dqn.cli.arguments import parse

ALL = pages.commands()
OURS = [(page, words) for page, words in ALL if words[0] == "langevin-dqn"]


def shown(found):
    return [f"{page}: {' '.join(words)}" for page, words in found]


#: What a text may leave out when it mentions a command.
REQUIRED = {"run": ("--agent", "dqn"), "report": ("--store", "out"), "verify": ("--store", "out")}


def arguments(words):
    """What the command's own parser makes of the words; None for --version and the like."""
    name, *options = words[1:]
    if name.startswith("-") or name.isupper() or "--help" in options:
        return None
    left_out = REQUIRED.get(name, ())
    if left_out and left_out[0] not in options:
        options += left_out
    return parse(import_module(cli.COMMANDS[name][0]).Args, options, f"langevin-dqn {name}")


def test_the_reader_of_pages_sees_commands():
    assert len(ALL) > 60
    assert ("README.md", ("make", "demo")) in ALL
    assert {words[0] for _, words in ALL} <= {*pages.PROGRAMS, "source", "export", "python3"}
    assert {words[1] for _, words in OURS} >= {"run", "reproduce", "report", "verify", "bsuite", "bench", "list"}


@pytest.mark.parametrize(("page", "words"), OURS, ids=shown(OURS))
def test_a_command_of_ours_is_understood(page, words, monkeypatch):
    monkeypatch.chdir(pages.ROOT)
    args = arguments(words)
    if words[1] == "run" and args is not None and args.agent:  # not a part of a command, or --help
        from langevin_dqn.cli.run import changes_of, parse_seeds

        monkeypatch.syspath_prepend(str(pages.ROOT))
        assert parse_seeds(args.seeds)
        changes_of(args)
    elif words[1] in ("report", "verify", "reproduce"):
        from langevin_dqn.paper.registry import choose

        named = args.figures if words[1] == "reproduce" else args.figure
        names = [name for name in named if not name.startswith("python:")]
        assert not names or choose(names)


SCRIPTS = [(page, words) for page, words in ALL if words[0] == "python" and words[1].endswith(".py")]


@pytest.mark.parametrize("script", sorted({words[1] for _, words in SCRIPTS}))
def test_a_script_knows_the_options_it_is_given(script, monkeypatch, capsys):
    monkeypatch.chdir(pages.ROOT)
    assert Path(script).is_file()
    options = {word for _, words in SCRIPTS if words[1] == script for word in words if word.startswith("--")}
    if options:
        monkeypatch.setattr(sys, "argv", [script, "--help"])
        monkeypatch.syspath_prepend(str(Path(script).parent.resolve()))  # as Python does for a script
        with pytest.raises(SystemExit) as stop:
            runpy.run_path(script, run_name="__main__")
        assert stop.value.code == 0
        told = capsys.readouterr().out
        assert [option for option in options if option not in told] == []


def test_other_commands_name_what_exists():
    targets = set(re.findall(r"^([\w-]+):", (pages.ROOT / "Makefile").read_text(), re.MULTILINE))
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text())["project"]
    extras = set(project["optional-dependencies"])
    for page, words in ALL:
        if words[0] == "make":
            assert words[1] in targets, (page, words)
        if words[0] == "pip":
            named = re.findall(r"\[(.*?)\]", " ".join(words))
            assert {extra for group in named for extra in group.split(",")} <= extras, (page, words)


#: Budgets and folders that make a run short; later options replace earlier ones.
#: Patterns with a place for a name (package.module) and what needs files of its own are left out.
RUNS = [
    (page, words)
    for page, words in OURS
    if words[1] == "run"
    and "--agent" in words
    and "mnist/0" not in words
    and not any("package.module" in word for word in words)
]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "words"), RUNS, ids=shown(RUNS))
def test_a_run_works(page, words, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(machine, "prepare", lambda: None)
    monkeypatch.syspath_prepend(str(pages.ROOT))
    monkeypatch.chdir(tmp_path)
    budget = ["--episodes", "12"] + (["--steps", "60"] if "--steps" in words else [])
    smaller = ["--seeds", "0"] + (["--updates-per-step", "1"] if "--updates-per-step" in words else [])
    monkeypatch.setattr(sys, "argv", [*words, *budget, *smaller])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    out, err = capsys.readouterr()
    assert (stop.value.code, "seed" in out) == (0, True), err


@pytest.mark.parametrize(
    "words",
    [
        ["langevin-dqn", "list"],
        ["langevin-dqn", "--version"],
        ["langevin-dqn", "reproduce", "fig2", "fig7", "--plan"],
        ["langevin-dqn", "status", "--store", "results"],
    ],
)
def test_a_short_command_works_as_it_stands(words, monkeypatch, capsys):
    monkeypatch.chdir(pages.ROOT)
    monkeypatch.setattr(machine, "prepare", lambda: None)
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert out or err
