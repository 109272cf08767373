"""``--help`` of every script for developers: it starts nothing, and fits a terminal."""

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What has no options, is called by another script, or has no command line.
WITHOUT = {"bsuite_score_oracle.py", "docs_hooks.py", "fault_kills.py"}
TOOLS = sorted(path.name for path in (ROOT / "tools").glob("*.py") if path.name not in WITHOUT)


def run(script, *words, monkeypatch):
    """The exit code of a script in ``tools``."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", [f"tools/{script}", *words])
    monkeypatch.syspath_prepend(str(ROOT / "tools"))  # as Python does for a script
    with pytest.raises(SystemExit) as stop:
        runpy.run_path(f"tools/{script}", run_name="__main__")
    return stop.value.code


@pytest.mark.parametrize("script", TOOLS)
def test_help_of_a_tool(script, monkeypatch, capsys):
    pytest.importorskip("gymnax" if script in ("control_curves.py", "family_tries.py") else "polars")
    assert run(script, "--help", monkeypatch=monkeypatch) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: ")
    assert re.search(rf"^    python tools/{script}", out, re.MULTILINE)  # a line of its own, to be copied
    assert [line for line in out.splitlines() if len(line) > 80] == []
    assert [line for line in out.splitlines() if "None" in line or "''" in line or "default: )" in line] == []


def test_the_names_of_tries_are_shown(monkeypatch, capsys):
    run("deeper_tries.py", "--help", monkeypatch=monkeypatch)
    assert {"window_300,", "one_chain_window_300."} <= set(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("script", "words", "error"),
    [
        ("deeper_tries.py", ["windw_300"], "error: unknown try 'windw_300'\nhint: did you mean 'window_300'?\n"),
        ("family_tries.py", ["dqm"], "error: unknown try 'dqm'\nhint: did you mean 'dqn'?\n"),
        (
            "fault_kills.py",
            ["packing"],
            "error: this script is started by another one\nhint: python tools/faults.py --help\n",
        ),
        (
            "kill_sweep.py",
            ["--runs", "3"],
            "error: --runs 3 cannot be used\nhint: --runs must be an even number of at least 4\n",
        ),
        (
            "run_notebooks.py",
            ["none.ipynb"],
            "error: there is no notebook none.ipynb\nhint: pass .ipynb files, or none to run all\n",
        ),
        (
            "bsuite_score_oracle.py",
            [],
            "error: no folder to write to\nhint: python tools/bsuite_score_oracle.py tests/data\n",
        ),
        ("update_cost.py", ["--dept", "3"], "error: unknown option --dept\nhint: did you mean '--depth'?\n"),
    ],
)
def test_a_mistake_is_a_line_and_a_hint(script, words, error, monkeypatch, capsys):
    assert run(script, *words, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err == error


def test_a_tool_that_is_not_installed_is_named(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert run("lock.py", monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err == "error: uv is not installed\nhint: pip install uv\n"


def test_the_environment_of_a_tool_is_shown(monkeypatch, capsys):
    assert run("bsuite_score_oracle.py", "--help", monkeypatch=monkeypatch) == 0
    assert "old/bin/python tools/bsuite_score_oracle.py tests/data" in capsys.readouterr().out
