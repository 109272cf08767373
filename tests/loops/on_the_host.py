"""A compiled environment that is stepped on the host."""

import jax
import numpy as np

from langevin_dqn import make_env

reset = jax.jit(lambda env: env.reset(jax.random.key(0)))
step = jax.jit(lambda env, state, action: env.step(jax.random.key(0), state, action))


class OnTheHost:
    """A JAX environment behind the host's protocol; for those without randomness."""

    max_return = None

    def __init__(self, env_id):
        self.env = make_env(env_id)
        self.observation_space, self.num_actions = self.env.observation_space, self.env.num_actions

    def reset(self, seed=None):
        self.state, obs = reset(self.env)
        return np.asarray(obs)

    def step(self, action):
        self.state, obs, reward, terminated, truncated = step(self.env, self.state, np.int32(action))
        return np.asarray(obs), float(reward), bool(terminated), bool(truncated)

    def close(self):
        raise AssertionError("who passes a live environment closes it")
