"""Each figure of the paper is drawn from its runs, shows them, and is described in words."""

import dataclasses

import numpy as np
import pytest

from langevin_dqn.paper import fig5
from langevin_dqn.paper.registry import figures
from langevin_dqn.plots.learning_times import draw_times
from langevin_dqn.report import pictures


@pytest.fixture
def drawn(last_figure, tmp_path):
    """Draw a report and look at matplotlib's figure before it is closed."""

    def draw(report, suffix="png"):
        assert pictures.draw(report, tmp_path / f"picture.{suffix}") is not None
        return last_figure()

    return draw


def legend_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def caption_of(figure):
    words = figure.get_supxlabel() or figure.texts[0].get_text()
    return " ".join(words.split())


#: Figures with runs whose caption is the common one.
TRAINED = [name for name, figure in figures().items() if figure.jobs["paper"] and name != "fig5"]


#: One of each kind of picture; the others are drawn by the same code.
KINDS = ("fig2", "fig3", "fig5", "fig7", "fig9", "fig10")


def others_slow(names):
    return [name if name in KINDS else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", others_slow(TRAINED))
def test_every_figure_is_drawn_with_its_protocol(made_up_report, drawn, tmp_path, name):
    report = made_up_report(name)
    caption = caption_of(drawn(report, "pdf"))
    for words in (report.protocol, "scale quick", f"{report.planned} of {report.planned} runs", "preset"):
        assert words in caption
    assert (tmp_path / "picture.pdf").read_bytes().startswith(b"%PDF")
    # A page has the protocol in its text, and does not repeat it in the picture.
    picture = drawn(report)
    assert report.protocol not in " ".join([picture.get_supxlabel(), *(text.get_text() for text in picture.texts)])
    assert (tmp_path / "picture.png").stat().st_size > 20_000
    words = pictures.alt_text(report)
    assert words.startswith(report.figure.title)
    assert sum(character.isdigit() for character in words) > 5
    assert "inf" not in words


def test_the_caption_says_that_some_settings_have_more_seeds(made_up_report):
    assert ", 3 seeds," in made_up_report("fig3").protocol
    assert (
        ", 2 to 3 seeds,"
        in made_up_report("fig3", keep=lambda job: job.seed < 2 or job.changes["updates_per_step"] < 5).protocol
    )


def test_a_drawing_and_a_computation_need_no_runs(made_up_report, drawn, tmp_path):
    for name, words in (("fig1", "cannot be reached"), ("fig4", "variance of (4, down)")):
        report = made_up_report(name)
        assert drawn(report).axes
        assert (tmp_path / "picture.png").stat().st_size > 20_000
        assert words in pictures.alt_text(report)


def test_maps_of_the_run_in_the_middle(made_up_report, drawn):
    report = made_up_report("fig5")
    times = sorted(result.learning_time for result in report.results if result.solved)
    shown = fig5.shown_run(report)
    assert shown.learning_time == times[(len(times) - 1) // 2]
    assert f"Seed {shown.seed}, of median learning time" in caption_of(drawn(report))
    assert f"seed {shown.seed}" in pictures.alt_text(report)
    maps = fig5.slider(report)
    assert maps.shape == (10, 10)
    assert list(maps.episodes) == shown.record.episodes.tolist()
    assert not maps.reachable[0, 1]
    assert maps.share(maps.least) == 0
    assert maps.share(maps.top) == 1


def test_maps_need_a_record(made_up_report, tmp_path):
    report = made_up_report("fig5")
    bare = dataclasses.replace(report, results=tuple(dataclasses.replace(r, record=None) for r in report.results))
    assert pictures.draw(bare, tmp_path / "picture.png") is None
    assert fig5.slider(bare) is None
    assert "no maps" in pictures.alt_text(bare)


@pytest.mark.parametrize("name", [*TRAINED, "fig5"])
def test_no_runs_no_picture(made_up_report, tmp_path, name):
    report = made_up_report(name, keep=lambda job: False)
    assert pictures.draw(report, tmp_path / "picture.png") is None
    assert list(tmp_path.iterdir()) == []
    assert "no runs" in pictures.alt_text(report)


@pytest.mark.parametrize("name", others_slow(figures()))
def test_a_single_run_is_enough_to_go_on(made_up_report, tmp_path, name):
    report = made_up_report(name)
    report = dataclasses.replace(report, results=report.results[:1])
    pictures.draw(report, tmp_path / "picture.png")
    assert pictures.alt_text(report)


def test_shares_have_a_line_for_each_number_of_updates(made_up_report, drawn):
    report = made_up_report("fig2")
    figure = drawn(report)
    assert [axes.get_title() for axes in figure.axes] == ["DQN", "Langevin DQN"]
    assert legend_of(figure) == ["updates per step:", "1", "5"]
    for axes, agent in zip(figure.axes, ("dqn", "langevin_dqn"), strict=True):
        for line, updates in zip(axes.lines, (1, 5), strict=True):
            runs = [r for r in report.results if r.agent == agent and r.config.updates_per_step == updates]
            shares = [np.mean([r.solved for r in runs if r.env.endswith(f"={depth}")]) for depth in (10, 20)]
            np.testing.assert_allclose(line.get_ydata(), shares)


def test_the_texts_own_reading_is_lighter(made_up_report, drawn):
    figure = drawn(made_up_report("fig2", "standard"))
    assert legend_of(figure)[-1] == "the text's σ_w² = 0.005 N, λ = 1"
    assert [len(axes.lines) for axes in figure.axes] == [3, 6]
    light = [line for line in figure.axes[1].lines if line.get_markerfacecolor() == "white"]
    # It was run at the first and the last depth; the line between them would be made up.
    assert [np.isfinite(line.get_ydata()).tolist() for line in light] == [[True, *[False] * 4, True]] * 3


def test_runs_that_did_not_learn_are_triangles_at_the_budget(made_up_report, drawn):
    report = made_up_report("fig8")
    (axes,) = drawn(report).axes
    late = [y for line in axes.lines if line.get_marker() == "^" for y in line.get_ydata()]
    assert len(late) == sum(not r.solved for r in report.results) > 0
    assert set(late) == {2000}
    dots = [y for line in axes.lines if line.get_linestyle() == "None" for y in line.get_ydata()]
    assert sorted(dots) == sorted([*late, *(r.learning_time for r in report.results if r.solved)])
    assert axes.get_yscale() == "log"
    assert "2 of 3\nlearned" in [text.get_text() for text in axes.texts]


def test_scores_are_means_over_seeds(made_up_report, drawn):
    report = made_up_report("fig11")
    figure = drawn(report)
    (axes,) = figure.axes
    assert legend_of(figure) == ["Boot DQN", "Ensemble Langevin DQN"]
    means = [line for line in axes.lines if line.get_linestyle() != "None"]
    for line, agent in zip(means, ("boot_dqn", "ensemble_langevin_dqn"), strict=True):
        solved = [
            np.mean([r.solved for r in report.results if r.agent == agent and r.config.members == size])
            for size in (1, 3, 5)
        ]
        np.testing.assert_allclose(line.get_ydata(), solved)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "3", "5"]


def test_two_values_are_not_joined(made_up_report, drawn):
    figure = drawn(made_up_report("fig7"))
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "5"]
    assert {line.get_linestyle() for line in axes.lines} == {"None"}
    assert "bar: worst to best seed; depths 10 and 20" in caption_of(figure)


def test_two_medians_are_not_joined(made_up_report, tmp_path, axes_of):
    """Also where a third number of updates was run by another agent."""
    every = made_up_report("fig3").results
    ours = [run for run in every if run.config.updates_per_step in (1, 5)]
    others = [dataclasses.replace(run, agent="dqn") for run in every]
    draw_times([*ours, *others], tmp_path / "a.png", "", 5000)
    (axes,) = axes_of()
    medians = {line.get_label(): line for line in axes.lines if line.get_marker() == "_"}
    finite = {name: np.isfinite(line.get_ydata()).sum() for name, line in medians.items()}
    assert finite == {"DQN": 4, "Langevin DQN": 2}
    assert medians["Langevin DQN"].get_linestyle() == "None" != medians["DQN"].get_linestyle()


def test_one_chain_and_an_ensemble_are_set_by_compute(made_up_report, drawn):
    report = made_up_report("fig6", "standard", keep=lambda job: (job.agent, job.seed) != ("langevin_dqn", 2))
    figure = drawn(report)
    assert [axes.get_title() for axes in figure.axes] == ["5 model updates per step", "25 model updates per step"]
    for axes, compute in zip(figure.axes, (5, 25), strict=True):
        assert [text.get_text() for text in axes.get_xticklabels()] == ["10", "14", "20", "26", "30"]
        markers = [line for line in axes.lines if line.get_linestyle() == "None"]
        drawn_runs = sum(len(line.get_xdata()) for line in markers)
        runs = [r for r in report.results if r.config.members * r.config.updates_per_step == compute]
        assert drawn_runs == len(runs) == 25
    assert legend_of(figure)[:2] == ["Langevin DQN", "Ensemble Langevin DQN (5)"]


def test_ensembles_over_bsuite_carry_their_sizes(made_up_report, drawn):
    names = ["DQN", "Boot DQN (10)", "Ensemble Langevin DQN (7)"]
    assert legend_of(drawn(made_up_report("fig12"))) == names
    assert legend_of(drawn(made_up_report("fig13"))) == [*names, "not run"]
