"""Verdicts in files: read back, in the words of this version and of earlier ones."""

import dataclasses
import json

import numpy as np
import pytest

from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, NOT_ENOUGH, Claim, Finding, inconclusive
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import at_every_scale
from langevin_dqn.presets import preset
from langevin_dqn.report import markdown
from langevin_dqn.report.summary import summarise
from langevin_dqn.report.verdicts import as_json_lines, differences, format_verdict, read
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store


@pytest.fixture
def reports(made_up_report):
    """A figure whose two claims hold and are inconclusive."""
    report = made_up_report("fig3")
    (first, one), (second, two) = report.findings
    one, two = dataclasses.replace(one, verdict=HOLDS), dataclasses.replace(two, verdict=INCONCLUSIVE)
    return [dataclasses.replace(report, findings=((first, one), (second, two)))]


@pytest.fixture
def written(reports, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text(as_json_lines(reports), encoding="utf-8")
    return path


def test_what_was_written_is_read_back(reports, written):
    assert "inconclusive" in written.read_text(encoding="utf-8")
    assert differences(reports, read(written)) == []


def test_either_word_for_undecided_is_read(reports, written):
    """Earlier versions wrote one of them whether or not runs were missing."""
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace("inconclusive", "not enough runs"), encoding="utf-8")
    assert differences(reports, read(written)) == []


def test_the_scale_reported_is_the_largest_of_which_half_is_stored(tmp_path):
    """Without any run it is the smallest, which is the first that somebody makes."""
    jobs = [Job("dqn", "deep_sea:depth=3", seed, 2, "paper") for seed in range(4)]
    figure = Figure("mine", "A figure", {"quick": jobs[:1], "standard": jobs[:2], "paper": jobs}, ())
    store, found = Store(tmp_path), []
    for job in (None, *jobs):
        if job is not None:
            returns = np.zeros(2, np.float32)
            store.put(job, Result("dqn", job.env, job.seed, "paper", preset("dqn", "paper"), 0.99, returns, 0, 1.0))
        found += [report.scale for report in summarise(store, [figure])]
    assert found == ["quick", "standard", "paper", "paper", "paper"]


def test_inconclusive_only_where_all_runs_are_there(tmp_path):
    """Undecided claims say whether more runs of the plan may decide them."""
    undecided = Claim("open", "Who knows.", lambda runs: inconclusive(f"{len(runs)} runs"))
    holds = Claim("there", "Something was run.", lambda runs: Finding(HOLDS, "yes"))
    jobs = [Job("dqn", "deep_sea:depth=3", seed, 2, "paper") for seed in (0, 1)]
    figure, store = Figure("mine", "A figure", at_every_scale(jobs), (undecided, holds)), Store(tmp_path)
    for job, expected in zip([None, *jobs], (NOT_ENOUGH, NOT_ENOUGH, INCONCLUSIVE), strict=True):
        if job is not None:
            returns = np.zeros(2, np.float32)
            store.put(job, Result("dqn", job.env, job.seed, "paper", preset("dqn", "paper"), 0.99, returns, 0, 1.0))
        (report,) = summarise(store, [figure], "quick")
        assert [finding.verdict for _, finding in report.findings] == [expected, HOLDS]


def test_another_verdict_is_a_difference(reports, written):
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace('"verdict": "inconclusive"', '"verdict": "holds"'), encoding="utf-8")
    (line,) = differences(reports, read(written))
    assert line == "fig3: ninety: the file has 'holds', the runs give 'inconclusive'"


def test_another_verdict_after_the_correction_is_one_too(reports, written):
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace('"verdict_adjusted": "holds"', '"verdict_adjusted": "inconclusive"'))
    (line,) = differences(reports, read(written))
    assert line == "fig3: shorter after the correction: the file has 'inconclusive', the runs give 'holds'"


def test_files_of_earlier_versions_have_one_verdict(reports, written):
    claims = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    for claim in claims:
        del claim["verdict_adjusted"]
    written.write_text("\n".join(map(json.dumps, claims)))
    assert differences(reports, read(written)) == []


def test_the_text_counts_verdicts_and_has_a_line_for_each(reports):
    text = markdown.document(reports)
    assert "Of 2 claims, 1 holds and 1 is inconclusive, at level 0.05 for each claim." in text
    rows = [line for line in text.splitlines() if line.startswith("| [Figure 3](#fig3) |")]
    assert [row.split("|")[3].split(",")[0].strip() for row in rows] == ["✓ holds", "? inconclusive"]
    assert '<a id="fig3"></a>' in text


def test_only_a_statistical_test_is_called_one(reports):
    report = reports[0]
    (first, one), _ = report.findings
    ruled = dataclasses.replace(one, test="every run has to learn; no interval", p=None)
    tested = dataclasses.replace(one, test="sign test, p = 0.01")
    text = markdown.document([dataclasses.replace(report, findings=((first, ruled), (first, tested)))])
    assert "*Rule: every run has to learn; no interval.*" in text
    assert "*Test: sign test, p = 0.01.*" in text


def test_symbols():
    assert [format_verdict(verdict) for verdict in (HOLDS, FAILS, INCONCLUSIVE, NOT_ENOUGH)] == [
        "✓ holds",
        "✗ does not hold",
        "? inconclusive",
        "… not enough runs",
    ]
