"""A sweep as people see it: its plan, its board, and what another terminal is told."""

import contextlib
import dataclasses
import io
import json
import time

import numpy as np
import pytest
from rich.console import Console

from langevin_dqn import UserError, files
from langevin_dqn.cli import reproduce, status
from langevin_dqn.cli.sweep import Board, _in_words, headline, run_missing, runner_of
from langevin_dqn.paper import fig7, registry
from langevin_dqn.paper.claims import Claim, Finding
from langevin_dqn.paper.contenders import BOOT, DECAYING_DQN
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import deep_sea_jobs, merge
from langevin_dqn.paper.plan import plan_of
from langevin_dqn.presets import preset
from langevin_dqn.runs import progress_file
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure, Job
from langevin_dqn.runs.store import Store, load_results

JOBS = deep_sea_jobs((DECAYING_DQN, BOOT), depths=(4,), seeds=2, episodes=6)


@pytest.fixture
def small_figure(monkeypatch):
    """One figure of four runs that take no time."""
    seen = Claim("seen", "Everything was run.", lambda results: Finding("holds", f"{len(results)} runs"))
    figure = Figure("fig7", "A small figure", {"quick": JOBS, "standard": JOBS, "paper": JOBS}, (seen,), draw=fig7.draw)
    monkeypatch.setattr(registry, "figures", lambda: {"fig7": figure})
    return figure


def sweep(store, jobs, run=None):
    plan = plan_of(jobs, store)
    stream = io.StringIO()
    failures = run_missing(
        "a test", store, plan.missing, plan.seconds, run or runner_of("threads", None, 1), stream=stream
    )
    return failures, stream.getvalue()


def test_a_sweep_stores_every_run_and_says_so(tmp_path):
    store = Store(tmp_path)
    failures, said = sweep(store, JOBS)
    assert failures == []
    assert all(store.has(job) for job in JOBS)
    ended = [line for line in said.splitlines() if line.startswith("[")]  # a slow machine has lines of progress, too
    assert len(ended) == len(JOBS)
    assert "[4/4]" in ended[-1]


def test_a_failed_run_stops_nothing(tmp_path):
    def run(jobs, progress):
        yield 0, Failure(jobs[0], "lost")
        yield 1, jobs[1].run()

    store = Store(tmp_path)
    failures, said = sweep(store, JOBS[:2], run)
    assert [failure.reason for failure in failures] == ["lost"]
    assert "failed: lost" in said
    assert len(store.names()) == 1
    told = progress_file.read(tmp_path)
    assert (told.done, told.failed, told.ended) == (1, 1, True)


def test_a_sweep_that_is_refused_leaves_no_trace_of_itself(tmp_path):
    """As where a Ray cluster cannot be reached: status must not tell of a sweep that ended."""

    def refused(jobs, progress):
        raise UserError("cannot use a Ray cluster", "start one")
        yield

    with pytest.raises(UserError):
        sweep(Store(tmp_path), JOBS, refused)
    assert progress_file.read(tmp_path) is None


def test_a_sweep_that_is_refused_keeps_what_is_known_of_the_one_before(tmp_path):
    def refused(jobs, progress):
        raise UserError("cannot use a Ray cluster", "start one")
        yield

    before = progress_file.Progress("fig7 (quick)", 4, 1, 0, 100.0, 300.0, ended=True)
    progress_file.write(tmp_path, before)
    with pytest.raises(UserError):
        sweep(Store(tmp_path), JOBS, refused)
    assert progress_file.read(tmp_path) == before


@pytest.mark.parametrize("ray", [False, True])
def test_only_runs_that_go_on_from_a_checkpoint_are_said_to(ray, tmp_path):
    """On Ray they start again."""
    store, stream = Store(tmp_path), io.StringIO()
    plan = plan_of(JOBS[:1], store)
    (tmp_path / "checkpoints" / next(iter(plan.seconds))).mkdir(parents=True)
    run_missing("a test", store, plan.missing, plan.seconds, lambda jobs, progress: iter(()), ray=ray, stream=stream)
    assert ("resuming 1 run from a checkpoint" in stream.getvalue()) is not ray


def test_a_sweep_that_was_cut_off_goes_on(tmp_path):
    """What the first sweep stored is not run again."""
    store = Store(tmp_path)

    def cut_off(jobs, progress):
        yield 0, jobs[0].run()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(store, JOBS, cut_off)
    assert len(store.names()) == 1
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("v*/*.parquet")}
    _, said = sweep(store, JOBS)
    assert "[3/3]" in said
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())


def test_time_left_follows_what_ended(tmp_path):
    """Four equal runs, one of them ended: three times as long again."""
    seconds = plan_of(JOBS[:2], Store(tmp_path)).seconds
    jobs = list(plan_of(JOBS[:2], Store(tmp_path)).missing) * 2
    board = Board("a test", jobs, dict.fromkeys(seconds, 10.0), Store(tmp_path), io.StringIO())
    assert board.progress().seconds_left is None
    board.finish(0, Failure(jobs[0], "lost"))
    assert board._left(60.0) == pytest.approx(180.0)


def test_a_board_on_a_terminal(tmp_path, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream, store = Terminal(), Store(tmp_path)
    plan = plan_of(JOBS, store)
    run_missing("a test", store, plan.missing, plan.seconds, runner_of("threads", None, 1), stream=stream)
    said = stream.getvalue()
    assert "a test: " in said
    assert "of 4 runs done" in said
    assert "boot_dqn deep_sea:depth=4 U=1 seed 1" in said
    assert "not learned" in said


def test_runners_by_name():
    with pytest.raises(UserError, match="unknown runner 'cloud'"):
        runner_of("cloud", None, None)
    with pytest.raises(UserError, match="must be at least 1"):
        runner_of("threads", None, 0)


def test_reproduce_then_status(tmp_path, small_figure, capsys):
    args = reproduce.Args(figures=("fig7",), store=str(tmp_path), workers=1)
    assert reproduce.main(args) == 0
    said = capsys.readouterr()
    assert "4 distinct runs, 0 of them" in said.err
    assert "holds" in said.out
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "figures" / "fig7.png").exists()
    assert (tmp_path / "figures" / "fig7.pdf").exists()
    assert load_results(tmp_path).height == 4

    assert reproduce.main(args) == 0
    assert "4 distinct runs, 4 of them" in capsys.readouterr().err

    assert status.main(status.Args(str(tmp_path), json=True)) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["runs"] == 4
    assert told["figures"]["fig7"]["quick"] == [4, 4]
    assert told["sweep"]["alive"] is False
    assert status.main(status.Args(str(tmp_path))) == 0
    assert "4 of 4" in capsys.readouterr().out


def test_a_plan_runs_nothing(tmp_path, small_figure, capsys):
    assert reproduce.main(reproduce.Args(("fig7",), store=str(tmp_path / "new"), plan=True)) == 0
    assert "4 distinct runs" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_truncated_run_is_set_aside_and_done_again(tmp_path, small_figure, capsys):
    args = reproduce.Args(("fig7",), store=str(tmp_path), workers=1)
    reproduce.main(args)
    good = load_results(tmp_path)
    victim = min(tmp_path.glob("v*/*.parquet"))
    victim.write_bytes(victim.read_bytes()[:-7])
    capsys.readouterr()
    assert reproduce.main(args) == 0
    said = capsys.readouterr().err
    assert "unreadable file, not used" in said
    assert "3 of them" in said
    assert len(list((tmp_path / "damaged").iterdir())) == 1
    again = load_results(tmp_path)
    assert again["key"].to_list() == good["key"].to_list()
    assert np.array_equal(np.concatenate(again["returns"].to_list()), np.concatenate(good["returns"].to_list()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"figures": ("fig99",)}, "unknown figure"),
        ({"figures": ()}, "no figure"),
        ({"scale": "huge"}, "unknown scale"),
        ({"runner": "cloud"}, "unknown runner"),
        ({"workers": 0}, "must be at least 1"),
    ],
)
def test_mistakes(tmp_path, small_figure, changes, message):
    args = {"figures": ("fig7",), "store": str(tmp_path / "store")} | changes
    with pytest.raises(UserError, match=message):
        reproduce.main(reproduce.Args(**args))
    assert not (tmp_path / "store").exists()


def test_a_store_that_is_a_file(tmp_path, small_figure):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UserError, match="is a file"):
        reproduce.main(reproduce.Args(("fig7",), store=str(tmp_path / "file")))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_store_that_cannot_be_written_is_told_before_anything_runs(tmp_path, small_figure, monkeypatch):
    """Root may write anywhere, so the folder is in a place where nobody can make one."""
    with pytest.raises(UserError, match="cannot write to"):
        reproduce.main(reproduce.Args(("fig7",), store="/proc/store"))


def test_a_full_disk_loses_nothing(tmp_path, small_figure, monkeypatch):
    """The third run cannot be written; the first two stay, and the same command goes on."""
    real, runs = files.replacing, []

    @contextlib.contextmanager
    def replacing(path, *args, **options):
        with real(path, *args, **options) as file:
            yield file
            runs.extend([path] * (path.suffix == ".parquet"))
            if len(runs) == 3 and path == runs[-1]:
                raise OSError(28, "No space left on device")

    args = reproduce.Args(("fig7",), store=str(tmp_path), workers=1)
    with monkeypatch.context() as patch:
        patch.setattr(files, "replacing", replacing)
        with pytest.raises(UserError, match="No space left on device"):
            reproduce.main(args)
    assert len(Store(tmp_path).names()) == 2
    assert not list(tmp_path.glob("v*/.*.tmp"))
    assert reproduce.main(args) == 0
    assert len(Store(tmp_path).names()) == 4


def test_status_of_a_sweep_that_was_killed(tmp_path, small_figure, capsys):
    now = progress_file.Progress("fig7 (quick)", 4, 1, 0, 100.0, 300.0, (progress_file.Running("a run", 3, 6),))
    progress_file.write(tmp_path, now)
    status.main(status.Args(str(tmp_path)))
    said = capsys.readouterr().out
    assert "1 of 4 runs done, 1.7 min so far, about 5.0 min left" in said
    assert "a run: 3 of 6 episodes" in said
    for gone in ({"pid": 2**22 + 1}, {"written": time.time() - 2 * progress_file.SILENT}):
        killed = progress_file.Progress(**{**vars(now), **gone})
        progress_file.write(tmp_path, killed)
        status.main(status.Args(str(tmp_path)))
        said = capsys.readouterr().out
        assert "the last sweep, fig7 (quick), was interrupted after 1.7 min: 1 of 4 runs done\nhint: repeat" in said


@pytest.mark.parametrize(("failed", "how"), [(0, "was interrupted"), (3, "ended")])
def test_status_of_a_sweep_that_a_signal_stopped(failed, how, tmp_path, small_figure, capsys):
    """It has ended, but not all its runs have."""
    progress_file.write(tmp_path, progress_file.Progress("fig7", 4, 1, failed, 100.0, None, ended=True))
    status.main(status.Args(str(tmp_path)))
    said = capsys.readouterr().out
    assert f"the last sweep, fig7, {how} after 1.7 min: 1 of 4 runs done" in said
    assert ("hint: repeat the command" in said) == (how == "was interrupted")
    assert ("3 failed" in said) == bool(failed)


def test_status_without_a_sweep(tmp_path, small_figure, capsys):
    (tmp_path / "progress.json").write_text("{half")
    status.main(status.Args(str(tmp_path)))
    said = capsys.readouterr().out
    assert "no sweep is running" in said
    assert "0 runs, none of the paper's figures" in said
    assert "hint: " in said
    with pytest.raises(UserError, match="there is no store"):
        status.main(status.Args(str(tmp_path / "nowhere")))


def test_status_says_what_is_in_a_store_without_a_sweep(tmp_path, small_figure, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    store = Store(tmp_path)
    for seed in (0, 1, 2, 5):
        job = Job("dqn", "deep_sea:depth=3", seed, 2, "paper")
        returns = np.zeros(2, np.float32)
        store.put(job, Result("dqn", job.env, seed, "paper", preset("dqn", "paper"), 0.99, returns, 0, 30.0))
    status.main(status.Args(str(tmp_path)))
    said = capsys.readouterr().out
    assert "4 runs, none of the paper's figures" in " ".join(said.split())
    (line,) = [line for line in said.splitlines() if "deep_sea:depth=3" in line]
    assert [cell.strip() for cell in line.split("│")[1:-1]] == [
        "dqn", "paper", "deep_sea:depth=3", "4", "0-2, 5", "2.0 min"
    ]  # fmt: skip


def test_status_of_a_sweep_without_figures_shows_what_is_in_the_store(tmp_path, capsys, monkeypatch):
    """As after compare: a table of figures would have zeros only."""
    monkeypatch.setenv("COLUMNS", "80")
    progress_file.write(tmp_path, progress_file.Progress("compare", 1, 1, 0, 100.0, None, ended=True))
    status.main(status.Args(str(tmp_path)))
    assert "hint" not in capsys.readouterr().out
    job = Job("dqn", "deep_sea:depth=3", 0, 2, "paper")
    Store(tmp_path).put(
        job, Result("dqn", job.env, 0, "paper", preset("dqn", "paper"), 0.99, np.zeros(2, np.float32), 0, 30.0)
    )
    status.main(status.Args(str(tmp_path)))
    said = capsys.readouterr().out
    assert "1 run, none of the paper's figures" in said
    assert "the last sweep, compare, ended after 1.7 min: 1 of 1 runs done" in said
    assert "deep_sea:depth=3" in said
    assert "fig7" not in said


def test_status_cuts_no_name(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    job = Job("ensemble_langevin_dqn", "gymnax:SpaceInvaders-MinAtar", 0, 2)
    made = Result(job.agent, job.env, 0, job.preset, preset(job.agent), 0.99, np.zeros(2, np.float32), 0, 30.0)
    Store(tmp_path).put(job, made)
    status.main(status.Args(str(tmp_path)))
    rows = [line.split("│") for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert "".join(row[1].strip() for row in rows) == job.agent
    assert "".join(row[3].strip() for row in rows) == job.env


def test_seeds_in_short():
    assert status.span([3]) == "3"
    assert status.span([1, 0, 2, 2]) == "0-2"
    assert status.span([0, 2, 7, 9, 10]) == "5 seeds"


def test_the_bar_has_a_line_of_its_own(tmp_path):
    plan = plan_of(JOBS, Store(tmp_path))
    board = Board("a test", plan.missing, plan.seconds, Store(tmp_path), io.StringIO())
    board._running[0] = None
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    console.print(board._picture())
    first, bar, running, *_ = console.file.getvalue().splitlines()
    assert first.startswith("a test: 0 of 4 runs done")
    assert set(bar.strip()) <= set("━╸╺ ")
    assert running.startswith("running  ")


def test_lines_of_progress_without_a_terminal(tmp_path, monkeypatch):
    """One from time to time, ever more rarely."""
    clock = [0.0]
    monkeypatch.setattr("langevin_dqn.cli.progress.time.monotonic", lambda: clock[0])
    plan, stream = plan_of(JOBS, Store(tmp_path)), io.StringIO()
    returns = np.zeros(3, np.float32)
    result = Result("dqn", "deep_sea:depth=4", 0, "paper", preset("dqn", "paper"), 0.99, returns, 0, 1.0)
    with Board("a test", plan.missing, plan.seconds, Store(tmp_path), stream) as board:
        for clock[0] in (1.0, 11.0, 12.0, 25.0, 32.0, 90.0):
            board.update(0, result)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3  # at 11, 32 and 90 seconds
    assert lines[0].startswith("a test: 0 of 4 runs done")
    assert "(episode 3 of 6)" in lines[0]


def test_a_line_of_progress_of_runs_with_a_budget_of_steps(tmp_path):
    job, stream = Job("dqn", "deep_sea:depth=4", 0, None, "paper", steps=100), io.StringIO()
    result = Result("dqn", job.env, 0, "paper", preset("dqn", "paper"), 0.99, np.zeros(3, np.float32), 0, 1.0)
    plan = plan_of([job], Store(tmp_path))
    board = Board("a test", plan.missing, plan.seconds, Store(tmp_path), stream)
    board._running[0] = result
    assert _in_words(board.progress()).endswith("seed 0 (episode 3)")


def test_a_plan_explains_runs_of_several_figures(tmp_path, small_figure, capsys, monkeypatch):
    other = dataclasses.replace(small_figure, id="fig8", jobs=dict.fromkeys(small_figure.jobs, JOBS[:3]))
    monkeypatch.setattr(registry, "figures", lambda: {"fig7": small_figure, "fig8": other})
    assert reproduce.main(reproduce.Args(("fig7",), store=str(tmp_path), plan=True)) == 0
    assert "share" not in capsys.readouterr().err
    assert reproduce.main(reproduce.Args(("fig7", "fig8"), store=str(tmp_path), plan=True)) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Figures share runs: 7 in the table are 4 distinct ones." in said
    assert 'counted under "to do" for the first of them' in said


def test_headline_counts_failures():
    assert "2 failed" in headline(progress_file.Progress("x", 9, 3, 2, 10.0, None))


def test_merging_plans_keeps_order():
    assert merge(JOBS[:1], JOBS[1:]) == JOBS
    assert isinstance(JOBS[0], Job)
