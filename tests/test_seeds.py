"""``train_seeds``: the seeds of ``train``, by threads, by processes and in one program."""

import functools

import jax
import numpy as np
import pytest
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn import UserError, seeds, train, train_seeds
from langevin_dqn.agents.learners import choose_learner
from langevin_dqn.agents.registry import resolve_agent
from langevin_dqn.environments import make_env
from langevin_dqn.environments.base import IndexSpace
from langevin_dqn.loops import side_by_side
from langevin_dqn.networks import network_for
from langevin_dqn.runs.runners import Failure

SEA = "deep_sea:depth=4"
RLSVI = "python:tabular_rlsvi:TabularRLSVI"
DQN = {"preset": "paper", "hidden": (5,), "batch_size": 8}

pytestmark = pytest.mark.usefixtures("quick_compilation")


def assert_same_run(ours, theirs):
    assert ours.returns.tobytes() == theirs.returns.tobytes()
    assert ours.lengths.tobytes() == theirs.lengths.tobytes()
    assert ours.measures.keys() == theirs.measures.keys()
    for name in ours.measures:
        assert ours.measures[name].tobytes() == theirs.measures[name].tobytes()
    for name in ("agent", "env", "seed", "preset", "config", "max_return", "learned_regret", "updates", "steps"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.diverged == theirs.diverged


@pytest.mark.parametrize("how", ["vmap", "threads", pytest.param("processes", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("agent", "changes"), [(RLSVI, {"noise_variance": 0.1}), pytest.param("dqn", DQN, marks=pytest.mark.slow)]
)
def test_every_way_gives_the_runs_of_train(how, agent, changes):
    found = train_seeds(agent, SEA, [5, 2, 0], how=how, episodes=20, **changes)
    assert [result.seed for result in found] == [5, 2, 0]
    for result in found:
        assert_same_run(result, train(agent, SEA, seed=result.seed, episodes=20, **changes))
    assert len({result.returns.tobytes() for result in found}) > 1


@pytest.mark.parametrize("limits", [{"steps": 30}, {"episodes": 6, "steps": 30}, {"episodes": 40, "steps": 30}])
def test_a_limit_of_steps(limits):
    """Seeds cut off in mid-episode at different places: a walk whose episodes differ in length."""
    env = "jax:own_environment:lock:digits=4"
    found = train_seeds("python:random_walk:RandomWalk", env, "0-3", how="vmap", **limits)
    assert len({result.episodes for result in found}) > 1 or "episodes" in limits
    for result in found:
        assert_same_run(result, train("python:random_walk:RandomWalk", env, seed=result.seed, **limits))


def test_seeds_that_have_learned_stop_alone():
    """Each at an episode of its own, as alone; the others go on."""
    agent, env = RLSVI, "deep_sea:depth=5"
    found = train_seeds(agent, env, range(4), how="vmap", episodes=60, stop_when_solved=True)
    for result in found:
        assert_same_run(result, train(agent, env, seed=result.seed, episodes=60, stop_when_solved=True))
    assert len({result.episodes for result in found}) > 1


@pytest.mark.slow
def test_a_seed_that_diverges_stops_alone():
    changes = {**DQN, "noise_variance": 1e38, "learning_rate": 1e30}
    found = train_seeds("dqn", SEA, range(2), how="vmap", episodes=12, **changes)
    assert all(result.diverged for result in found)
    for result in found:
        assert_same_run(result, train("dqn", SEA, seed=result.seed, episodes=12, **changes))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["vmap", "threads"])
def test_trained_agents(how):
    """Close to those of ``train``: batched products are rounded differently, by less than 1e-5 here."""
    found = train_seeds("dqn", SEA, range(2), how=how, episodes=10, keep_agent=True, **DQN)
    for result in found:
        alone = train("dqn", SEA, seed=result.seed, episodes=10, keep_agent=True, **DQN)
        ours, theirs = (jax.tree.leaves(one.trained.state) for one in (result, alone))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        assert langevin_dqn.evaluate(result.trained, SEA, 3).shape == (3,)


def test_objects_and_progress():
    seen = []
    agent = SixMethods(0.1)
    found = train_seeds(
        agent, make_env("probe_action"), range(2), how="vmap", episodes=9, progress=lambda *x: seen.append(x)
    )
    for result in found:
        assert_same_run(result, train(agent, make_env("probe_action"), seed=result.seed, episodes=9))
    assert {seed for seed, _ in seen} == {0, 1}
    assert seen[-1][1].episodes == 9
    in_threads = []
    train_seeds(agent, "probe_action", range(2), how="threads", episodes=9, progress=lambda *x: in_threads.append(x))
    assert {seed for seed, _ in in_threads} == {0, 1}


def test_the_way_follows_the_device(monkeypatch):
    assert seeds._suitable(SEA) == "threads"
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert seeds._suitable(SEA) == "vmap"
    assert seeds._suitable("gym:CartPole-v1") == "threads"
    chosen = []
    monkeypatch.setattr(seeds, "_mapped", lambda *args: chosen.append(args) or [])
    train_seeds("dqn", SEA, [0], episodes=1)
    assert len(chosen) == 1


def test_lazy_rows_are_for_cpus_unless_asked_for(monkeypatch):
    space = IndexSpace(2500)

    def kind(**changes):
        config = langevin_dqn.preset("ensemble_langevin_dqn", **changes)
        return choose_learner(config, network_for(space, config.hidden, config.negative_slope), space).kind

    assert (kind(), kind(row_updates="dense"), kind(row_updates="lazy")) == ("lazy", "dense", "lazy")
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert (kind(), kind(row_updates="dense"), kind(row_updates="lazy")) == ("dense", "dense", "lazy")


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (SEA, {"how": "cloud"}, "unknown value of how 'cloud'"),
        (SEA, {"seeds": 3}, r"hint: write seeds=range\(3\)"),
        (SEA, {"seeds": []}, "no seeds to run"),
        (SEA, {"episodes": 0}, "episodes=0 is out of range"),
        (SEA, {"workers": 0}, "workers=0 is out of range"),
        (SEA, {"how": "processes", "keep_agent": True}, "keep_agent does not work with how='processes'"),
        (functools.partial(make_env, SEA), {"how": "processes", "x": lambda: 1}, "cannot be sent to another process"),
        ("gym:CartPole-v1", {"how": "vmap"}, r"gym:CartPole-v1 cannot be compiled\nhint: use how='threads'"),
        ("catch", {"how": "vmap", "stop_when_solved": True}, "does not define when it is solved"),
        (SEA, {"how": "vmap", "epsylon": 1}, "unknown field 'epsylon'"),
    ],
)
def test_mistakes(env, options, message):
    with pytest.raises(UserError, match=message):
        train_seeds("dqn", env, options.pop("seeds", [0]), **options)


def test_a_live_environment_serves_one_seed():
    gymnasium = pytest.importorskip("gymnasium")
    live = gymnasium.make("CartPole-v1")
    with pytest.raises(UserError, match="several seeds cannot share one environment object"):
        train_seeds("dqn", live, [0, 1], steps=5)
    live.close()


def test_more_than_the_memory(monkeypatch):
    """Room for one seed's replay, but not for four."""
    environment = make_env(SEA)
    agent = resolve_agent("dqn", environment, preset="paper", changes={"buffer_size": 8000}).agent
    one = side_by_side.needed_bytes(agent, environment, langevin_dqn.run_key(0)[None], 2000, None)
    monkeypatch.setattr("langevin_dqn.machine.available_memory", lambda: 2 * one)
    with pytest.raises(UserError, match=r"4 seeds at once take .* GB, and .* available\nhint: set a smaller buffer"):
        train_seeds("dqn", SEA, range(4), how="vmap", episodes=2000, preset="paper", buffer_size=8000)


def test_a_worker_that_fails(monkeypatch):
    monkeypatch.setattr(seeds, "run_in_processes", lambda runs, **_: iter([(0, Failure(runs[0], "lost"))]))
    with pytest.raises(RuntimeError, match="seed 7: lost"):
        train_seeds("dqn", SEA, [7], how="processes", episodes=1)
