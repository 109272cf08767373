"""``langevin-dqn list`` at 80 columns, and what ``help`` shows of a configuration."""

import dataclasses
import inspect
import json
import pydoc
from importlib import import_module

import pytest

from langevin_dqn import AgentConfig
from langevin_dqn.cli import listing
from langevin_dqn.cli.main import COMMANDS, usage
from langevin_dqn.config import FIELD_TYPES
from langevin_dqn.environments.registry import FACTORIES
from langevin_dqn.field_docs import descriptions, without_marks
from langevin_dqn.presets import AGENTS


@pytest.fixture
def listed(monkeypatch, capsys):
    def call(**args):
        monkeypatch.setenv("COLUMNS", "80")
        assert listing.main(listing.Args(**args)) == 0
        return capsys.readouterr().out

    return call


def test_names_are_whole_at_80_columns(listed):
    said = listed()
    lines = said.splitlines()
    assert max(map(len, lines)) <= 80
    words = {line.split()[0] for line in lines if line.strip()}
    assert set(FACTORIES) <= words
    assert {"jax:package.module:factory", "gymnax:Breakout-MinAtar", "insertion_probability"} <= words
    assert all(agent in said for agent in AGENTS)
    assert "`" not in said


def test_fields_with_what_they_are(listed):
    said = listed(fields=True)
    lines = said.splitlines()
    assert max(map(len, lines)) <= 80
    assert set(FIELD_TYPES) <= {line.split()[0] for line in lines if line.strip()}
    assert "Number of models in the ensemble" in said
    assert "`" not in said


def test_fields_as_json(listed):
    found = json.loads(listed(fields=True, json=True))
    assert found.keys() == FIELD_TYPES.keys()
    assert found["insertion"]["choices"] == ["buffers", "mask"]
    assert found["members"] == {
        "default": 1, "type": "int", "choices": [],
        "about": "Number of models in the ensemble; one is drawn per episode to act (Algorithm 3).",
    }  # fmt: skip


def test_every_field_is_described():
    about = descriptions(AgentConfig)
    assert about.keys() == FIELD_TYPES.keys()
    assert all(text.endswith(".") for text in about.values())


def test_help_of_a_configuration():
    text = pydoc.plain(pydoc.render_doc(AgentConfig))
    words = " ".join(text.replace(" |  ", " ").split())
    assert "prior_lifetime_growth: Lower bound of the lifetime, as a fraction of the steps so far" in words
    assert "batch_size: Transitions per minibatch, drawn with replacement. Default: 128." in words
    assert [line for line in AgentConfig.__doc__.splitlines() if len(line) > 76] == []
    assert "`" not in text.split("Methods defined here")[0].split("Attributes:")[1]
    assert AgentConfig.__doc__.startswith("The settings of a value agent")


def test_a_class_without_source():
    made = dataclasses.make_dataclass("Made", [("size", int, 3)])
    assert descriptions(made) == {}


def test_marks():
    assert without_marks("``sum``: the\n    sum of `x`") == "sum: the sum of x"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_backticks_in_help(command):
    """tyro shows these texts as they are."""
    assert "`" not in inspect.getsource(import_module(COMMANDS[command][0]).Args)


def test_help_names_every_exit_code():
    for words in ("0 success", "1 a run or a check failed", "2 bad usage", "130 ", "143 "):
        assert words in usage()
