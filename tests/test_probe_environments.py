"""Five probes, each isolating one failure, for each of the four agents.

The loop below is alg3 written with the public functions of an agent, so that the state at the
end can be looked at. The paper preset is used, except for Langevin DQN: with σ_w² = 0.005 read
as a variance and λ = 1 its values keep moving by design, so it takes the released reading.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn import make_agent, make_env, preset
from langevin_dqn.optimizers import noise

AGENTS = {
    "dqn": {},
    "langevin_dqn": {"reading": "released", "discount": 1.0},
    "boot_dqn": {},
    "ensemble_langevin_dqn": {},
}
EPISODES, UPDATES_PER_STEP = 150, 10

#: True values by state, where there is one action.
VALUES = {"probe_value": {0: 1.0}, "probe_state": {0: -1.0, 1: 1.0}, "probe_bootstrap": {0: 1.0, 1: 1.0}}
#: The states in which an action must be right.
CHOICES = {"probe_action": (0,), "probe_policy": (0, 1)}


@partial(jax.jit, static_argnums=1, compiler_options={"xla_backend_optimization_level": 1})
def values_after(agent, names, which, key, episodes):
    """Train on ``names[which]``; (states, members, actions) of values, priors included.

    Environments of one shape share a program.
    """
    envs = [make_env(name) for name in names]
    space, actions = envs[0].observation_space, envs[0].num_actions

    def reset(key):
        return jax.lax.switch(which, [env.reset for env in envs], key)

    def step(key, env_state, action):
        return jax.lax.switch(which, [env.step for env in envs], key, env_state, action)

    def play(carry):
        state, replay, env_state, obs, count, key, _ = carry
        key, act_key, env_key, store_key, learn_key = jax.random.split(key, 5)
        action = agent.act(act_key, state, obs)
        env_state, after, reward, terminated, _ = step(env_key, env_state, action)
        replay = agent.observe(store_key, state, replay, obs, action, reward, after, terminated)

        def learn(i, state):
            return agent.learn(jax.random.fold_in(learn_key, i), state, replay)

        ready = replay.size.min() > 0
        state = jax.lax.fori_loop(0, jnp.where(ready, UPDATES_PER_STEP, 0), learn, state)
        return state, replay, env_state, after, count + 1, key, terminated

    def episode(number, carry):
        state, replay = carry
        begin_key, reset_key, play_key = jax.random.split(jax.random.fold_in(key, number), 3)
        state = agent.begin_episode(begin_key, state)
        env_state, obs = reset(reset_key)
        loop = (state, replay, env_state, obs, 0, play_key, jnp.bool_(False))
        return jax.lax.while_loop(lambda loop: ~loop[-1], play, loop)[:2]

    start = agent.init(jax.random.fold_in(key, EPISODES), space, actions), agent.init_replay(space, actions, 1000)
    state = jax.lax.fori_loop(0, episodes, episode, start)[0]
    return jnp.stack([agent.q_values(state, jnp.int32(s)) for s in range(2)])


def values(agent_name, probe, episodes=EPISODES):
    group = tuple(VALUES if probe in VALUES else CHOICES)
    options = dict(AGENTS[agent_name])
    agent = make_agent(preset(agent_name, options.pop("reading", "paper"), **options))
    return np.asarray(values_after(agent, group, group.index(probe), jax.random.key(0, impl=noise.PRNG), episodes))


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
    q = values("boot_dqn", probe, episodes=0)
    if probe in VALUES:
        assert value_error(q, probe) > 0.1
    else:
        assert worst_return(q, probe) < 1
