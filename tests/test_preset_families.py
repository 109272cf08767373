"""Recommended settings by family of environments."""

import pytest

import langevin_dqn
from langevin_dqn import preset
from langevin_dqn.presets import AGENTS, FAMILIES, family_of
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import key_of


@pytest.mark.parametrize(
    ("env", "family"),
    [
        ("gym:CartPole-v1", "control"),
        ("gymnax:Breakout-MinAtar", "control"),
        ("dm:package.module:factory", "control"),
        ("gym:FrozenLake-v1:is_slippery=false", "toy text"),
        ("gymnax:FrozenLake-misc", "toy text"),
        ("deep_sea:depth=10", None),
        ("cartpole/0", "bsuite control"),
        ("cartpole", "bsuite control"),
        ("cartpole_swingup/0", None),
        ("mountain_car_scale/3", "bsuite control"),
        ("bandit_noise/1", "bandit"),
        ("catch_noise/3", "short episodes"),
        ("umbrella_distract/0", "umbrella"),
        ("gaussian_bandit:arms=5", None),
        ("jax:package.module:factory", None),
        (None, None),
    ],
)
def test_an_id_belongs_to_a_family(env, family):
    assert family_of(env) == family


@pytest.mark.parametrize("agent", AGENTS)
def test_only_recommended_depends_on_the_family(agent):
    for variant in ("paper", "released"):
        assert preset(agent, variant, env="gym:CartPole-v1") == preset(agent, variant)
    assert preset(agent, env="deep_sea:depth=10") == preset(agent)
    control = preset(agent, env="gym:CartPole-v1")
    assert (control.discount, control.update_timing) == (0.99, "within")
    assert preset(agent, env="gym:CartPole-v1", discount=0.9) == control.replace(discount=0.9)


def test_agents_of_a_family_differ_only_in_how_they_explore():
    exploring = {
        "members", "epsilon", "epsilon_decay_episodes", "noise_variance", "prior_std", "prior_lifetime",
        "prior_lifetime_growth", "insertion_probability", "insertion", "shared_minibatch",
    }  # fmt: skip
    for family in FAMILIES.values():
        configs = [vars(preset(agent, env=f"{family.ids[0]}X")) for agent in AGENTS]
        free = exploring if "updates_per_step" in family.common else exploring | {"updates_per_step"}
        first, *others = ({k: v for k, v in config.items() if k not in free} for config in configs)
        assert all(other == first for other in others)


def test_train_an_id_and_an_object_have_the_same_settings():
    gymnasium = pytest.importorskip("gymnasium")
    by_id = langevin_dqn.train("dqn", "gym:CartPole-v1", episodes=1)
    by_object = langevin_dqn.train("dqn", gymnasium.make("CartPole-v1"), episodes=1)
    assert by_id.config == by_object.config == preset("dqn", env="gym:CartPole-v1")
    assert by_id.returns.tolist() == by_object.returns.tolist()


def test_a_stored_run_is_named_by_the_settings_it_had():
    """With the family's settings written out, the run is the same one."""
    changes = FAMILIES["control"].common | FAMILIES["control"].agents.get("dqn", {})
    assert key_of(Job("dqn", "gym:X", 0, 10)) == key_of(Job("dqn", "gym:X", 0, 10, changes=changes))
    assert key_of(Job("dqn", "gym:X", 0, 10)) != key_of(Job("dqn", "gym:X", 0, 10, preset="paper"))
