"""Three programs for every runner, compiled once between them."""

import os

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

from langevin_dqn.runs.runners import Job, run_jobs

TINY = {"hidden": (8, 8)}
MIX = [
    Job("langevin_dqn", "deep_sea:depth=4", 0, 12, preset="paper", changes=TINY),
    Job("dqn", "bandit/3", 0, 12, preset="paper"),
    Job("langevin_dqn", "deep_sea:depth=4", 1, 12, preset="paper", changes=TINY),
    Job("ensemble_langevin_dqn", "deep_sea:depth=5", 0, 12, "released", changes={**TINY, "members": 2}),
]


@pytest.fixture
def mix():
    return list(MIX)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """A folder of compiled programs, for this process and those it starts."""
    folder = tmp_path_factory.mktemp("xla")
    settings = {"jax_compilation_cache_dir": str(folder), "jax_persistent_cache_min_compile_time_secs": 0}
    before = {name: getattr(jax.config, name) for name in settings}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name.upper(), str(value))
            jax.config.update(name, value)
        compilation_cache.reset_cache()
        yield folder
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


@pytest.fixture(scope="session")
def in_threads(compiled):
    """What threads give for the mix: the bytes of each run."""
    return {index: bytes_of(result) for index, result in run_jobs(MIX)}


def bytes_of(result):
    arrays = {"returns": result.returns, "lengths": result.lengths, **result.measures}
    return {name: values.tobytes() for name, values in arrays.items()}


@pytest.fixture
def assert_same(in_threads):
    def check(pairs):
        """Every run once, with the bytes that threads gave."""
        assert sorted(index for index, _ in pairs) == sorted(in_threads)
        assert {index: bytes_of(result) for index, result in pairs} == in_threads

    return check


@pytest.fixture
def settings_of_a_worker(monkeypatch, tmp_path):
    """What ``odd_jobs.Looks`` should see, where this process has none of it."""
    for name in ("OMP_NUM_THREADS", "XLA_FLAGS", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield f"1 --xla_cpu_multi_thread_eigen=false {tmp_path}/langevin_dqn/xla"
    assert "XLA_FLAGS" not in os.environ
