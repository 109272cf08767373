"""Ratios, tables and the picture of a benchmark."""

import pytest

from langevin_dqn.bench import summary
from langevin_dqn.bench.timing import Contestant


def took(name, depth, members, microseconds):
    return Contestant(name, depth, members, lambda: lambda _: None, times=[microseconds] * 3)


CONTESTANTS = [
    took(summary.FLOOR, 0, 1, 50.0),
    took(summary.FLOOR, 0, 5, 40.0),
    took(summary.ENSEMBLE, 10, 5, 80.0),
    took(summary.ENSEMBLE, 50, 5, 160.0),
    took("langevin_dqn", 10, 1, 100.0),
    took("another", 10, 5, 800.0),
]


def test_ratios():
    found = {(row["agent"], row["depth"], row["what"]): row["ratio"] for row in summary.ratios(CONTESTANTS)}
    ensemble = "Ensemble Langevin DQN (5)"
    assert found == {
        (ensemble, 10, "another / this"): 10.0,
        (ensemble, 10, "this / matrix products only"): 2.0,
        (ensemble, 50, "this / matrix products only"): 4.0,
        (ensemble, 50, "this / at depth 10"): 2.0,
        ("Langevin DQN", 10, "this / matrix products only"): 2.0,
    }


def test_who_did_not_run_is_not_found():
    assert summary.find(CONTESTANTS, "another", 10) is CONTESTANTS[-1]
    assert summary.find(CONTESTANTS, "another", 10, 1) is None
    assert summary.find(CONTESTANTS, "another", 20) is None
    assert summary.ratios([took("another", 10, 5, 1.0)]) == []


def test_as_markdown():
    report = {
        "updates": [c.to_dict() for c in CONTESTANTS],
        "ratios": summary.ratios(CONTESTANTS),
        "peak_memory_mb": {"cold": 900.4, "warm": 450.0},
        "startup_seconds": {"langevin-dqn --help": 0.123},
        "solving": [
            {"name": "ours", "depth": 10, "episodes": 150, "seconds": 3.2},
            {"name": "theirs", "depth": 10, "episodes": None, "seconds": 40.0},
        ],
    }
    lines = summary.markdown(report).splitlines()
    assert "| Ensemble Langevin DQN | 50 | 5 | 160 | 160–160 |" in lines
    assert "| Ensemble Langevin DQN (5) | 10 | another / this | 10.00 |" in lines
    assert lines[-4:] == [
        "- peak memory, depth 50, full buffer, 5 members: 900 MB with compilation, "
        "450 MB with compiled programs cached",
        "- langevin-dqn --help: 0.12 s",
        "- depth 10, ours: learned at episode 150, 3 s",
        "- depth 10, theirs: not learned, 40 s",
    ]


def test_the_picture_names_who_is_drawn(tmp_path, last_figure):
    pytest.importorskip("matplotlib")
    summary.cost_against_depth(CONTESTANTS, tmp_path / "bench.png")
    assert (tmp_path / "bench.png").stat().st_size > 10_000
    (legend,) = last_figure().legends
    assert {text.get_text() for text in legend.get_texts()} == {
        "Langevin DQN",
        "Ensemble Langevin DQN (5)",
        "another",
        summary.FLOOR,
    }
