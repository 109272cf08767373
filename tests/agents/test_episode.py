"""What a step of an episode asks of an agent."""

import jax.numpy as jnp
import pytest

from langevin_dqn.agents import episode
from langevin_dqn.keys import StepKeys

KEYS = StepKeys("attend", "act", "environment", "observe", "learn")


class Attentive:
    """Its state counts how often it was prepared; its action is what it was prepared to."""

    def attend(self, key, state, obs):
        assert key == "attend"
        return state + obs

    def act(self, key, state, obs):
        assert key == "act"
        return state


class Indifferent(Attentive):
    def attend(self, key, state, obs):
        return state


@pytest.mark.parametrize(("unless", "kept"), [(None, 7), (False, 7), (True, 2)])
def test_the_state_stays_where_the_action_is_not_used(unless, kept):
    state, action = episode.act(
        Attentive(), KEYS, jnp.int32(2), jnp.int32(5), None if unless is None else jnp.bool_(unless)
    )
    assert int(state) == kept
    assert int(action) == kept


def test_a_state_that_needs_no_preparing_is_passed_on():
    given = jnp.int32(2)
    state, _ = episode.act(Indifferent(), KEYS, given, jnp.int32(5), jnp.bool_(True))
    assert state is given
