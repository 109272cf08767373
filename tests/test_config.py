"""Settings are declared once: types, ranges, words, old names and what counts in a stored run's identity."""

import dataclasses
import warnings

import pytest

from langevin_dqn import AgentConfig, UserError, preset
from langevin_dqn.config import FIELD_TYPES, SETTINGS, parse_assignment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("noise_variance=1e-5", ("noise_variance", 1e-5)),
        ("members=3", ("members", 3)),
        ("hidden=50,20", ("hidden", (50, 20))),
        ("hidden=", ("hidden", ())),
        ("noise_per_depth=True", ("noise_per_depth", True)),
        ("optimizer=sgd", ("optimizer", "sgd")),
    ],
)
def test_assignments_are_typed_as_their_fields(text, expected):
    assert parse_assignment(text) == expected


@pytest.mark.parametrize(
    "text", ["members=2.5", "noise_variance=much", "hidden=a", "noise_per_depth=1", "learning_rate", "=3", "x=1"]
)
def test_assignments_that_cannot_be_read(text):
    with pytest.raises(UserError) as caught:
        parse_assignment(text)
    assert "\n" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize("name", [name for name, kind in FIELD_TYPES.items() if kind in (int, float)])
def test_every_number_has_a_range(name):
    """A value below its least and one of another type are refused; so is what is not a number."""
    setting = SETTINGS[name]
    for bad in (setting.low - 1, float("nan"), float("inf"), "3", None, True):
        with pytest.raises(UserError, match=name):
            AgentConfig(**{name: bad})
    if setting.below is not None:
        with pytest.raises(UserError, match=name):
            AgentConfig(**{name: setting.below})


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.choices])
def test_every_word_is_one_of_its_choices(name):
    for word in SETTINGS[name].choices:
        assert getattr(AgentConfig(**{name: word}), name) == word
    with pytest.raises(UserError, match=f"unknown value of {name}"):
        AgentConfig(**{name: "another"})


def test_old_names_and_words_from_users_warn():
    with pytest.warns(DeprecationWarning, match="debiased_drift is now bias_correction"):
        assert preset("dqn", "paper", debiased_drift=True).bias_correction
    with pytest.warns(DeprecationWarning, match="row_updates=sleeping is now row_updates=lazy"):
        assert AgentConfig(row_updates="sleeping").row_updates == "lazy"
    with pytest.warns(DeprecationWarning, match="bias_correction"):
        assert parse_assignment("debiased_drift=true") == ("bias_correction", True)


def test_old_names_and_words_from_files_do_not():
    stored = AgentConfig(bias_correction=True, row_updates="lazy", hidden=(3,)).to_dict()
    stored["debiased_drift"] = stored.pop("bias_correction")
    stored["row_updates"] = "sleeping"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert AgentConfig.from_dict(stored) == AgentConfig(bias_correction=True, row_updates="lazy", hidden=(3,))
    with pytest.raises(UserError, match="unknown field 'spam'"):
        AgentConfig.from_dict({"spam": 1})


def test_the_identity_of_a_stored_run_keeps_its_old_names():
    """What is stored so far stays found: defaults left out, names and words as they were, floats as floats."""
    config = AgentConfig(bias_correction=True, row_updates="lazy", learning_rate=1, members=2)
    assert config.identity() == {
        "debiased_drift": True, "row_updates": "sleeping", "learning_rate": 1.0, "members": 2,
    }  # fmt: skip
    assert isinstance(config.identity()["learning_rate"], float)
    assert AgentConfig().identity() == {}


def test_what_is_traced():
    """Numbers that may change without compiling again; everything that decides shapes is not among them."""
    traced = {name for name, setting in SETTINGS.items() if setting.traced}
    assert traced == {
        "learning_rate", "noise_variance", "adam_b1", "adam_b2", "adam_eps", "regularizer", "loss_scale", "discount",
        "min_replay_size", "insertion_probability", "target_period", "target_noise", "prior_scale", "epsilon",
        "epsilon_final", "epsilon_decay_episodes", "updates_per_step", "recent_window", "prior_std", "prior_lifetime",
        "prior_lifetime_growth", "value_scale",
    }  # fmt: skip
    assert set(SETTINGS) == {f.name for f in dataclasses.fields(AgentConfig)} - {"hidden"}


def test_a_setting_that_contradicts_another():
    for changes, message in (
        ({"batch_size": 64, "buffer_size": 32}, "larger than buffer_size"),
        ({"min_replay_size": 64, "buffer_size": 32, "batch_size": 8}, "larger than buffer_size"),
        ({"optimizer": "sgd", "prior_noise": True}, "prior_noise needs optimizer=adam"),
        ({"hidden": (5, 0)}, "has an empty layer"),
        ({"recent_fraction": 0.5, "buffer_discipline": "random"}, "recent_fraction needs buffer_discipline=oldest"),
    ):
        with pytest.raises(UserError, match=message):
            AgentConfig(**changes)
