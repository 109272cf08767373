"""Which learner carries out the updates, by configuration, network and space."""

import pytest

import langevin_dqn
from langevin_dqn.agents.learners import LAZY_FROM
from langevin_dqn.environments.base import ArraySpace, IndexSpace
from langevin_dqn.errors import UserError


def kind(config, space):
    return langevin_dqn.make_agent(config, space=space).choice.kind


def test_a_target_is_kept_as_values_where_states_are_few():
    config = langevin_dqn.preset("dqn", "paper")
    limit = config.target_period * config.batch_size
    assert kind(config, IndexSpace(limit)) == "table"
    assert kind(config.replace(row_updates="dense"), IndexSpace(limit + 1)) == "dense"
    assert kind(config.replace(row_updates="lazy"), IndexSpace(10)) == "lazy"
    assert kind(config, ArraySpace((10,))) == "dense"
    assert kind(config, None) == "dense"


def test_rows_are_lazy_where_that_is_exact_and_faster():
    large, small = IndexSpace(LAZY_FROM), IndexSpace(LAZY_FROM - 1)
    ensemble = langevin_dqn.preset("ensemble_langevin_dqn", "paper")
    assert kind(ensemble, large) == "lazy"
    assert kind(ensemble, small) == "dense"
    assert kind(ensemble, ArraySpace((1000,))) == "dense"
    assert kind(langevin_dqn.preset("langevin_dqn", "paper"), large) == "dense"  # regularised
    assert kind(langevin_dqn.preset("ensemble_langevin_dqn", "released"), large) == "dense"  # the prior moves
    with pytest.raises(UserError, match="regularizer"):
        kind(langevin_dqn.preset("langevin_dqn", "paper", row_updates="lazy"), large)
    with pytest.raises(UserError, match="observations that are indices"):
        kind(ensemble.replace(row_updates="lazy"), ArraySpace((1000,)))


def test_only_alg4_has_lazy_rows():
    """What a row does between reads is known for alg4's moments; eq. (5) takes the dense step."""
    space, sgd = IndexSpace(5_000), {"optimizer": "sgd"}
    assert kind(langevin_dqn.preset("ensemble_langevin_dqn", "paper"), space) == "lazy"
    assert kind(langevin_dqn.preset("ensemble_langevin_dqn", "paper", **sgd), space) == "dense"
    with pytest.raises(UserError, match="optimizer=adam"):
        kind(langevin_dqn.preset("ensemble_langevin_dqn", "paper", **sgd, row_updates="lazy"), space)


def test_a_network_without_rows_is_dense():
    class Plain:
        def init(self, key, space, num_actions):
            raise NotImplementedError

        def apply(self, params, obs, index=None):
            raise NotImplementedError

    config = langevin_dqn.preset("ensemble_langevin_dqn", "paper")
    assert langevin_dqn.make_agent(config, Plain(), IndexSpace(5_000)).choice.kind == "dense"
    assert langevin_dqn.make_agent(config, Plain(), IndexSpace(5)).choice.kind == "dense"
    with pytest.raises(UserError, match="observations that are indices"):
        langevin_dqn.make_agent(config.replace(row_updates="lazy"), Plain(), IndexSpace(5_000))
