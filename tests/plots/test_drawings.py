"""Figure 1, Figure 4, deep exploration and learning curves: written, and showing what they were given."""

import numpy as np
import pytest

from langevin_dqn import UserError, preset
from langevin_dqn.insight.deep_exploration import Times
from langevin_dqn.insight.four_states import FourStates
from langevin_dqn.plots import deep_exploration, deep_sea
from langevin_dqn.plots.four_states import triangles
from langevin_dqn.plots.learning_curves import learning_curves
from langevin_dqn.runs.result import Result

VARIANCE = np.geomspace(1e-3, 1, 48).reshape(6, 4, 2)
MEASURED = {
    "langevin_dqn": [],
    "dqn": [Times(4, 100, (3, 8, None)), Times(8, 100, (None, None, 20))],
    "rlsvi": [Times(4, 100, (3, 4, 5)), Times(8, 100, (30, 40, 50))],
}


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_files_are_written(tmp_path, suffix):
    path = tmp_path / f"picture.{suffix}"
    for write in (
        lambda: deep_sea.draw(path),
        lambda: triangles(FourStates(), {"exact": VARIANCE, "sampled": VARIANCE}, path, "caption"),
        lambda: deep_exploration.draw(MEASURED, path, "caption"),
    ):
        path.unlink(missing_ok=True)
        assert write() == path
        assert path.stat().st_size > 5000


def test_hatched_cells_are_those_no_dive_reaches(tmp_path, axes_of):
    deep_sea.draw(tmp_path / "sea.png", depth=5)
    cells = [p for p in axes_of()[0].patches if p.get_width and getattr(p, "get_width", lambda: 0)() == 1]
    hatched = {(round(p.get_x() + 0.5), round(p.get_y() + 0.5)) for p in cells if p.get_hatch()}
    assert len(cells) == 25
    assert hatched == {(column, row) for row in range(5) for column in range(5) if column > row}


def test_a_darker_triangle_is_a_larger_variance(tmp_path, axes_of):
    triangles(FourStates(), {"exact": VARIANCE}, tmp_path / "triangles.png")
    axes = axes_of()[0]
    brightness = [sum(p.get_facecolor()[:3]) for p in axes.patches]
    assert len(brightness) == 48
    assert brightness == sorted(brightness, reverse=True)
    # 12 plausible transitions of pairs with two, one of (1, up), one seen of (4, down), in five columns.
    assert len(axes.lines) == 5 * (12 + 1 + 1)
    assert sum(line.get_linestyle() == "--" for line in axes.lines) == 5


def test_medians_beyond_the_budget_are_open_markers_at_it(tmp_path, axes_of):
    deep_exploration.draw(MEASURED, tmp_path / "times.png")
    assert [axes.get_title() for axes in axes_of()] == ["first success", "learning time"]
    lines = [line for axes in axes_of() for line in axes.lines]
    markers = [line for line in lines if line.get_marker() not in ("None", "")]
    found = {(line.get_marker(), y) for line in markers for y in line.get_ydata()}
    assert {("o", 8), ("o", 100), ("^", 4), ("^", 40)} == found
    assert [line.get_markerfacecolor() for line in markers].count("white") == 1
    words = [line.get_label() for line in lines]
    assert "tabular RLSVI" in words
    assert "Langevin DQN" not in words  # nothing measured, nothing shown


def test_curves_against_steps_end_with_the_shortest_run(tmp_path, axes_of):
    def run(lengths):
        returns = np.array(lengths, np.float32)
        config = preset("dqn", "paper")
        return Result("dqn", "gym:CartPole-v1", 0, "paper", config, None, returns, 0, 1.0, lengths)

    runs = [run(np.array(lengths)) for lengths in ([10, 20, 70], [5, 15, 60, 15])]
    learning_curves({"dqn": runs}, tmp_path / "curves.png", axis="steps")
    (axes,) = axes_of()
    (median,) = axes.lines
    assert axes.get_xlabel() == "environment steps"
    assert (min(median.get_xdata()), max(median.get_xdata())) == (10, 95)
    # the mean return so far: 10 after 10 steps and 5 after 5; the second run's second episode ends at 20
    np.testing.assert_allclose(median.get_ydata()[0], 7.5)
    with pytest.raises(UserError, match="axis"):
        learning_curves({"dqn": runs}, tmp_path / "curves.png", axis="seconds")


def test_seas_too_deep_to_draw(tmp_path):
    with pytest.raises(UserError, match="depth=40"):
        deep_sea.draw(tmp_path / "sea.png", depth=40)
