"""Verdicts in files: read back, in the words of this version and of earlier ones."""

import dataclasses

import pytest

from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE
from langevin_dqn.report import markdown
from langevin_dqn.report.verdicts import as_json_lines, differences, format_verdict, read


@pytest.fixture
def reports(made_up_report):
    """A figure whose two claims hold and are inconclusive."""
    report = made_up_report("fig3")
    (first, one), (second, two) = report.findings
    one, two = dataclasses.replace(one, verdict=HOLDS), dataclasses.replace(two, verdict=INCONCLUSIVE)
    return [dataclasses.replace(report, findings=((first, one), (second, two)))]


@pytest.fixture(params=["json", "md"])
def written(request, reports, tmp_path):
    path = tmp_path / f"verdicts.{request.param}"
    path.write_text(as_json_lines(reports) if request.param == "json" else markdown.document(reports), encoding="utf-8")
    return path


def test_what_was_written_is_read_back(reports, written):
    assert "inconclusive" in written.read_text(encoding="utf-8")
    assert differences(reports, read(written)) == []


def test_the_former_word_is_still_read(reports, written):
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace("inconclusive", "not enough runs"), encoding="utf-8")
    assert differences(reports, read(written)) == []


def test_another_verdict_is_a_difference(reports, written):
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace("inconclusive", "holds", 1), encoding="utf-8")
    (line,) = differences(reports, read(written))
    assert line.startswith("fig3: ")
    assert line.endswith("the file says 'holds', the runs say 'inconclusive'")


def test_ids_may_be_links_and_other_tables_do_not_count(reports, tmp_path):
    text = markdown.document(reports).replace("| fig3 |", "| [fig3](report.html#fig3) |")
    other = "| agent | learns | verdict |\n|---|---|---|\n| two words | yes | holds |\n| fig3 | yes | 0.95 |\n"
    (tmp_path / "page.md").write_text(f"# A page\n\n{other}\n{text}", encoding="utf-8")
    assert differences(reports, read(tmp_path / "page.md")) == []


def test_symbols():
    assert [format_verdict(verdict) for verdict in (HOLDS, FAILS, INCONCLUSIVE)] == [
        "✓ holds",
        "✗ does not hold",
        "? inconclusive",
    ]
