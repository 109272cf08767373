"""The recommended presets: what they have in common, and that they learn with nothing changed."""

import pytest

import langevin_dqn
from langevin_dqn import preset
from langevin_dqn.presets import AGENTS, DEFAULT_PRESET, PRESETS


def test_they_are_the_default():
    assert DEFAULT_PRESET == PRESETS[0] == "recommended"
    for agent in AGENTS:
        assert preset(agent) == preset(agent, "recommended") != preset(agent, "paper")
    assert langevin_dqn.train("dqn", "probe_action", episodes=1).preset == "recommended"


def test_agents_differ_only_in_how_they_explore():
    """A fair comparison: the same network, replay, discount and units. One member has nobody to share with."""
    exploring = {
        "members", "epsilon", "noise_variance", "prior_std", "prior_lifetime", "prior_lifetime_growth",
        "insertion_probability", "insertion", "updates_per_step", "shared_minibatch",
    }  # fmt: skip
    first, *others = ({k: v for k, v in vars(preset(agent)).items() if k not in exploring} for agent in AGENTS)
    assert all(other == first for other in others)


def test_the_ensembles_differ_in_noise_and_bootstrap_alone():
    boot, ours = (preset(agent).identity() for agent in ("boot_dqn", "ensemble_langevin_dqn"))
    assert dict(boot.items() - ours.items()) == {"insertion_probability": 0.5, "insertion": "mask"}
    assert dict(ours.items() - boot.items()) == {"noise_variance": 1e-6}


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "at_least"), [("langevin_dqn", 3), ("boot_dqn", 4), ("ensemble_langevin_dqn", 4)])
def test_depth_10_is_learned_with_nothing_changed(agent, at_least):
    """``langevin-dqn run --agent NAME`` on its default environment, for its default number of episodes, 4 seeds.

    One chain learned in 16 of 16 seeds when its settings were chosen, in the median at 340; which of its seeds are late
    depends on the processor's rounding. With a share of 0.95 fewer than 3 of 4 seeds learn with probability 0.014.
    """
    runs = [
        langevin_dqn.train(agent, "deep_sea:depth=10", seed=seed, episodes=1000, stop_when_solved=True)
        for seed in range(4)
    ]
    assert sum(run.solved for run in runs) >= at_least, [run.learning_time for run in runs]


@pytest.mark.slow
@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "langevin_dqn"])
def test_catch_is_learned_with_nothing_changed(agent):
    """The mean return of the last 200 of 1,200 episodes, of 1 at best; a random policy has -0.6."""
    result = langevin_dqn.train(agent, "catch", seed=0, episodes=1200)
    assert result.returns[-200:].mean() > 0.8


@pytest.mark.slow
def test_catch_is_learned_by_one_chain_in_most_seeds():
    """The same in two of three seeds: one chain may be late. Seeds 0 to 3 had 0.52, 1.00, 1.00 and 1.00."""
    runs = [langevin_dqn.train("langevin_dqn", "catch", seed=seed, episodes=1200) for seed in range(3)]
    means = sorted(run.returns[-200:].mean() for run in runs)
    assert means[1] > 0.8, means
