"""The cache of compiled programs, for who trains from Python, and options of the compiler."""

import os
import subprocess
import sys

import pytest

from langevin_dqn import machine

TRAIN = """
import jax, langevin_dqn
jax.jit(lambda x: x + 1)(1)  # JAX has decided already that there is no cache
langevin_dqn.train("dqn", "probe_action", episodes=3)
print(jax.config.jax_compilation_cache_dir)
"""


def run(tmp_path, **settings):
    kept = {name: value for name, value in os.environ.items() if "CACHE" not in name}
    environment = kept | {"XDG_CACHE_HOME": str(tmp_path / "home")} | settings
    done = subprocess.run([sys.executable, "-c", TRAIN], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.slow
def test_training_from_python_keeps_programs(tmp_path):
    folder = tmp_path / "home" / "langevin_dqn" / "xla"
    assert run(tmp_path) == str(folder)
    assert any(file.name.startswith("jit__run_chunk") for file in folder.iterdir())


@pytest.mark.slow
def test_a_cache_of_the_users_own_stays(tmp_path):
    own = tmp_path / "own"
    assert run(tmp_path, JAX_COMPILATION_CACHE_DIR=str(own)) == str(own)
    assert not (tmp_path / "home").exists()


@pytest.mark.slow
def test_the_cache_can_be_switched_off(tmp_path):
    assert run(tmp_path, LANGEVIN_DQN_CACHE="off") == "None"
    assert not (tmp_path / "home").exists()


@pytest.fixture
def processor(monkeypatch):
    """The description of a processor with these vectors, compiled for with these flags."""

    def describe(vectors, flags=""):
        monkeypatch.setenv("XLA_FLAGS", flags)
        monkeypatch.setattr(machine, "_lines", lambda path: ["model name : Fast", f"flags : sse {vectors}", ""])
        return machine.processor.__wrapped__()

    return describe


def test_a_result_names_the_width_that_it_was_rounded_with(processor):
    assert processor("avx avx2 avx512f") == "Fast, avx512f in full width"
    assert processor("avx avx2 avx512f", "--xla_cpu_prefer_vector_width=256") == "Fast, avx512f"
    assert processor("avx avx2") == "Fast, avx2"


def test_the_users_width_of_vectors_stays(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    assert machine.compiler_options() == {"xla_cpu_prefer_vector_width": "512"}
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=128")
    assert machine.compiler_options() == {}
