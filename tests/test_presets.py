"""table1 and table2 as printed, and what the released code does otherwise."""

import dataclasses

import pytest

from langevin_dqn import AgentConfig, UserError, preset

AGENTS = ("dqn", "langevin_dqn", "boot_dqn", "ensemble_langevin_dqn")

# Each row of the tables: field, then its value for the four agents.
TABLES = [
    ("hidden", (50, 50), (50, 50), (50, 50), (50, 50)),
    ("negative_slope", 0.0, 0.1, 0.0, 0.0),
    ("learning_rate", 0.001, 0.01, 0.001, 0.001),
    ("batch_size", 128, 128, 128, 128),
    ("buffer_size", 100_000, 100_000, 100_000, 100_000),
    ("target_period", 4, 4, 4, 4),
    ("noise_variance", 0.0, 0.005, 0.0, 0.0001),
    ("regularizer", 0.0, 1.0, 0.0, 0.0),
    ("epsilon", 0.05, 0.0, 0.0, 0.0),
    ("prior_scale", 0.0, 0.0, 3.0, 3.0),
    ("insertion_probability", 1.0, 1.0, 0.5, 1.0),
]

# What the text says beside the tables: alg2 to alg4, the appendix, the undiscounted problem.
TEXT = {
    "discount": 1.0,
    "bias_correction": False,
    "regularizer_form": "sum",
    "loss_scale": 1.0,
    "mean_over_members": False,
    "target_noise": 0.0,
    "prior_noise": False,
    "independent_target": False,
    "insertion": "buffers",
    "shared_minibatch": False,
    "update_timing": "between",
    "min_replay_size": 0,
    "adam_b1": 0.9,
    "adam_b2": 0.999,
    "adam_eps": 1e-6,
    "noise_per_depth": False,
    "epsilon_decay_episodes": 0,
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("row", TABLES, ids=lambda row: row[0])
def test_paper_tables(agent, row):
    assert getattr(preset(agent, "paper"), row[0]) == row[1 + AGENTS.index(agent)]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("field", TEXT)
def test_paper_text(agent, field):
    assert getattr(preset(agent, "paper"), field) == TEXT[field]


@pytest.mark.parametrize("agent", AGENTS)
def test_paper_is_the_default_reading(agent):
    assert preset(agent, "paper") == preset(agent, "paper")


@pytest.mark.parametrize(("agent", "single"), [*zip(AGENTS, [True, True, False, False], strict=True)])
def test_members(agent, single):
    for reading in ("paper", "released"):
        assert (preset(agent, reading).members == 1) == single
        assert preset(agent, reading, members=7).members == 7


RELEASED = {
    # noise_scale multiplies the standard deviation, so its square is the variance.
    "langevin_dqn": {
        "noise_variance": 0.005**2,
        "target_noise": 0.005,
        "regularizer": 0.005,
        "regularizer_form": "mean",
        "min_replay_size": 0,
        "prior_noise": False,  # it has no prior
    },
    "ensemble_langevin_dqn": {
        "noise_variance": 0.0001**2,
        "target_noise": 0.0001,
        "min_replay_size": 128,
        "prior_noise": True,
        "mean_over_members": True,
    },
}
RELEASED_COMMON = {
    "adam_eps": 1e-6,
    "bias_correction": True,
    "loss_scale": 1.0,
    "discount": 0.99,
    "independent_target": True,
    "insertion": "mask",
    "update_timing": "between",
}
RELEASED_CASES = [(a, f, v) for a, own in RELEASED.items() for f, v in (RELEASED_COMMON | own).items()]


@pytest.mark.parametrize(("agent", "field", "value"), RELEASED_CASES)
def test_released_differences(agent, field, value):
    assert getattr(preset(agent, "released"), field) == pytest.approx(value)


@pytest.mark.parametrize("agent", AGENTS)
def test_released_keeps_what_the_tables_share(agent):
    """Architecture, rates and buffers are the same in both readings."""
    shared = ("hidden", "negative_slope", "learning_rate", "batch_size", "buffer_size", "target_period", "prior_scale",
              "insertion_probability", "epsilon", "members", "updates_per_step", "adam_b1", "adam_b2")  # fmt: skip
    paper, released = preset(agent, "paper"), preset(agent, "released")
    assert {f: getattr(released, f) for f in shared} == {f: getattr(paper, f) for f in shared}


@pytest.mark.parametrize("agent", ["dqn", "boot_dqn"])
def test_agents_without_noise_have_none_in_either_reading(agent):
    for reading in ("paper", "released"):
        config = preset(agent, reading)
        assert config.noise_variance == config.target_noise == 0
        assert not config.prior_noise


@pytest.mark.parametrize("agent", AGENTS)
def test_prior_noise_is_on_only_in_released(agent):
    assert not preset(agent, "paper").prior_noise
    assert preset(agent, "released").prior_noise == (agent == "ensemble_langevin_dqn")


def test_changes_apply_on_top():
    changed = preset("langevin_dqn", "released", discount=1.0, noise_variance=0.5)
    assert (changed.discount, changed.noise_variance, changed.target_noise) == (1.0, 0.5, 0.005)


def test_a_configuration_is_frozen_and_comparable():
    config = preset("dqn", "paper")
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.members = 3
    assert config == preset("dqn", "paper")
    assert hash(config) == hash(preset("dqn", "paper"))


def test_every_field_survives_json():
    config = preset("ensemble_langevin_dqn", "released")
    fields = config.to_dict()
    assert set(fields) == {f.name for f in dataclasses.fields(AgentConfig)}
    assert AgentConfig(**fields | {"hidden": tuple(fields["hidden"])}) == config


BAD = [
    {"agent": "dqm"},
    {"reading": "draft"},
    {"learning_rte": 0.1},
    {"noise_variance": -1e-3},
    {"noise_variance": float("nan")},
    {"learning_rate": -0.1},
    {"discount": 1.5},
    {"insertion_probability": 1.1},
    {"epsilon": -0.1},
    {"members": 0},
    {"batch_size": 200_000},
    {"batch_size": 0},
    {"target_period": 0},
    {"hidden": (5, 0)},
    {"optimizer": "sdg"},
    {"optimizer": "sgd", "prior_noise": True},
    {"buffer_discipline": "newest"},
    {"insertion": "both"},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_bad_input_is_refused_with_a_hint(bad):
    arguments = {"agent": "dqn"} | bad
    with pytest.raises(UserError) as caught:
        preset(arguments.pop("agent"), arguments.pop("reading", "paper"), **arguments)
    assert caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint
    assert isinstance(caught.value, ValueError)
