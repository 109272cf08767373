"""Regret curves: the mean of cumulative sums, and one standard error about it."""

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.plots.bandit_regret import regret_curves


@pytest.fixture
def axes_of(monkeypatch):
    """The axes of what is drawn, caught before the figure is closed."""
    import matplotlib.pyplot as plt

    kept = []
    monkeypatch.setattr(plt, "close", lambda figure: kept.append(figure))
    yield lambda: kept[-1].axes
    monkeypatch.undo()
    plt.close("all")


def test_lines_and_bands(tmp_path, axes_of):
    regrets = np.array([[1.0, 0, 2], [3.0, 0, 0], [2.0, 3, 1]])
    path = regret_curves({"arms": {"langevin_dqn": regrets, "thompson": regrets[:1]}}, tmp_path / "a.png", "protocol")
    assert path.stat().st_size > 10_000
    (axes,) = axes_of()
    np.testing.assert_allclose(axes.lines[0].get_ydata(), [2, 3, 4])
    np.testing.assert_allclose(axes.lines[1].get_ydata(), [1, 1, 3])
    assert len(axes.collections) == 1, "one seed has no band"
    ends = axes.collections[0].get_paths()[0].vertices
    at_two = ends[ends[:, 0] == 2, 1]
    error = np.std([1, 3, 5], ddof=1) / np.sqrt(3)
    np.testing.assert_allclose([at_two.min(), at_two.max()], [3 - error, 3 + error])
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["Langevin DQN", "Thompson sampling, exact"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step", "cumulative regret")


def test_a_panel_each(tmp_path, axes_of):
    group = {"dqn": np.ones((2, 4))}
    regret_curves({"linear": group, "neural": group}, tmp_path / "a.pdf")
    assert [axes.get_title() for axes in axes_of()] == ["linear", "neural"]


@pytest.mark.parametrize("panels", [{}, {"arms": {}}])
def test_nothing_to_draw(tmp_path, panels):
    with pytest.raises(UserError, match="regret"):
        regret_curves(panels, tmp_path / "a.png")


def test_a_name_that_is_no_picture(tmp_path):
    with pytest.raises(UserError, match="picture"):
        regret_curves({"arms": {"dqn": np.ones((1, 2))}}, tmp_path / "a.txt")
