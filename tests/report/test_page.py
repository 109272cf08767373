"""The page: whole, self-contained, and true to the reports."""

import dataclasses
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from langevin_dqn.plots.maps import Maps
from langevin_dqn.report import page, settings
from langevin_dqn.report.correction import corrections, excluded
from langevin_dqn.report.durations import format_duration
from langevin_dqn.report.verdicts import format_verdict

VOID = {"meta", "link", "img", "input", "br", "hr", "rect"}


class Outline(HTMLParser):
    """Elements with their attributes and texts; complains about tags that do not match."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID or (tag == "rect" and "class" in dict(attributes)):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> in the wrong place, line {self.getpos()[0]}"

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


@pytest.fixture(scope="module")
def html(page_file):
    return page_file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(html):
    return Outline(html)


def test_the_page_is_well_formed_and_says_its_language(html, outline):
    assert html.lstrip().startswith("<!DOCTYPE html>")
    assert outline.all("html") == [{"lang": "en"}]
    assert len(outline.all("h1")) == len(outline.all("main")) == 1
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = [a["href"] for a in outline.all("a")]
    assert targets
    assert all(target[0] == "#" and target[1:] in ids for target in targets)


def test_nothing_comes_from_elsewhere(html, outline):
    assert not re.search(r"https?://|@import|//cdn", html)
    for tag, attributes in outline.elements:
        for name in ("src", "href", "srcset", "data", "poster"):
            value = attributes.get(name, "#")
            assert value.startswith(("#", "data:image/png;base64,")), (tag, value[:60])
    assert not any("src" in attributes for attributes in outline.all("script"))


def test_every_figure_is_there_with_its_claims_and_runs(outline, every_report):
    sections = {attributes.get("id") for attributes in outline.all("section")}
    assert sections >= {report.figure.id for report in every_report}
    corrected = corrections(every_report)
    for report in every_report:
        expected = [report.figure.title, report.figure.note]
        expected += [report.protocol, page.presets(report)] if report.results else []
        for claim, finding in report.findings:
            expected += [claim.words, format_verdict(finding.verdict), finding.words, finding.test]
            if (after := corrected.get((report.figure.id, claim.id))) and after.adjusted is not None:
                expected.append(f"correction for {after.tests} tests: p = {after.adjusted:.2g}, {after.verdict}.")
            if left_out := excluded(finding, after):
                expected.append(f"Excluded at level 0.05: {left_out}.")
        for words in expected:
            assert " ".join(words.split()) in outline.text, words
    assert "No runs of this figure yet" in outline.text


def test_every_picture_has_its_words(outline, every_report):
    pictures = outline.all("img")
    assert len(pictures) == sum(bool(report.results) or not report.planned for report in every_report)
    assert all(len(picture["alt"]) > 80 for picture in pictures)
    assert len(outline.all("figure")) == len(outline.all("figcaption")) == len(pictures) + 1


def test_a_logarithmic_scale_begins_at_its_least_value_not_at_zero(made_up_report, made_up_maps):
    for maps, begin in ((made_up_maps, "0"), (dataclasses.replace(made_up_maps, least=0.01), "0.01 or less")):
        report = made_up_report("fig5")
        figure = dataclasses.replace(report.figure, interactive=lambda _, maps=maps: maps)
        html = page.render([dataclasses.replace(report, figure=figure)], {})
        assert f'<p class="scale"><span>{begin}</span>' in html


def test_settings_that_the_paper_has_otherwise_are_marked(made_up_report):
    (table,) = settings.tables([made_up_report("fig2")])
    rows = dict(table.rows)
    assert rows["noise_variance"] == [("0", False), ("2.5e-05", True)]


def test_what_is_not_ours_is_escaped(made_up_report):
    report = made_up_report("fig3")
    odd = page.render([report], {}, made_with=[dict.fromkeys(ORIGIN, "<script>alert(1)</script>")])
    assert "<script>alert" not in odd


ORIGIN = ("machine", "python", "jax", "package", "algorithm_version", "runs", "first", "last")


def test_settings_are_those_of_the_runs(every_report):
    first, second = settings.tables(every_report)
    assert [column[:2] for column in second.columns] == [("Boot DQN", "paper"), ("Ensemble Langevin DQN", "paper")]
    rows = dict(second.rows)
    assert [cell.text for cell in rows["noise_variance"]] == ["0", "0.0001"]
    assert [cell.text for cell in rows["insertion_probability"]] == ["0.5", "1"]
    assert "batch_size" not in rows
    rows = dict(first.rows)
    discounts = dict(zip(first.columns, rows["discount"], strict=True))
    assert {(column[1], cell) for column, cell in discounts.items()} == {
        ("paper", ("1", False)),
        ("released", ("0.99", True)),
    }
    decaying = first.columns.index(("DQN", "paper", "Figure 2"))
    assert rows["epsilon"][decaying] == ("0.5", True)
    assert rows["updates_per_step"][decaying].text == "1, 5"


def test_maps_keep_what_cannot_be_reached_apart(made_up_maps):
    frames = made_up_maps.frames()
    assert [frame.episode for frame in frames] == [10, 40, 80, 160]
    assert {len(frame.fills) for frame in frames} == {21}
    assert made_up_maps.top == 40
    assert frames[0].words == "Episode 10: mean 16.7, largest 50 in row 6, column 6"
    assert frames[0].fills[20] == frames[0].fills[19] != frames[0].fills[18]  # 50 and 40 are at the limit, 30 is not
    assert set(frames[2].fills) == {"none"}
    assert frames[2].words == "Episode 80: no map"


@pytest.mark.parametrize(
    ("episodes", "values"), [([1], []), ([1, 2], [np.ones((2, 2)), np.ones((3, 3))]), ([1], [[1.0]]), ([1], [None])]
)
def test_maps_that_do_not_fit_are_refused(episodes, values):
    with pytest.raises(ValueError, match="one grid per episode"):
        Maps(episodes, values, title="Uncertainty", quantity="standard deviation")


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (89, "89 s"), (90, "1.5 min"), (5399, "90.0 min"), (5400, "1.5 h")]
)
def test_durations(seconds, words):
    assert format_duration(seconds) == words
