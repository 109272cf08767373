"""The texts that ``tools/mutants.py`` replaces are in the package, each once."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("mutants", Path(__file__).parents[2] / "tools" / "mutants.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)


def test_every_text_occurs_once(capsys):
    assert mutants.main(mutants.Args(dry=True)) == 0, capsys.readouterr().out
    assert capsys.readouterr().out == ""


def test_a_text_that_is_gone_is_listed(monkeypatch, capsys):
    monkeypatch.setitem(mutants.MUTANTS, "gone", ("version.py", "no such text", "", "tests"))
    assert mutants.main(mutants.Args(dry=True)) == 1
    assert capsys.readouterr().out == "gone: version.py has 0 times the text 'no such text'\n"
