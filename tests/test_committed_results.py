r"""What the documentation says about the paper follows from the runs that are committed with it.

``docs/verdicts.jsonl`` and ``docs/deeper_verdicts.jsonl`` have the verdicts, and the pages next to them show these. To
write all of it again from the runs in ``results/``::

    langevin-dqn report --store results --out docs/report.html --markdown docs/results.md \
        --figures docs/figures/paper --json > docs/verdicts.jsonl
    langevin-dqn report --store results --figure deeper --scale standard --markdown docs/deeper_results.md \
        --figures docs/figures/deeper --json > docs/deeper_verdicts.jsonl
    python tools/power.py --store results --page docs/reference/claims.md
"""

import json
from pathlib import Path

import pytest

from langevin_dqn.cli import verify
from langevin_dqn.report import markdown
from langevin_dqn.runs.store import Store

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def test_verdicts_in_the_docs_follow_from_the_data(capsys):
    arguments = verify.Args(store=str(ROOT / "results"), verdicts=str(DOCS / "verdicts.jsonl"))
    assert verify.main(arguments) == 0, capsys.readouterr().out


def test_verdicts_about_the_recommended_presets_follow_too(capsys):
    file = str(DOCS / "deeper_verdicts.jsonl")
    arguments = verify.Args(store=str(ROOT / "results"), verdicts=file, figure=("deeper",), scale="standard")
    assert verify.main(arguments) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("file", "page"), [("verdicts.jsonl", "results.md"), ("deeper_verdicts.jsonl", "deeper_results.md")]
)
def test_the_pages_show_these_verdicts(file, page):
    """The table of a page is what its file gives, line by line."""
    claims = [json.loads(line) for line in (DOCS / file).read_text(encoding="utf-8").splitlines()]
    shown = [line for line in (DOCS / page).read_text(encoding="utf-8").splitlines() if line.startswith("| [")]
    assert shown == [markdown.row(claim) for claim in claims] != []


def test_every_committed_run_can_be_read():
    store = Store(ROOT / "results")
    assert store.load().height == len(store.names()) > 0
    assert store.damaged == []


@pytest.mark.slow
def test_a_verdict_that_does_not_follow_is_noticed(tmp_path, capsys):
    text = (DOCS / "verdicts.jsonl").read_text(encoding="utf-8")
    assert '"verdict": "holds"' in text
    wrong = tmp_path / "verdicts.jsonl"
    wrong.write_text(text.replace('"verdict": "holds"', '"verdict": "does not hold"', 1), encoding="utf-8")
    assert verify.main(verify.Args(store=str(ROOT / "results"), verdicts=str(wrong))) == 1
    assert "the file has 'does not hold', the runs give 'holds'" in capsys.readouterr().out
