"""Five probes, each isolating one failure, for each of the four agents in the paper's reading.

The loop below is alg3 written with the public functions of an agent, so that its values can be
looked at. Langevin agents never come to rest, so values are averaged over the last steps. Where
actions must be told apart, Langevin DQN explores with ε: a wrong action costs -1, the untried
one may be valued below that, and its noise alone can take long to try it (about one key in five
had not within 400 steps). Whether it explores is not what a probe asks.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn import make_agent, make_env, preset
from langevin_dqn.optimizers import noise

AGENTS = ("dqn", "langevin_dqn", "boot_dqn", "ensemble_langevin_dqn")
STEPS, UPDATES_PER_STEP, AVERAGED = 200, 4, 100

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

    def begin(key, state):
        begin_key, reset_key = jax.random.split(key)
        return agent.begin_episode(begin_key, state), *jax.lax.switch(which, [e.reset for e in envs], reset_key)

    def play(number, carry):
        state, replay, env_state, obs, total = carry
        begin_key, act_key, env_key, store_key, learn_key = jax.random.split(jax.random.fold_in(key, number), 5)
        action = agent.act(act_key, state, obs)
        outcome = jax.lax.switch(which, [e.step for e in envs], env_key, env_state, action)
        env_state, after, reward, terminated, _ = outcome
        replay = agent.observe(store_key, state, replay, obs, action, reward, after, terminated)
        state = jax.lax.fori_loop(
            0,
            jnp.where(replay.size.min() > 0, UPDATES_PER_STEP, 0),
            lambda i, state: agent.learn(jax.random.fold_in(learn_key, i), state, replay),
            state,
        )
        total += jnp.where(number >= steps - averaged, values(state) / averaged, 0)
        fresh, going_on = begin(begin_key, state), (state, env_state, after)
        state, env_state, obs = jax.tree.map(partial(jnp.where, terminated), fresh, going_on)
        return state, replay, env_state, obs, total

    def values(state):
        return jax.vmap(agent.q_values, in_axes=(None, 0))(state, jnp.arange(2))

    init_key, begin_key = jax.random.split(jax.random.fold_in(key, STEPS))
    state, env_state, obs = begin(begin_key, agent.init(init_key, space, actions))
    start = state, agent.init_replay(space, actions, STEPS), env_state, obs, jnp.zeros_like(values(state))
    return jax.lax.fori_loop(0, steps, play, start)[-1]


def values(agent_name, probe, steps=STEPS):
    group = tuple(VALUES if probe in VALUES else CHOICES)
    explores = {"epsilon": 0.2} if agent_name == "langevin_dqn" and probe in CHOICES else {}
    agent = make_agent(preset(agent_name, **explores))
    return np.asarray(values_after(agent, group, group.index(probe), jax.random.key(0, impl=noise.PRNG), steps))


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


@pytest.mark.parametrize("probe", VALUES)
@pytest.mark.parametrize("agent", AGENTS)
def test_values(agent, probe):
    """Every member is within 0.1 of the true value of every state it has met."""
    q = values(agent, probe)
    assert q.shape == (2, preset(agent).members, 1)
    assert value_error(q, probe) < 0.1


@pytest.mark.parametrize("probe", CHOICES)
@pytest.mark.parametrize("agent", AGENTS)
def test_choices(agent, probe):
    """Every member's greedy action earns 1 in every state."""
    q = values(agent, probe)
    assert q.shape == (2, preset(agent).members, 2)
    assert worst_return(q, probe) == 1


@pytest.mark.parametrize("probe", [*VALUES, *CHOICES])
def test_a_fresh_ensemble_fails(probe):
    """So the checks above are met by learning."""
    q = values("boot_dqn", probe, steps=1)
    if probe in VALUES:
        assert value_error(q, probe) > 0.1
    else:
        assert worst_return(q, probe) < 1
