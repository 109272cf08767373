"""The radar and the bars: drawn for any set of agents and scores, and telling agents apart."""

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.analysis.bsuite_summary import TAGS
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.plots import bsuite as bsuite_figures

AGENTS = ("dqn", "boot_dqn:members=10", "ensemble_langevin_dqn:members=7")


def made_up(names, agents=AGENTS):
    rng = np.random.default_rng(0)
    return {agent: {name: float(rng.random()) for name in names} for agent in agents}


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_files_are_written(tmp_path, suffix):
    for draw, names in ((bsuite_figures.radar, TAGS), (bsuite_figures.bars, SWEEPS)):
        path = draw(made_up(names), tmp_path / f"{draw.__name__}.{suffix}", "protocol")
        assert path.stat().st_size > 5000


def test_bars_show_the_scores(tmp_path, axes_of):
    scores = made_up(SWEEPS)
    bsuite_figures.bars(scores, tmp_path / "bars.png")
    heights = {bar.get_height() for axes in axes_of() for bar in axes.patches}
    assert heights == {score for by_name in scores.values() for score in by_name.values()}
    assert [axes.get_title() for axes in axes_of()] == [
        "basic", "noise", "scale", "exploration", "credit assignment", "memory"
    ]  # fmt: skip


def test_bars_mark_what_is_missing_or_unfinished(tmp_path, axes_of):
    scores = made_up(SWEEPS)
    del scores["dqn"]["mnist"]
    bsuite_figures.bars(scores, tmp_path / "bars.png", unfinished={("dqn", "catch")})
    basic = axes_of()[0]
    assert sum(len(line.get_xdata()) for line in basic.lines) == 1
    assert [bar.get_alpha() for bar in basic.patches].count(0.4) == 1


def test_a_score_of_zero_is_a_line_and_passes_are_ranges(tmp_path, axes_of):
    scores = made_up(SWEEPS, ["dqn"])
    scores["dqn"]["catch"] = 0.0
    bsuite_figures.bars(scores, tmp_path / "bars.png", ranges={"dqn": {"bandit": (0.2, 0.6)}})
    segments = [path.vertices.tolist() for drawn in axes_of()[0].collections for path in drawn.get_paths()]
    assert [[x, y] for (x, y), _ in segments] == [[0, 0.2], [pytest.approx(1.68), 0]]


def test_agents_with_equal_scores_are_side_by_side_in_the_radar(tmp_path, axes_of):
    scores = {agent: dict.fromkeys(TAGS, 0.0) for agent in AGENTS}
    bsuite_figures.radar(scores, tmp_path / "radar.png", ranges={"dqn": {"basic": (0.0, 0.5)}})
    (axes,) = axes_of()
    lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert len({line.get_xdata()[0] for line in lines}) == 3
    assert axes.get_rorigin() < 0
    assert [list(line.get_ydata()) for line in axes.lines if len(line.get_xdata()) == 2] == [[0.0, 0.5]]


def test_the_radar_shows_the_scores_in_bsuites_order(tmp_path, axes_of):
    scores = made_up(TAGS)
    bsuite_figures.radar(scores, tmp_path / "radar.png")
    (axes,) = axes_of()
    for line, by_tag in zip(axes.lines, scores.values(), strict=True):
        assert list(line.get_ydata()) == [*by_tag.values(), by_tag["basic"]]
    written = [text.get_text().replace("\n", "_") for text in axes.texts]
    assert [word for word in written if word in TAGS] == list(TAGS)


def test_agents_are_told_apart_in_every_way():
    found = bsuite_figures.styles(["dqn", "boot_dqn:members=10", "boot_dqn", "mine", "yours"])
    for field in ("text", "color", "hatch", "marker"):
        assert len({getattr(style, field) for style in found.values()}) == 5, field
    assert found["boot_dqn:members=10"].text == "Boot DQN (10)"
    assert found["dqn"].color == bsuite_figures.STYLES["dqn"][0]


def test_bad_path(tmp_path):
    with pytest.raises(UserError, match="picture"):
        bsuite_figures.bars(made_up(SWEEPS), tmp_path / "bars.docx")
