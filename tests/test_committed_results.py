"""What the documentation says about the paper follows from the runs that are committed with it."""

from pathlib import Path

import pytest

from langevin_dqn.cli import verify
from langevin_dqn.runs.store import Store

ROOT = Path(__file__).parent.parent


def test_verdicts_in_the_docs_follow_from_the_data(capsys):
    arguments = verify.Args(store=str(ROOT / "results"), verdicts=str(ROOT / "docs" / "results.md"))
    assert verify.main(arguments) == 0, capsys.readouterr().out


def test_verdicts_about_the_recommended_presets_follow_too(capsys):
    page = str(ROOT / "docs" / "deeper_results.md")
    arguments = verify.Args(store=str(ROOT / "results"), verdicts=page, figure=("deeper",), scale="standard")
    assert verify.main(arguments) == 0, capsys.readouterr().out


def test_every_committed_run_can_be_read():
    store = Store(ROOT / "results")
    assert store.load().height == len(store.names()) > 0
    assert store.damaged == []


@pytest.mark.slow
def test_a_verdict_that_does_not_follow_is_noticed(tmp_path, capsys):
    text = (ROOT / "docs" / "results.md").read_text()
    assert "✓ holds" in text
    wrong = tmp_path / "results.md"
    wrong.write_text(text.replace("✓ holds", "✗ does not hold", 1))
    assert verify.main(verify.Args(store=str(ROOT / "results"), verdicts=str(wrong))) == 1
    assert "the file has 'does not hold', the runs give 'holds'" in capsys.readouterr().out
