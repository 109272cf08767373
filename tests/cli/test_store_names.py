"""A store may be in a folder of any name, for every command that takes one."""

import json

import pytest

from langevin_dqn.paper import fig7, registry
from langevin_dqn.paper.claims import Claim, Finding
from langevin_dqn.paper.contenders import BOOT
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import deep_sea_jobs
from langevin_dqn.runs.store import Store

JOBS = deep_sea_jobs((BOOT,), depths=(4,), seeds=2, episodes=6)


@pytest.fixture(autouse=True)
def small_figure(monkeypatch):
    """The only figure: two short runs."""
    seen = Claim("seen", "Everything was run.", lambda results: Finding("holds", f"{len(results)} runs"))
    figure = Figure("fig7", "A small figure", {"quick": JOBS, "standard": JOBS, "paper": JOBS}, (seen,), draw=fig7.draw)
    monkeypatch.setattr(registry, "figures", lambda: {"fig7": figure})


@pytest.fixture(params=["a[b]", "a?b", "a*b"])
def folder(request, tmp_path):
    return tmp_path / request.param / "store"


def test_commands_of_figures(langevin_dqn_command, folder):
    command = langevin_dqn_command
    assert command("reproduce", "fig7", "--store", folder, "--workers", 1)[0] == 0
    code, _, err = command("reproduce", "fig7", "--store", folder, "--workers", 1)
    assert code == 0
    assert "2 distinct runs, 2 of them" in err.replace("\n", " ")
    told = json.loads(command("status", "--store", folder, "--json")[1])
    assert (told["runs"], told["figures"]["fig7"]["quick"]) == (2, [2, 2])
    code, out, _ = command("report", "--store", folder, "--json")
    assert (code, json.loads(out)["runs"]) == (0, 2)
    code, _, err = command("verify", "--store", folder)
    assert (code, "2 runs read" in err) == (0, True)
    assert not (folder / "damaged").exists()


def test_bsuite(langevin_dqn_command, folder):
    tiny = ("--episodes-scale", "0.002", "--set", "hidden=4", "--set", "batch_size=8", "--json")
    words = ("bsuite", "--agents", "dqn", "--settings", "bandit/0", "--store", folder, *tiny)
    assert langevin_dqn_command(*words)[0] == 0
    code, _, err = langevin_dqn_command(*words)
    assert (code, "1 run, 1 of them" in err) == (0, True)
    opened = Store(folder)
    assert (opened.load().height, opened.damaged) == (1, [])
