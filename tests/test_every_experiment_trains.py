"""Every bsuite experiment fits the training loop, from the command line too."""

import json
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from langevin_dqn.schedule import Schedule

from langevin_dqn import compiled_training, machine, make_agent, make_env, preset, prng
from langevin_dqn.cli import main as command
from langevin_dqn.environments.bsuite import mnist_files
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.errors import UserError
from langevin_dqn.runs import runners


@pytest.fixture
def digits(tmp_path):
    """A folder with 20 digits in MNIST's format."""
    random = np.random.default_rng(0)
    for name, array in (
        (mnist_files.IMAGES, random.integers(0, 256, (20, 28, 28))),
        (mnist_files.LABELS, random.integers(0, 10, 20)),
    ):
        header = np.array([2048 + array.ndim, *array.shape], ">u4")
        (tmp_path / name).write_bytes(header.tobytes() + array.astype(np.uint8).tobytes())
    return tmp_path


@pytest.mark.parametrize("name", SWEEPS)
def test_the_training_program_takes_it(name, digits, monkeypatch):
    """Traced with shapes alone: the loops are consistent, and every measure is kept per episode."""
    monkeypatch.setenv(mnist_files.VARIABLE, str(digits))
    env, key, episodes = make_env(f"{name}/0"), jax.random.key(0, impl=prng.PRNG), 5
    agent = make_agent(preset("ensemble_langevin_dqn"), space=env.observation_space)
    schedule = Schedule(jnp.int32(1), jnp.int32(1))
    limits = compiled_training.Limits(jnp.int32(episodes), jnp.int32(9999), jnp.int32(9999), jnp.float32(0))
    carry = jax.eval_shape(lambda: compiled_training.begin(agent, env, key, episodes))
    after = jax.eval_shape(
        lambda env, carry: compiled_training.run_chunk(agent, env, schedule, key, carry, limits, False), env, carry
    )
    assert jax.tree.map(jnp.shape, after) == jax.tree.map(jnp.shape, carry)
    assert all(m.shape == (episodes,) for m in after.measures.values())


@pytest.fixture
def run(monkeypatch, capsys):
    """The entry point in this process: (exit code, stdout, stderr)."""
    monkeypatch.setattr(machine, "prepare", lambda: None)
    monkeypatch.setenv(mnist_files.VARIABLE, "")

    def call(*argv):
        monkeypatch.setattr(sys, "argv", ["langevin-dqn", *argv])
        with pytest.raises(SystemExit) as stop:
            command.main()
        return stop.value.code, *capsys.readouterr()

    return call


def test_digits_from_a_folder(run, digits):
    code, out, err = run(
        "run", "--agent", "dqn", "--env", "mnist_scale/19", "--mnist-dir", str(digits), "--episodes", "6", "--json",
        "--set", "hidden=5",
    )  # fmt: skip
    assert code == 0, err
    record = json.loads(out)
    assert (record["env"], record["episodes"]) == ("mnist_scale/19", 6)
    assert record["regret"] == pytest.approx(6_000 - record["total_return"])
    assert abs(record["total_return"]) in (0, 2_000, 4_000, 6_000)


def test_digits_without_a_folder(run):
    code, out, err = run("run", "--agent", "dqn", "--env", "mnist/0")
    assert (code, out) == (2, "")
    assert "--mnist-dir" in err.splitlines()[1]


@pytest.mark.parametrize(
    ("words", "episodes"),
    [
        (["--env", "bandit/0"], 10_000),
        (["--env", "cartpole_swingup/7"], 1_000),
        (["--env", "bandit/0", "--episodes", "3"], 3),
        (["--env", "bandit"], 1_000),
        ([], 1_000),
    ],
)
def test_episodes_by_default_are_bsuites(run, monkeypatch, words, episodes):
    seen = []

    def stop(jobs, **_):
        seen.extend(jobs)
        raise UserError("enough seen", "this is a test")

    monkeypatch.setattr(runners, "run_jobs", stop)
    assert run("run", "--agent", "dqn", *words)[0] == 2
    assert [job.episodes for job in seen] == [episodes]


def test_list_shows_every_experiment(run):
    code, out, _ = run("list", "--json")
    assert code == 0
    listed = json.loads(out)["environments"]
    assert {name: len(sweep.settings) for name, sweep in SWEEPS.items()} == {
        name: row["settings"] for name, row in listed["bsuite"].items()
    }
    assert listed["bsuite"]["cartpole_noise"] == {
        "settings": 20, "episodes": 1_000, "tags": ["noise", "generalization"],
    }  # fmt: skip
    assert set(listed["bsuite"]) <= set(listed["names"])
