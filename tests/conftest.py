"""What several tests share."""

import contextlib
import ctypes
import functools
import gc
import signal
import sys
import threading
from pathlib import Path

import jax
import numpy as np
import pytest

#: Compiled programs are kept between runs of the tests, and shared by parallel ones: compiling is most of the work.
CACHE = Path(__file__).parents[1] / ".pytest_cache" / "xla"


def pytest_configure():
    jax.config.update("jax_compilation_cache_dir", str(CACHE))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


@pytest.fixture(autouse=True)
def usual_signals():
    """Ctrl-C as Python handles it, whatever libraries have set, and no request to stop left behind."""
    from langevin_dqn import stopping

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in stopping.SIGNALS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # Ray sets its own
    yield
    stopping.withdraw()
    for number, handler in before.items():
        signal.signal(number, signal.SIG_DFL if handler is None else handler)


@pytest.fixture
def langevin_dqn_command(monkeypatch, capsys):
    """The entry point in this process: (exit code, stdout, stderr)."""
    from langevin_dqn import machine
    from langevin_dqn.cli import main

    monkeypatch.setattr(machine, "prepare", lambda: None)

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["langevin-dqn", *map(str, argv)])
        with pytest.raises(SystemExit) as stop:
            main.main()
        out, err = capsys.readouterr()
        return stop.value.code, out, err

    return call


@pytest.fixture
def quick_compilation():
    """For programs that take longer to compile than to run."""
    name = "jax_disable_most_optimizations"
    before = jax.config.read(name)
    jax.config.update(name, True)
    yield
    jax.config.update(name, before)


@pytest.fixture
def last_figure(monkeypatch):
    """What matplotlib drew last, caught before it is closed."""
    import matplotlib.pyplot as plt

    kept = []
    monkeypatch.setattr(plt, "close", kept.append)
    yield lambda: kept[-1]
    monkeypatch.undo()
    plt.close("all")


@pytest.fixture
def axes_of(last_figure):
    return lambda: last_figure().axes


@pytest.fixture(autouse=True, scope="module")
def forget_programs():
    """Compiled programs would pile up: forget them after each file, and give their memory back."""
    yield
    jax.clear_caches()
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # not every C library can
        ctypes.CDLL(None).malloc_trim(0)


def _made_up(job):
    """What a run might have given, without running it: more updates, noise and members learn sooner."""
    from langevin_dqn.environments.bsuite.sweeps import SWEEPS, split_id
    from langevin_dqn.presets import preset
    from langevin_dqn.runs.result import Result

    config = preset(job.agent, job.preset, **job.changes)
    skill = {"dqn": 0.4, "boot_dqn": 1, "langevin_dqn": 2, "ensemble_langevin_dqn": 4}[job.agent]
    skill *= 0.05 if config.noise_per_depth else (config.updates_per_step * config.members) ** 0.5
    rng = np.random.default_rng([job.seed, len(job.agent), config.updates_per_step, config.members])
    common = {"agent": job.agent, "env": job.env, "seed": job.seed, "preset": job.preset, "config": config}
    if job.env.startswith("deep_sea:"):
        depth = int(job.env.partition("=")[2])
        found = int(40 * 1.25**depth / skill * rng.lognormal(sigma=0.4))
        learned = int(found * 1.25) + 5
        returns = np.zeros(min(learned, job.episodes), np.float32)
        returns[found:] = 0.99
        return Result(
            **common, max_return=0.99, learned_regret=0.8, returns=returns, updates=len(returns),
            seconds=len(returns) / 100, lengths=np.full(len(returns), depth, np.int32),
            record=_made_up_maps(rng, depth, len(returns)) if job.record else None,
        )  # fmt: skip
    n, size = job.episodes, SWEEPS[split_id(job.env)[0]].settings[split_id(job.env)[1]].get("size", 10)
    miss = float(np.clip(1 / (1 + skill) + rng.normal(scale=0.1) + (size - 10) / 40, 0, 1))
    measures = {
        "total_regret": 0.8 * miss, "total_perfect": rng.random(n) > miss / 2,
        "total_bad_episodes": rng.random(n) < miss, "raw_return": 1000 * (1 - miss), "best_episode": 1000 * (1 - miss),
    }  # fmt: skip
    measures = {name: np.broadcast_to(value, n).astype(np.float32) for name, value in measures.items()}
    return Result(
        **common, max_return=1.0, returns=np.full(n, 1.1 - miss / 10, np.float32), updates=n, seconds=1.5,
        lengths=np.full(n, 10, np.int32), measures=measures,
    )  # fmt: skip


def _made_up_maps(rng, depth, episodes):
    """Maps that clear with time, and from the left."""
    from langevin_dqn.runs.result import UncertaintyMaps

    when = np.arange(10, max(episodes, 20) + 1, 10)
    column = np.tile(np.arange(depth), depth)
    spread = rng.lognormal(size=(len(when), depth**2, 2)) * (1 + column[:, None]) / when[:, None, None]
    return UncertaintyMaps(
        when, spread.astype(np.float32), np.broadcast_to(column < 5, spread.shape[:2]).astype(np.int32)
    )


@pytest.fixture(scope="session")
def made_up_report():
    """A figure's report from made-up runs of those of its jobs that ``keep`` lets through."""
    from langevin_dqn.paper.figure import FigureReport
    from langevin_dqn.paper.registry import figures

    @functools.cache
    def report(name, scale="quick", keep=lambda job: True):
        figure = figures()[name]
        results = tuple(_made_up(job) for job in figure.jobs[scale] if keep(job))
        findings = tuple((claim, claim.check(results)) for claim in figure.claims)
        return FigureReport(figure, scale, results, len(figure.jobs[scale]), findings)

    return report


@pytest.fixture(scope="session")
def made_up_store(tmp_path_factory):
    """A store with made-up runs of two figures at the smallest scale."""
    from langevin_dqn.paper.registry import choose
    from langevin_dqn.runs.store import Store

    store = Store(tmp_path_factory.mktemp("made_up"))
    for figure in choose(["fig2", "fig3"]):
        for job in figure.jobs["quick"]:
            store.put(job, _made_up(job))
    return store.folder
