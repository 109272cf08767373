"""Every contestant learns: its parameters move by as many updates as were asked for."""

import jax
import numpy as np
import pytest

from langevin_dqn.agents import ValueAgent
from langevin_dqn.bench import ours, peers, solving


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{}, {"shared_minibatch": True, "row_updates": "lazy"}])
def test_our_agents_make_the_updates(changes, monkeypatch):
    states, learn = [], ValueAgent.learn

    def watched(*args):
        state = learn(*args)
        jax.debug.callback(lambda count: states.append(int(count)), state.learner.counter.updates)
        return state

    monkeypatch.setattr(ValueAgent, "learn", watched)
    run = ours.build("ensemble_langevin_dqn", 4, 2, capacity=200, hidden=(5,), **changes)
    run(3)
    run(4)
    jax.effects_barrier()
    assert states == [300, 303, 307]


def test_the_buffer_is_full_of_whole_episodes():
    built = []
    agent = ours.make_agent(
        ours.preset("dqn", "paper", hidden=(5,)), space=ours.make_env("deep_sea:depth=4").observation_space
    )
    env, key = ours.make_env("deep_sea:depth=4"), ours.keys.run_key(0)
    state = ours._fill(agent, env, key, agent.init(key, env.observation_space, env.num_actions, 40), 10)
    built.append(int(state.replay.size[0]))
    assert built == [40]
    assert np.asarray(state.replay.data.continues[0]).reshape(10, 4).sum(axis=1).tolist() == [3.0] * 10


@pytest.mark.parametrize("members", [1, 2])
def test_the_floor_runs(members):
    ours.build_floor(members, batch_size=4, hidden=3)(5)


@pytest.mark.slow
@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.name)
def test_peers_run_where_they_are_installed(peer):
    for module in peer.requires:
        pytest.importorskip(module)
    peer.build(4)(2)


@pytest.mark.slow
def test_learning_is_timed_and_limited():
    found = solving.ours(4, 60.0)
    assert (found["name"], found["depth"]) == ("Ensemble Langevin DQN (5)", 4)
    assert found["episodes"] < 1000
    assert 0 < found["seconds"] <= 60
    assert solving.ours(30, 0.0)["episodes"] is None
