"""What the documentation says about the paper follows from the runs that are committed with it."""

from pathlib import Path

from langevin_dqn.cli import report
from langevin_dqn.store import Store

ROOT = Path(__file__).parent.parent


def test_verdicts_in_the_docs_follow_from_the_data(capsys):
    arguments = report.Args(store=str(ROOT / "results"), check=str(ROOT / "docs" / "results.md"))
    assert report.main(arguments) == 0, capsys.readouterr().err


def test_every_committed_run_can_be_read():
    store = Store(ROOT / "results")
    assert store.load().height == len(store.names()) > 0
    assert store.damaged == []


def test_a_verdict_that_does_not_follow_is_noticed(tmp_path, capsys):
    text = (ROOT / "docs" / "results.md").read_text()
    assert "✓ holds" in text
    wrong = tmp_path / "results.md"
    wrong.write_text(text.replace("✓ holds", "✗ does not hold", 1))
    assert report.main(report.Args(store=str(ROOT / "results"), check=str(wrong))) == 1
    assert "holds" in capsys.readouterr().err
