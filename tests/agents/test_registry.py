"""From a name or an id to an agent, and what a wrong one is answered with."""

import pytest
from own_agents import Linear, SixMethods

import langevin_dqn
from langevin_dqn import UserError
from langevin_dqn.agents import registry
from langevin_dqn.agents.registry import describe_agent, resolve_agent
from langevin_dqn.config import AgentConfig

ENV = langevin_dqn.make_env("probe_action")


def resolve(agent, **options):
    return resolve_agent(agent, ENV, **options)


def test_a_presets_name():
    found = resolve("boot_dqn", changes={"members": 3})
    assert (found.name, found.preset, found.config.members) == ("boot_dqn", "recommended", 3)
    assert found.agent.config.members == 3


def test_a_configuration():
    found = resolve(AgentConfig(members=2), changes={"epsilon": 0.25})
    assert (found.name, found.preset, found.config) == ("custom", "custom", AgentConfig(members=2, epsilon=0.25))


def test_an_id_with_settings():
    found = resolve("python:own_agents:make_six", changes={"bonus": 0.5})
    assert found.name == "python:own_agents:make_six"
    assert found.config == {"version": "1", "bonus": 0.5}
    assert resolve("python:own_agents:make_six:bonus=0.25").config["bonus"] == 0.25


def test_a_registered_name(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    langevin_dqn.register_agent("six", lambda bonus=1.0: SixMethods(bonus))
    assert resolve("six", changes={"bonus": 3.0}).config["bonus"] == 3.0
    assert "six" in registry.agent_names()
    with pytest.raises(UserError, match="already"):
        langevin_dqn.register_agent("six", SixMethods)
    with pytest.raises(UserError, match="already"):
        langevin_dqn.register_agent("dqn", SixMethods)
    for name, factory in (("a:b", SixMethods), ("", SixMethods), ("seven", 7)):
        with pytest.raises(UserError, match="cannot register"):
            langevin_dqn.register_agent(name, factory)


def test_a_factory_is_given_the_environment_if_it_asks(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    seen = []
    langevin_dqn.register_agent("asks", lambda environment, bonus=1.0: (seen.append(environment), SixMethods(bonus))[1])
    resolve("asks")
    assert seen == [ENV]


def test_a_factory_may_return_a_configuration(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    langevin_dqn.register_agent("mine", lambda members=2: AgentConfig(members=members))
    found = resolve("mine", network=Linear())
    assert found.config == AgentConfig(members=2)
    assert found.agent.network == Linear()


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        ("dqnn", "unknown agent"),
        ("python:own_agents", "does not name an object"),
        ("python:no.such.module:make", "cannot import 'no.such.module'"),
        ("python:own_agents:make_sixx", "has no 'make_sixx'"),
        ("python:own_agents:__name__", "is not a function or class"),
        ("python:own_agents:make_six:bonsu=1", "raises TypeError"),
        ("python:builtins:list", "agent list has no method 'init'"),
    ],
)
def test_a_wrong_name(agent, message):
    with pytest.raises(UserError) as caught:
        resolve(agent)
    assert message in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint


def test_a_network_by_id():
    assert resolve("dqn", network="python:own_agents:make_linear").agent.network == Linear(0.5)
    with pytest.raises(UserError, match="unknown network"):
        resolve("dqn", network="mlp")


def test_what_defines_an_agent():
    assert describe_agent("python:own_agents:make_six", {"bonus": 2.0}, "probe_action") == {
        "version": "1",
        "bonus": 2.0,
    }
    described = describe_agent("dqn", {"epsilon": 0.5}, "probe_action", "python:own_agents:make_linear")
    assert described["config"]["epsilon"] == 0.5
    assert described["network"] == {"class": "Linear", "scale": 0.5}


def test_noise_per_depth_needs_a_depth():
    with pytest.raises(UserError, match="needs an environment with a depth"):
        resolve("langevin_dqn", changes={"noise_per_depth": True})
    sea = langevin_dqn.make_env("deep_sea:depth=7")
    found = resolve_agent("langevin_dqn", sea, preset="paper", changes={"noise_per_depth": True, "noise_variance": 0.5})
    assert float(found.agent.numbers["noise_variance"]) == pytest.approx(3.5)
    assert found.config.noise_variance == 0.5


def test_a_package_that_a_module_imports_and_that_is_missing_is_named(monkeypatch, tmp_path):
    (tmp_path / "needs_another.py").write_text("import no_such_package.part\n\nmake = None\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match="cannot import 'needs_another'") as caught:
        resolve("python:needs_another:make")
    assert caught.value.hint == "install no_such_package, which it imports"
    with pytest.raises(UserError) as caught:
        resolve("python:no.such.module:make")
    assert "must be on the Python path" in caught.value.hint
