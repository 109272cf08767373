"""The loop for environments on the host, against the compiled one: the same run, to the bit; limits and checks."""

import jax
import numpy as np
import pytest
from on_the_host import OnTheHost

import langevin_dqn
from langevin_dqn import make_env
from langevin_dqn.environments import HostEnvironment

#: One buffer size for all, so that runs of any length share a program.
SMALL = {"hidden": (5,), "batch_size": 8, "buffer_size": 40}

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_the_two_kinds_are_told_apart():
    assert isinstance(OnTheHost("deep_sea:depth=4"), HostEnvironment)
    assert not isinstance(make_env("deep_sea:depth=4"), HostEnvironment)


@pytest.mark.parametrize(
    ("agent", "changes"),
    [
        ("dqn", {"epsilon": 0.5}),
        pytest.param(
            "langevin_dqn",
            {"epsilon": 0.5, "row_updates": "lazy", "regularizer": 0.0, "update_timing": "within"},
            marks=pytest.mark.slow,
        ),
        # past the warm-up, in which all rows are up to date at every step
        pytest.param(
            "ensemble_langevin_dqn",
            {"epsilon": 0.5, "members": 2, "row_updates": "lazy", "updates_per_step": 4},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_both_loops_make_the_same_run(agent, changes):
    """Returns, lengths and every number of the agent's state, to the bit."""
    env_id = "deep_sea:depth=4"
    runs = [
        langevin_dqn.train(agent, env, seed=2, episodes=40, keep_agent=True, **SMALL, **changes)
        for env in (env_id, OnTheHost(env_id))
    ]
    assert runs[0].returns.tobytes() == runs[1].returns.tobytes()
    np.testing.assert_array_equal(runs[0].lengths, runs[1].lengths)
    assert (runs[0].updates, runs[0].steps) == (runs[1].updates, runs[1].steps)
    assert len(set(runs[0].returns.tolist())) > 2, "a run in which nothing happens shows nothing"
    states = [jax.tree.leaves(run.trained.state) for run in runs]
    for compiled, on_host in zip(*states, strict=True):
        assert compiled.dtype == on_host.dtype
        assert np.asarray(compiled).tobytes() == np.asarray(on_host).tobytes()


BOTH = pytest.mark.parametrize("kind", [str, OnTheHost])


@pytest.mark.parametrize("kind", [pytest.param(str, marks=pytest.mark.slow), OnTheHost])
def test_a_budget_of_steps(kind):
    """23 steps of a sea of depth 5 are four episodes and a cut one, which is not among the returns."""
    whole = langevin_dqn.train("dqn", kind("deep_sea:depth=5"), preset="paper", episodes=23, steps=1000, **SMALL)
    cut = langevin_dqn.train("dqn", kind("deep_sea:depth=5"), preset="paper", steps=23, **SMALL)
    assert (cut.steps, cut.episodes) == (23, 4)
    np.testing.assert_array_equal(cut.returns, whole.returns[:4])
    assert cut.lengths.tolist() == [5] * 4
    assert all(len(values) == 4 for values in cut.measures.values())
    assert (whole.steps, whole.episodes) == (23 * 5, 23)


@BOTH
def test_checks_fall_between_episodes(kind):
    """Every 7 steps or more, at the ends of episodes of 5: after 10, 15 and 25 steps."""
    seen = []

    def third_time(trained):
        seen.append(trained)
        return len(seen) == 3

    result = langevin_dqn.train(
        "dqn", kind("deep_sea:depth=5"), preset="paper", steps=40, stop_when=third_time, check_every=7, **SMALL
    )
    assert result.steps == 25
    assert [int(trained.state.episode) for trained in seen] == [2, 3, 5]  # still readable, though training went on


def test_a_diverging_run_on_the_host_says_so():
    result = langevin_dqn.train(
        "dqn", OnTheHost("deep_sea:depth=5"), preset="paper", episodes=50, learning_rate=1e30, **SMALL
    )
    assert "not finite" in result.diverged
    assert result.episodes < 50


def test_progress_on_the_host():
    seen = []
    langevin_dqn.train("dqn", OnTheHost("deep_sea:depth=4"), preset="paper", episodes=8, progress=seen.append, **SMALL)
    assert seen[-1].episodes == 8
    assert [r.steps for r in seen] == sorted(r.steps for r in seen)
