"""The picture of a comparison."""

import itertools

import numpy as np
import polars as pl
import pytest
from made_up import table

from langevin_dqn import UserError
from langevin_dqn.plots.comparison import agent_text, draw_comparison, env_texts, styles_of

FOUR = ["dqn", "langevin_dqn", "boot_dqn", "ensemble_langevin_dqn"]


def curves(axes, least=1.0):
    return [line for line in axes.lines if line.get_linewidth() >= least]


def test_a_panel_per_environment_and_a_line_per_agent(tmp_path, last_figure):
    runs = table({"gym:A-v1": {"dqn": [1, 2, 3], "boot_dqn": [4, 5, 6]}, "jax:a.b:lock:digits=2": {"dqn": [0, 0, 1]}})
    path = draw_comparison(runs, tmp_path / "c.png", caption="20 episodes.")
    assert path.stat().st_size > 10_000
    first, second = last_figure().axes
    assert (first.get_title(), second.get_title()) == ("A-v1", "lock:digits=2")
    assert [line.get_ydata()[-1] for line in curves(first)] == [2.0, 5.0]
    assert len(curves(second)) == 1
    assert first.get_xlabel() == "episodes"
    assert len(first.collections) == 2  # the bands
    (legend,) = last_figure().legends
    assert [text.get_text() for text in legend.get_texts()] == ["DQN", "Boot DQN"]
    caption = " ".join(text.get_text() for text in last_figure().texts) + last_figure()._supxlabel.get_text()
    assert "20 episodes. Line: interquartile mean over 3 seeds; band: 95% bootstrap interval" in caption.replace(
        "\n", " "
    )


def test_steps_on_the_axis(tmp_path, last_figure):
    runs = table({"a": {"dqn": [1, 2, 3]}}).with_columns(lengths=pl.Series([[7] * 20] * 3, dtype=pl.List(pl.Int32)))
    draw_comparison(runs, tmp_path / "c.svg", axis="steps")
    (axes,) = last_figure().axes
    assert axes.get_xlabel() == "environment steps"
    assert curves(axes)[0].get_xdata()[-1] == 140


@pytest.mark.parametrize(
    ("seeds", "thin", "words"),
    [(1, 1, "Line: 1 seed."), (2, 2, "Line: interquartile mean over 2 seeds; thin lines: seeds."), (3, 0, "band:")],
)
def test_few_seeds_are_lines_of_their_own(tmp_path, last_figure, seeds, thin, words):
    draw_comparison(table({"a": {"dqn": list(range(seeds))}}), tmp_path / "c.pdf")
    (axes,) = last_figure().axes
    assert len([line for line in axes.lines if line.get_linewidth() == 0.6]) == thin
    assert len(axes.collections) == (seeds >= 3)
    assert words in last_figure()._supxlabel.get_text().replace("\n", " ")


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 7])
def test_every_panel_is_drawn(tmp_path, last_figure, count):
    draw_comparison(table({f"env{i}": {"dqn": [0, 1, 2]} for i in range(count)}), tmp_path / "c.png")
    assert [axes.get_title() for axes in last_figure().axes if axes.get_visible()] == [f"env{i}" for i in range(count)]


def test_eight_agents_look_different():
    labels = [*FOUR, *(f"dqn:epsilon=0.{i}" for i in range(1, 5))]
    styles = styles_of(labels)
    assert len({style.color for style in styles.values()}) == 8
    assert len({style.marker for style in styles.values()}) == 8
    assert styles["dqn"].color == "#000000"
    assert styles["ensemble_langevin_dqn"].color == "#009E73"
    many = styles_of(f"dqn:epsilon=0.{i}" for i in range(1, 20))
    pairs = itertools.combinations([(style.color, style.marker) for style in list(many.values())[:8]], 2)
    assert all(a != b for a, b in pairs)


def test_texts():
    assert agent_text("boot_dqn:members=10,epsilon=0.1") == "Boot DQN (members=10, epsilon=0.1)"
    assert agent_text("python:a.b:Walk:pace=2") == "Walk (pace=2)"
    assert agent_text("mine") == "mine"
    assert list(env_texts(["gym:CartPole-v1", "jax:a.b:lock:digits=2", "dm:a.b:c", "deep_sea:depth=3"]).values()) == [
        "CartPole-v1", "lock:digits=2", "c", "deep_sea:depth=3",
    ]  # fmt: skip
    same = ["jax:a.b:lock", "jax:c.d:lock"]
    assert list(env_texts(same).values()) == same


def test_curves_are_of_numbers_only(tmp_path, last_figure):
    """A run that ended no episode leaves nothing behind."""
    runs = table({"a": {"dqn": [1, 2, 3], "boot_dqn": [1]}})
    empty = runs.with_columns(
        episodes=pl.when(agent="boot_dqn").then(0).otherwise("episodes"),
    )
    draw_comparison(empty, tmp_path / "c.png")
    (axes,) = last_figure().axes
    assert len(curves(axes)) == 1
    assert np.isfinite(curves(axes)[0].get_ydata()).all()


def test_mistakes(tmp_path):
    runs = table({"a": {"dqn": [1]}})
    with pytest.raises(UserError, match="unknown axis 'time'"):
        draw_comparison(runs, tmp_path / "c.png", axis="time")
    with pytest.raises(UserError, match="cannot write a picture"):
        draw_comparison(runs, tmp_path / "c.gif")
    with pytest.raises(UserError, match="no runs to draw"):
        draw_comparison(runs.clear(), tmp_path / "c.png")
