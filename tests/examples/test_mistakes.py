"""Mistakes in code of one's own: one line, one hint, exit code 2, before anything is trained."""

import re
from pathlib import Path

import pytest

from langevin_dqn import training

SEA = ("--env", "deep_sea:depth=3", "--episodes", "5")
AGENTS = {
    "python:no_such_module:make": "cannot import 'no_such_module'",
    "python:random_walk:RandomWalks": "random_walk has no 'RandomWalks'",
    "python:random_walk": "does not name an object in a module",
    "python:mistaken:COUNT": "mistaken:COUNT is not a function or class",
    "python:mistaken:broken": "raises RuntimeError: no luck",
    "python:random_walk:RandomWalk:speed=3": "raises TypeError: .*unexpected keyword argument 'speed'",
    "python:mistaken:Unfinished": "agent Unfinished has no method 'begin_episode'",
    "python:mistaken:Growing": "agent Growing: observe changes the structure, shapes or dtypes of the state",
    "python:mistaken:Vague": "agent Vague: act does not return a single integer",
    "python:mistaken:Stumbling": "agent Stumbling: learn raises TypeError",
    "python:mistaken:Nameless": r"agent Nameless: describe\(\) has no version",
    "python:layer_norm:LayerNormMLP": "agent LayerNormMLP has no method 'begin_episode'",
}
NETWORKS = {
    "python:mistaken:OneValue": r"network OneValue returns values of shape \(\), not \(2,\)",
    "python:mistaken:NoNetwork": "network NoNetwork has no method 'init'",
    "python:nowhere:Network": "cannot import 'nowhere'",
    "layer_norm": "unknown network 'layer_norm'",
}
ENVIRONMENTS = {
    "jax:own_environment:lokc": "own_environment has no 'lokc'",
    "jax:own_environment:lock:digit=3": "digit",
    "jax:own_environment:CODE": "jax:own_environment:CODE is not callable",
    "python:own_environment:lock": "names an agent, not an environment",
}


@pytest.fixture
def refused(command, monkeypatch):
    """Runs a command that must be refused before training; its message."""
    monkeypatch.syspath_prepend(Path(__file__).parent)
    monkeypatch.setattr(training.compiled, "run", lambda *_, **__: pytest.fail("something was trained"))

    def call(*argv):
        code, out, err = command(*argv)
        lines = err.splitlines()
        assert (code, out) == (2, "")
        assert [line.split(": ")[0] for line in lines] == ["error", "hint"], err
        return lines[0]

    return call


@pytest.mark.parametrize("agent", AGENTS)
def test_agents(agent, refused):
    message = refused("run", "--agent", agent, *SEA)
    assert _matches(AGENTS[agent], message)


@pytest.mark.parametrize("network", NETWORKS)
def test_networks(network, refused):
    assert _matches(NETWORKS[network], refused("run", "--agent", "dqn", "--network", network, *SEA))


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_environments(env, refused):
    assert _matches(ENVIRONMENTS[env], refused("run", "--agent", "dqn", "--env", env, "--episodes", "5"))


def test_a_network_for_an_agent_that_has_its_own(refused):
    options = ("--agent", "python:random_walk:RandomWalk", "--network", "python:layer_norm:LayerNormMLP")
    assert "network= cannot be used with a custom agent" in refused("run", *options, *SEA)


def test_rlsvi_where_states_are_pictures(refused):
    assert "needs a finite state space" in refused(
        "run", "--agent", "python:tabular_rlsvi:TabularRLSVI", "--env", "catch"
    )


def _matches(pattern, message):
    return re.search(pattern, message) is not None or pytest.fail(message)
