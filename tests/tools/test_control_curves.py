"""The table of docs/guide/gymnasium.md is what the stored runs say, and what counts as learned."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnax")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def curves():
    spec = importlib.util.spec_from_file_location("control_curves", ROOT / "tools" / "control_curves.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_learned_at_the_first_good_mean(curves):
    task = curves.Task(100, range(1), 1.0, episodes=3)
    returns, lengths = np.array([0.0, 2.0, 0.0, 2.0, 1.0, 0.0]), np.full(6, 10)
    assert curves.learned_at(returns, lengths, task) == 40
    assert curves.learned_at(returns, lengths, task._replace(threshold=1.5)) is None
    assert curves.learned_at(returns[:2], lengths[:2], task) is None
    assert curves.learned_at(returns, lengths, task._replace(threshold=None)) is None


def test_the_page_has_the_table_of_the_stored_runs(curves, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    args = curves.Args(store=str(ROOT / "results_control"), measure=False, figure=tmp_path / "curves.png")
    assert curves.main(args) == 0
    table = capsys.readouterr().out
    assert table in (ROOT / "docs" / "guide" / "gymnasium.md").read_text()
    assert table.count("5 of 5") >= 3
    assert args.figure.stat().st_size > 10_000


def test_unknown_names(curves, capsys):
    assert curves.main(curves.Args(only=("gymnax:CartPole",))) == 2
    assert "unknown: gymnax:CartPole; there are gymnax:CartPole-v1" in capsys.readouterr().err
