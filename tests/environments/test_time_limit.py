"""Environments that run past their own time limit, and such that have none."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn.environments import Environment, IndexSpace, make_env, static
from langevin_dqn.environments.time_limit import TimeLimit, warned_if_endless, with_time_limit


@dataclass(frozen=True)
class Endless(Environment):
    """Counts steps and never ends; with ``goal``, it terminates there. It says that it has at most ``max_steps``."""

    reward: float = 1.0
    max_steps: int | None = static(None)
    goal: int = static(0)

    num_actions = 2
    observation_space = IndexSpace(3)

    def reset(self, key):
        return jnp.int32(0), jnp.int32(0)

    def step(self, key, state, action):
        at_goal = (state + 1 == self.goal) if self.goal else jnp.bool_(False)
        return state + 1, jnp.minimum(state + 1, 2), jnp.float32(self.reward), at_goal, jnp.bool_(False)

    def measure(self, state):
        return {"steps": state.astype(jnp.float32)}


SMALL = {"preset": "paper", "hidden": (4,), "batch_size": 4}


def test_truncated_at_its_own_limit():
    result = langevin_dqn.train("dqn", Endless(max_steps=5), episodes=4, **SMALL)
    assert result.lengths.tolist() == [5, 5, 5, 5]
    assert result.returns.tolist() == [5, 5, 5, 5]
    assert result.measures["steps"].tolist() == [5, 5, 5, 5]


def test_a_truncated_step_is_seen_as_one():
    limited = with_time_limit(Endless(max_steps=2, goal=0))
    state, _ = limited.reset(jax.random.key(0))
    state, *_, terminated, truncated = limited.step(jax.random.key(0), state, jnp.int32(0))
    assert (bool(terminated), bool(truncated)) == (False, False)
    *_, terminated, truncated = limited.step(jax.random.key(0), state, jnp.int32(0))
    assert (bool(terminated), bool(truncated)) == (False, True)


def test_what_terminates_at_the_limit_has_terminated():
    limited = with_time_limit(Endless(max_steps=1, goal=1))
    state, _ = limited.reset(jax.random.key(0))
    *_, terminated, truncated = limited.step(jax.random.key(0), state, jnp.int32(0))
    assert (bool(terminated), bool(truncated)) == (True, False)


def test_where_no_limit_is_needed():
    """The environments of this package end by themselves, and their programs stay as they were."""
    for env in ("deep_sea:depth=3", "cartpole", "catch"):
        environment = make_env(env)
        assert with_time_limit(environment) is environment
    assert with_time_limit(Endless()) == Endless()
    assert isinstance(with_time_limit(Endless(max_steps=3)), TimeLimit)


def test_a_limit_that_is_never_reached_changes_nothing():
    without, with_limit = (
        langevin_dqn.train("langevin_dqn", Endless(max_steps=steps, goal=4), episodes=6, keep_agent=True, **SMALL)
        for steps in (None, 50)
    )
    for one, other in zip(*map(jax.tree.leaves, (without.trained.state, with_limit.trained.state)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_warning_where_nothing_ends():
    words = "no episode of Endless has ended for 0.01 seconds"
    with pytest.warns(RuntimeWarning, match=words) as caught, warned_if_endless(Endless(), patience=0.01):
        time.sleep(0.3)
    assert "max_steps" in str(caught[0].message)
    assert "steps=…" in str(caught[0].message)


def test_no_warning_where_episodes_end(recwarn):
    with warned_if_endless(Endless(), patience=0.2):
        pass
    time.sleep(0.3)
    assert not recwarn.list


def test_a_run_without_a_finished_episode_says_so():
    result = langevin_dqn.train("dqn", Endless(), steps=20, **SMALL)
    assert (result.episodes, result.steps) == (0, 20)
    assert "no episode ended" in str(result)


@pytest.mark.slow
def test_ctrl_c_ends_a_run_whose_episode_does_not():
    """Twice, because the first may be a request to save at the end of the episode."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import langevin_dqn, test_time_limit as t, langevin_dqn.environments.time_limit as limit\n"
        "limit.PATIENCE = 0.5\n"
        "langevin_dqn.train('dqn', t.Endless(), episodes=1, **t.SMALL)\n"
    )
    here = os.path.dirname(__file__)
    with subprocess.Popen([sys.executable, "-c", code, here], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "no episode of Endless has ended" in line:
                break
        for _ in range(2):
            time.sleep(0.5)
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        finally:
            process.kill()
    assert process.returncode != 0
