"""The dense learner with a target kept as its values of all states."""

import jax.numpy as jnp
import numpy as np
import pytest
from sea_memories import ENV, everywhere, learn, prepared
from small_agents import key


@pytest.mark.parametrize("name", [pytest.param("langevin_dqn", marks=pytest.mark.slow), "ensemble_langevin_dqn"])
def test_a_target_kept_as_values_is_the_same_target(name):
    """Few states: the target's values of all of them, once per copy. Same noise, so equal up to rounding."""
    values = {}
    for kind, space in (("dense", None), ("table", ENV.observation_space)):
        agent, state = prepared(name, "auto", space=space)
        assert agent.choice.kind == kind
        values[kind] = everywhere(agent, learn(agent, key(3), state, jnp.int32(50)))
    np.testing.assert_allclose(values["dense"], values["table"], atol=1e-4)
