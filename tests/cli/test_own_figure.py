"""A figure of a user's own, from its runs to a text that verify accepts."""

import json
import sys

import pytest

from langevin_dqn.paper import registry
from langevin_dqn.runs.store import Store

STUDY = '''
"""A study of one's own."""
import numpy as np

from langevin_dqn.paper.claims import Claim, Finding, HOLDS
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import at_every_scale
from langevin_dqn.plots.maps import Maps
from langevin_dqn.runs.runners import Job

SMALL = {"hidden": (4, 4), "batch_size": 8}
JOBS = [Job("dqn", "deep_sea:depth=4", seed, 5, changes=SMALL) for seed in (0, 1)]


def check(runs):
    words = f"{len(runs)} runs | {sum(run.episodes for run in runs)} episodes"
    return Finding(HOLDS, words, {"runs": len(runs)}, "count")


def draw(report, path, caption):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    axes.plot([run.total_return for run in report.results])
    figure.supxlabel(caption)
    figure.savefig(path)
    plt.close(figure)
    return path


def describe(report):
    return f"Returns of {len(report.results)} seeds."


def maps(report):
    return Maps([10], [np.eye(3)], title="An identity", quantity="ones and zeros")


def study():
    claims = (Claim("counted", "Every run | is there.", check),)
    return Figure("my-study.v1", "Returns at depth 4", at_every_scale(JOBS), claims, "Two seeds.", draw, describe, maps)
'''


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The study's id on the command line; nothing of it is known beforehand."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_imported", {})
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "own_study.py").write_text(STUDY)
    monkeypatch.syspath_prepend(tmp_path / "studies")
    monkeypatch.delitem(sys.modules, "own_study", raising=False)
    return "python:own_study:study"


@pytest.fixture
def forget(monkeypatch):
    """As a new process would."""

    def call():
        monkeypatch.setattr(registry, "_registered", {})
        monkeypatch.setattr(registry, "_imported", {})

    return call


def test_from_runs_to_verified_text(langevin_dqn_command, study, forget, tmp_path, quick_compilation):
    store, text = tmp_path / "store", tmp_path / "mine.md"
    code, out, err = langevin_dqn_command("reproduce", study, "--store", store, "--workers", 1)
    assert code == 0
    assert "my-study.v1" in err
    assert "✓ holds" in out
    assert len(Store(store).names()) == 2
    assert {path.name for path in (store / "figures").iterdir()} == {"my-study.v1.png", "my-study.v1.pdf"}
    page = (store / "report.html").read_text(encoding="utf-8")
    for words in (
        '<section class="figure" id="my-study.v1"',
        'alt="Returns at depth 4. Returns of 2 seeds."',
        "my-study.v1: Returns at depth 4",
        "2 runs | 10 episodes",
        'aria-label="An identity. Episode 10',
        "Deep Sea of depth 4, 1 update per step, 1 member, 2 seeds, at most 5 episodes",
    ):
        assert words in page
    assert "<dt>Runs</dt><dd>2 of 2</dd>" in page  # every scale has these runs, so none is named
    assert "scale paper" not in page

    forget()
    argv = ("--store", store, "--figure", study)
    code, out, _ = langevin_dqn_command("report", *argv)
    assert (code, "2 of 2, paper" in out, "2 of 2" in out) == (0, False, True)
    forget()
    code, out, _ = langevin_dqn_command("report", *argv, "--json")
    (claim,) = [json.loads(line) for line in out.splitlines()]
    assert (code, claim["figure"], claim["verdict"], claim["runs"]) == (0, "my-study.v1", "holds", 2)
    assert langevin_dqn_command("report", *argv, "--markdown", text)[0] == 0
    assert r"| [my-study.v1](#my-study.v1) | Every run \| is there. | ✓ holds | no test |" in text.read_text(
        encoding="utf-8"
    )

    forget()
    file = text.with_suffix(".jsonl")
    file.write_text(out, encoding="utf-8")
    assert langevin_dqn_command("verify", *argv, "--verdicts", file)[0] == 0
    file.write_text(out.replace('"verdict": "holds"', '"verdict": "not enough runs"'), encoding="utf-8")
    code, out, _ = langevin_dqn_command("verify", *argv, "--verdicts", file)
    assert code == 1
    assert f"my-study.v1: {claim['claim']}: the file has 'not enough runs', the runs give 'holds'" in out


@pytest.mark.parametrize("command", ["reproduce", "report", "verify"])
def test_a_figure_that_cannot_be_imported(langevin_dqn_command, made_up_store, tmp_path, command):
    word = "python:no_such_module_of_ours:figure"
    (tmp_path / "claims.jsonl").write_text('{"figure": "fig2", "claim": "a", "verdict": "holds"}')
    options = {"reproduce": (word,), "report": ("--figure", word)}
    options["verify"] = ("--figure", word, "--verdicts", tmp_path / "claims.jsonl")
    code, out, err = langevin_dqn_command(command, "--store", made_up_store, *options[command])
    assert (code, out) == (2, "")
    assert "cannot import 'no_such_module_of_ours'" in err
    assert err.count("hint:") == 1
    assert "Traceback" not in err


def test_the_papers_own_one_by_one(langevin_dqn_command, made_up_store):
    argv = ("report", "--store", made_up_store, "--scale", "quick", "--json", "--figure", "fig3", "--figure", "fig2")
    code, out, _ = langevin_dqn_command(*argv)
    assert code == 0
    assert [json.loads(line)["figure"] for line in out.splitlines()] == ["fig3", "fig3", "fig2", "fig2"]
    code, _, err = langevin_dqn_command("report", "--store", made_up_store, "--figure", "fig33")
    assert code == 2
    assert "unknown figure 'fig33'" in err
