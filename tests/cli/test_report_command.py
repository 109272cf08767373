"""``langevin-dqn report``: what it writes and what it refuses."""

import json
import shutil

import polars as pl
import pytest

from langevin_dqn.paper.registry import figures
from langevin_dqn.runs.store import Store

CLAIMS = sum(len(figure.claims) for figure in figures().values())


@pytest.fixture
def report(langevin_dqn_command):
    """The command; at one scale, because looking for the runs of all of them takes seconds."""

    def call(*argv):
        return langevin_dqn_command("report", *argv, *(() if "--scale" in argv else ("--scale", "quick")))

    return call


def objects(out):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return [json.loads(line, parse_constant=refuse) for line in out.splitlines()]


def test_json_is_an_object_per_claim_and_nothing_else(report, made_up_store):
    code, out, err = report("--store", made_up_store, "--json")
    claims = objects(out)
    assert (code, err) == (0, "")
    assert len(claims) == CLAIMS
    assert claims[0].keys() >= {"figure", "claim", "verdict", "finding", "test", "numbers", "runs", "planned", "scale"}
    by_name = {(claim["figure"], claim["claim"]): claim for claim in claims}
    assert by_name["fig3", "shorter"]["verdict"] == "holds"
    assert by_name["fig3", "shorter"]["runs"] == by_name["fig3", "shorter"]["planned"] == 12
    assert by_name["fig7", "ensemble_gains"]["verdict"] == "not enough runs"
    tests = {claim["tests"] for claim in claims}
    assert tests == {None, sum(claim["tests"] is not None for claim in claims)}
    shorter = by_name["fig3", "shorter"]
    assert shorter["p"] < shorter["p_adjusted"] <= shorter["p"] * shorter["tests"]
    assert by_name["fig4", "tracks"]["p"] is None


def test_a_page_a_text_and_pictures(report, made_up_store, tmp_path):
    """The same as below for one figure."""
    page, text, pictures = tmp_path / "page.html", tmp_path / "claims.md", tmp_path / "c"
    argv = ("--store", made_up_store, "--figure", "fig3")
    code, out, err = report(*argv, "--out", page, "--markdown", text, "--figures", pictures)
    assert code == 0
    assert "✓ holds" in out
    assert sorted(path.name for path in pictures.iterdir()) == ["fig3.pdf", "fig3.png"]
    assert page.read_text(encoding="utf-8").count("<img") == 1
    assert "(c/fig3.png)" in text.read_text(encoding="utf-8")
    assert err.count("wrote ") == 3


@pytest.mark.slow
def test_everything_at_once(report, made_up_store, tmp_path):
    page, text, pictures = tmp_path / "a" / "page.html", tmp_path / "b" / "claims.md", tmp_path / "c"
    code, out, err = report("--store", made_up_store, "--out", page, "--markdown", text, "--figures", pictures)
    assert code == 0
    assert "fig3" in out
    assert "✓ holds" in out
    names = ("fig1", "fig2", "fig3", "fig4", "fig6")  # two need no runs, and fig6 shares some
    assert sorted(path.name for path in pictures.iterdir()) == [
        f"{n}.{suffix}" for n in names for suffix in ("pdf", "png")
    ]
    html = page.read_text(encoding="utf-8")
    assert html.count("<img") == len(names)
    assert f"<td>{len(list(made_up_store.glob('v*/*.parquet')))}</td>" in html  # runs, by machine and versions
    lines = text.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.startswith("| [Figure ")]) == CLAIMS
    assert "../c/fig3.png)" in "".join(line for line in lines if line.startswith("![Figure 3"))
    assert [line for line in err.splitlines() if line.startswith("wrote")] == [
        f"wrote {path}" for path in (pictures, text, page)
    ]


def test_the_largest_scale_that_is_half_done_is_chosen(langevin_dqn_command, made_up_store):
    code, out, _ = langevin_dqn_command("report", "--store", made_up_store, "--json")
    assert code == 0
    assert {claim["scale"] for claim in objects(out) if claim["figure"] in ("fig2", "fig3")} == {"quick"}


def test_asked_for_nothing_it_writes_a_page_into_the_store(report, made_up_store):
    code, _, err = report("--store", made_up_store)
    assert code == 0
    assert (made_up_store / "report.html").exists()
    assert "report.html" in err


def test_a_store_that_is_none(report, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    for name, message in (("nowhere", "no store"), ("file", "is a file"), ("empty", "no runs of any figure")):
        code, out, err = report("--store", tmp_path / name)
        assert (code, out) == (2, "")
        assert message in err.splitlines()[0]
        assert err.splitlines()[1].startswith("hint: ")
        assert len(err.splitlines()) == 2


@pytest.mark.parametrize("env", ["dm:own_trap:spring", "jax:own_trap:spring", "gym:own_trap:Trap-v0"])
def test_a_stored_id_imports_nothing(report, made_up_store, tmp_path, monkeypatch, env):
    """Whoever hands over a store must not run code on its reader's machine."""
    (tmp_path / "own_trap.py").write_text("import pathlib\npathlib.Path(__file__).with_suffix('.sprung').touch()")
    monkeypatch.syspath_prepend(tmp_path)
    store = Store(shutil.copytree(made_up_store, tmp_path / "copy"))
    path = store.path(figures()["fig3"].jobs["quick"][0])
    pl.read_parquet(path).with_columns(env=pl.lit(env)).write_parquet(path)
    code, out, err = report("--store", store.folder, "--figure", "fig3", "--json")
    assert code == 0, err  # the run's environment is the one the figure asked for, whatever the file says
    assert "own_trap" not in out + err
    assert not (tmp_path / "own_trap.sprung").exists()


def test_a_scale_without_runs(report, tmp_path):
    code, _, err = report("--store", tmp_path, "--scale", "quick")
    assert code == 2
    assert "no runs of any figure at scale quick" in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--scale", "huge"], "unknown scale"),
        (["--out", "page.txt"], "does not end in .html"),
        (["--markdown", "page.html"], "does not end in .md"),
        (["--out", "/dev/null/page.html"], "cannot write"),
        (["--figures", "/dev/null"], "cannot write"),
    ],
)
def test_bad_usage(report, made_up_store, argv, message):
    code, _, err = report("--store", made_up_store, *argv)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
