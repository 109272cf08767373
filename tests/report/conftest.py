"""Fixtures that more than one file uses."""

import dataclasses

import numpy as np
import pytest

from langevin_dqn.paper.registry import figures
from langevin_dqn.plots.maps import Maps
from langevin_dqn.report import page, pictures

EPISODES = (10, 40, 80, 160)


@pytest.fixture(scope="session")
def made_up_maps():
    """Uncertainty that clears from the left; the third map was not taken."""
    depth = 6
    reachable = np.tri(depth, dtype=bool)
    known = [np.where(reachable, np.maximum(np.arange(depth) * 10.0 - 3 * k, 0), np.nan) for k in range(4)]
    maps = [known[0], known[1].tolist(), None, known[3]]
    return Maps(EPISODES, maps, title="Uncertainty", quantity="standard deviation of Q", limit=40.0)


@pytest.fixture(scope="session")
def every_report(made_up_report, made_up_maps):
    """Every figure, all with runs but one; the one with a slider shows made-up maps."""
    reports = [made_up_report(name) if name != "fig11" else made_up_report(name, keep=_none) for name in figures()]
    return [
        dataclasses.replace(report, figure=dataclasses.replace(report.figure, interactive=lambda _: made_up_maps))
        if report.figure.interactive
        else report
        for report in reports
    ]


def _none(job):
    return False


@pytest.fixture(scope="session")
def page_file(every_report, tmp_path_factory):
    """The page, written."""
    folder = tmp_path_factory.mktemp("page")
    drawn = {report.figure.id: pictures.draw(report, folder / f"{report.figure.id}.png") for report in every_report}
    origin = {
        "machine": "made up, 2 cores", "python": "3.11.0", "jax": "0.10", "package": "0.1.0", "algorithm_version": 2,
        "runs": 7, "first": "2026-01-01", "last": "2026-01-02",
    }  # fmt: skip
    files = {name: path for name, path in drawn.items() if path is not None}
    html = page.render(every_report, files, made_with=[origin])
    (folder / "report.html").write_text(html, encoding="utf-8")
    return folder / "report.html"
