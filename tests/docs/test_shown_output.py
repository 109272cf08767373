"""The first output that README and the guide show is the one that their command prints, but for the seconds."""

import re
import sys

import pages
import pytest

from langevin_dqn import machine
from langevin_dqn.cli import main as cli

SHOWN = ["README.md", "docs/guide/first_run.md"]


def without_seconds(text):
    lines = [line.rstrip() for line in text.splitlines() if "compilation" not in line]
    return [re.sub(r"\d+\.\d │$", "│", line).replace(" ", "") for line in lines]


def first_output(page):
    return pages.blocks(page, "text")[0]


def test_both_pages_show_the_same():
    assert first_output(SHOWN[0]) == first_output(SHOWN[1])
    summary = next(line for line in first_output(SHOWN[0]).splitlines() if "seeds learned" in line)
    assert pages.blocks("docs/index.md", "text") == [summary]


@pytest.mark.slow
def test_the_first_command_prints_what_is_shown(monkeypatch, capsys):
    (words,) = (words for words in pages.in_blocks("README.md") if words[:2] == ["langevin-dqn", "run"])
    monkeypatch.setattr(machine, "prepare", lambda: None)
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert without_seconds(capsys.readouterr().out) == without_seconds(first_output("README.md"))
