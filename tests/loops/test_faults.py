"""Environments at fault are named, with the step; what was learned is kept; a diverged run is never a success."""

import json
import pickle

import jax.numpy as jnp
import numpy as np
import pytest
from faulty_environments import Compiled, Indices, OnHost
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn import UserError, evaluate, load_agent, save_agent, train
from langevin_dqn.environments.guarded import Guarded
from langevin_dqn.errors import EnvironmentFault
from langevin_dqn.loops.examining import are_finite
from langevin_dqn.runs.checkpoint import Checkpoints

pytestmark = pytest.mark.usefixtures("quick_compilation")

TINY = {"hidden": (4,), "batch_size": 4}

WRONG = {
    "step raises": "step raises ValueError: the [bold]simulator[/bold] crashed",
    "exits": "step raises SystemExit: 0",
    "reward is nan": "step returns the reward nan",
    "reward is text": "step raises ValueError: could not convert",
    "observation is inf": "step returns an observation that is not finite",
    "another shape": "step returns an observation of shape (3,), but its observation space has (2,)",
    "flag is no flag": "step raises ValueError",
    "three values": "step returns 3 values, not four",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_guarded_environment_names_its_fault(wrong):
    guarded = Guarded(OnHost(wrong), "mine")
    guarded.reset(0)
    for _ in range(6):
        guarded.step(0)
    with pytest.raises(EnvironmentFault) as error:
        guarded.step(0)
    assert error.value.message.startswith(f"mine: {WRONG[wrong]}")
    assert error.value.hint


def test_an_index_out_of_range():
    guarded = Guarded(Indices(), "mine")
    assert [int(guarded.step(0)[0]) for _ in range(6)] == [1] * 6
    with pytest.raises(EnvironmentFault, match=r"mine: step returns the index 9\nhint: indices must be from 0 to 2"):
        guarded.step(0)


def test_what_is_passed_on_is_the_same():
    plain, guarded = OnHost(), Guarded(OnHost(), "mine")
    assert np.array_equal(plain.reset(1), guarded.reset(1))
    for _ in range(9):
        for ours, theirs in zip(plain.step(1), guarded.step(1), strict=True):
            assert np.array_equal(ours, theirs)
    assert isinstance(guarded, langevin_dqn.environments.HostEnvironment)


@pytest.mark.filterwarnings("error:.*not deterministic:RuntimeWarning")
def test_what_was_done_before_the_fault_is_kept(tmp_path):
    with pytest.raises(EnvironmentFault) as error:
        train("dqn", OnHost("step raises"), episodes=9, keep_agent=True, checkpoint=tmp_path / "saved", **TINY)
    fault = error.value
    assert fault.message.endswith("(at step 7, in episode 3)")
    assert isinstance(fault.__cause__, ValueError)
    assert (fault.result.episodes, fault.result.steps) == (2, 6)
    assert Checkpoints(tmp_path / "saved").steps == 6
    saved = load_agent(save_agent(fault.result, tmp_path / "agent.npz"))
    assert evaluate(saved.trained, OnHost(), episodes=2).tolist() == [3, 3]
    again = pickle.loads(pickle.dumps(EnvironmentFault("a", "b", 3)))
    assert (again.message, again.hint, again.result) == ("a", "b", 3)
    resumed = train("dqn", OnHost(), episodes=4, resume=tmp_path / "saved", **TINY)  # once it has been mended
    assert resumed.returns.tolist() == [3, 3, 3, 3]
    with pytest.raises(EnvironmentFault, match=r"at the start of episode 3\)"):
        train("dqn", OnHost("reset raises"), episodes=9, **TINY)
    with pytest.raises(EnvironmentFault, match=r"at step 7, in episode 3\)"):
        evaluate(saved.trained, OnHost("reward is nan"), episodes=4)


@pytest.mark.parametrize("wrong", ["reward", "observation"])
def test_a_compiled_environment_that_returns_what_is_not_finite(wrong):
    with pytest.raises(EnvironmentFault, match=rf"Compiled: the {wrong} of step \d+ is not finite") as error:
        train("dqn", Compiled(wrong), episodes=50, **TINY)
    step = int(error.value.message.split()[5])
    assert step % 3 == 2
    assert error.value.result.episodes >= -(-step // 3)
    assert not error.value.result.solved


def test_where_the_step_is_not_known_the_episode_is():
    with pytest.raises(EnvironmentFault, match=r"Compiled: the return of episode \d+, steps \d+ to \d+, is"):
        train(SixMethods(0.5), Compiled("reward"), episodes=50)


@pytest.mark.parametrize("bad", [{"actions": 0}, {"actions": 2.0}, {"actions": 10**12}, {"actions": True}])
def test_environments_without_actions(bad):
    with pytest.raises(UserError, match=r"num_actions=.* is (not a positive integer|out of range)"):
        train("dqn", OnHost(**bad), episodes=1)


def test_the_command_names_the_environment_and_keeps_what_was_learned(langevin_dqn_command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "--agent", "dqn", "--set", "hidden=4", "--set", "batch_size=4", "--episodes", 9, "--seeds", "0-1"]
    host = ["--env", "jax:faulty_environments:on_host:wrong=step raises"]
    code, out, err = langevin_dqn_command(*words, *host, "--json", "--save", "agents", "--store", "store")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert [row["episodes"] for row in rows] == [2, 2]
    assert all(row["failed"].endswith("(at step 7, in episode 3)") for row in rows)
    assert "seed 0: jax:faulty_environments:on_host:wrong=step raises: step raises ValueError: the [bold]sim" in err
    assert "hint: see line" in err
    assert "Traceback" not in err
    assert sorted(path.name for path in (tmp_path / "agents").iterdir()) == ["seed_0.npz", "seed_1.npz"]
    assert not list(tmp_path.glob("store/v*/*"))  # no run that counts
    code, out, err = langevin_dqn_command(*words, "--env", "jax:faulty_environments:compiled")
    assert (code, out) == (1, "")
    assert "2 runs failed" in err


# -- diverged runs --------------------------------------------------------------------


@pytest.fixture(scope="module")
def diverged():
    return train("dqn", "deep_sea:depth=4", episodes=400, learning_rate=1e18, keep_agent=True, preset="paper", **TINY)


def test_a_diverged_run_is_never_solved(diverged, tmp_path):
    assert "not finite" in diverged.diverged
    assert diverged.episodes < 10  # noticed in the episode in which it happened
    lucky = langevin_dqn.Result(**{**vars(diverged), "returns": np.full(9, diverged.max_return, np.float32)})
    assert (lucky.solved, lucky.learning_time) == (False, None)
    assert langevin_dqn.Result(**{**vars(lucky), "diverged": None}).solved
    with pytest.raises(UserError, match="not finite: its training diverged"):
        evaluate(diverged.trained, "deep_sea:depth=4")


def test_evaluate_says_that_an_agent_has_diverged(langevin_dqn_command, diverged, tmp_path):
    file = save_agent(diverged, tmp_path / "agent.npz")
    code, out, err = langevin_dqn_command("evaluate", file, "--json")
    row = json.loads(out)
    assert code == 1
    assert (row["mean_return"], row["returns"]) == (None, [])
    assert f"{file}: its parameters are not finite, because its training diverged; it was not evaluated" in err
    assert langevin_dqn_command("evaluate", file)[:2] == (1, "")


def test_moments_that_overflow_are_noticed():
    run = train("dqn", "catch/0", episodes=400, loss_scale=1e38, preset="paper", **TINY)
    assert "the moments of the optimizer overflowed" in run.diverged
    assert run.episodes < 400


def test_what_is_finite():
    assert are_finite({"a": jnp.full(1000, 3e38), "b": jnp.arange(3)})
    assert not are_finite({"a": jnp.array([1.0, jnp.inf])})
    assert not are_finite([jnp.array([jnp.nan])])


@pytest.mark.parametrize("name", ["stop_when_solved", "keep_agent"])
def test_texts_are_no_flags(name):
    with pytest.raises(UserError, match=f"{name}='false' is not True or False"):
        train("dqn", "deep_sea:depth=4", episodes=1, **{name: "false"})
