"""Five probes, each isolating one failure, for each of the four agents.

The loop below is alg3 written with the public functions of an agent, so that its values can be
looked at. Langevin agents never come to rest, so values are averaged over the last steps; the
point estimate takes the released reading, whose noise is the smaller. Where actions must be told
apart every agent explores with ε: whether it would explore by itself is not what a probe asks.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn import keys, make_agent, make_env, preset
from langevin_dqn.agents import Step

AGENTS = ("dqn", "langevin_dqn", "boot_dqn", "ensemble_langevin_dqn")
READINGS = {"langevin_dqn": "released"}  # the others: paper
#: Each agent and kind of probe is a program of its own: one is in the fast tests, all in the others.
FAST_CHOICES = [a if a == "langevin_dqn" else pytest.param(a, marks=pytest.mark.slow) for a in AGENTS]
STEPS, UPDATES_PER_STEP, AVERAGED = 120, 4, 50

#: True values by state, where there is one action.
VALUES = {"probe_value": {0: 1.0}, "probe_state": {0: -1.0, 1: 1.0}, "probe_bootstrap": {0: 1.0, 1: 1.0}}
#: The states in which an action must be right.
CHOICES = {"probe_action": (0,), "probe_policy": (0, 1)}


@partial(jax.jit, static_argnums=1, compiler_options={"xla_backend_optimization_level": 0})
def values_after(agent, names, which, key, steps):
    """Train on ``names[which]``; mean values, priors included: (states, members, actions).

    Environments of one shape share a program.
    """
    envs = [make_env(name) for name in names]
    space, actions = envs[0].observation_space, envs[0].num_actions
    averaged = jnp.minimum(AVERAGED, steps)

    def play(number, carry):
        state, env_state, obs, ended, total = carry
        own = jax.random.split(jax.random.fold_in(key, number), 6)
        fresh = agent.begin_episode(own[0], state), *jax.lax.switch(which, [e.reset for e in envs], own[1])
        state, env_state, obs = jax.tree.map(partial(jnp.where, ended), fresh, (state, env_state, obs))
        action = agent.act(own[2], state, obs)
        outcome = jax.lax.switch(which, [e.step for e in envs], own[3], env_state, action)
        env_state, after, reward, ended, truncated = outcome
        state = agent.observe(own[4], state, Step(obs, action, reward, after, ended, truncated))
        state = agent.learn(own[5], state, 1)
        found = jax.vmap(agent.ensemble_values, in_axes=(None, 0))(state, jnp.arange(2))
        total += jnp.where(number >= steps - averaged, found / averaged, 0)
        return state, env_state, after, ended, total

    state, nowhere = agent.init(jax.random.fold_in(key, STEPS), space, actions, STEPS), jnp.int32(0)
    total = jnp.zeros((2, agent.config.members, actions))
    return jax.lax.fori_loop(0, steps, play, (state, nowhere, nowhere, jnp.bool_(True), total))[-1]


def values(agent_name, probe, steps=STEPS):
    group, changes = (tuple(VALUES), {}) if probe in VALUES else (tuple(CHOICES), {"epsilon": 0.2})
    changes |= {"discount": 1.0, "updates_per_step": UPDATES_PER_STEP}
    agent = make_agent(preset(agent_name, READINGS.get(agent_name, "paper"), **changes))
    return np.asarray(values_after(agent, group, group.index(probe), keys.run_key(0), steps))


def value_error(q, probe):
    """The worst member's error over the states with a known value."""
    return max(np.abs(q[state] - true).max() for state, true in VALUES[probe].items())


def worst_return(q, probe):
    """The least that any member's greedy action earns in any state."""
    env = make_env(probe)
    return min(
        float(env.step(None, np.int32(state), np.int32(member.argmax()))[2])
        for state in CHOICES[probe]
        for member in q[state]
    )


@pytest.mark.slow
@pytest.mark.parametrize("probe", VALUES)
@pytest.mark.parametrize("agent", AGENTS)
def test_values(agent, probe):
    """Every member is within 0.1 of the true value of every state it has met."""
    q = values(agent, probe)
    assert q.shape == (2, preset(agent, "paper").members, 1)
    assert value_error(q, probe) < 0.1


@pytest.mark.parametrize("probe", CHOICES)
@pytest.mark.parametrize("agent", FAST_CHOICES)
def test_choices(agent, probe):
    """Every member's greedy action earns 1 in every state."""
    q = values(agent, probe)
    assert q.shape == (2, preset(agent, "paper").members, 2)
    assert worst_return(q, probe) == 1


@pytest.mark.slow
@pytest.mark.parametrize("probe", [*VALUES, *CHOICES])
def test_a_fresh_ensemble_fails(probe):
    """So the checks above are met by learning."""
    q = values("boot_dqn", probe, steps=1)
    if probe in VALUES:
        assert value_error(q, probe) > 0.1
    else:
        assert worst_return(q, probe) < 1
