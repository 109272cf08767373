"""Environments that do what no environment should: on the host and compiled, each wrong in one way, at one step."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.environments import ArraySpace, Environment, IndexSpace, static


class OnHost:
    """Episodes of three steps; at its seventh step it does what ``wrong`` says."""

    max_return = None
    observation_space = ArraySpace((2,))
    num_actions = 2

    def __init__(self, wrong="nothing", actions=2):
        self.wrong, self.num_actions, self.steps, self.resets = wrong, actions, 0, 0

    def reset(self, seed=None):
        self.resets += 1
        if self.wrong == "reset raises" and self.resets == 3:
            raise RuntimeError("no more episodes")
        return np.zeros(2, np.float32)

    def step(self, action):
        self.steps += 1
        answer = [np.ones(2, np.float32), 1.0, self.steps % 3 == 0, False]
        if self.steps == 7:
            if self.wrong == "step raises":
                raise ValueError("the [bold]simulator[/bold] crashed")
            if self.wrong == "exits":
                raise SystemExit(0)
            place, value = {
                "reward is nan": (1, float("nan")),
                "reward is text": (1, "one"),
                "observation is inf": (0, np.full(2, np.inf, np.float32)),
                "another shape": (0, np.zeros(3, np.float32)),
                "flag is no flag": (2, np.zeros(2)),
            }.get(self.wrong, (3, False))
            answer[place] = value
            if self.wrong == "three values":
                answer.pop()
        return tuple(answer)

    def close(self):
        pass


class Indices(OnHost):
    """Observes an index that is none."""

    observation_space = IndexSpace(3)

    def reset(self, seed=None):
        return np.int32(0)

    def step(self, action):
        self.steps += 1
        return np.int32(9 if self.steps == 7 else 1), 1.0, self.steps % 3 == 0, False


@dataclass(frozen=True)
class Compiled(Environment):
    """Episodes of three steps; in its seventh step, reward or observation is not finite."""

    wrong: str = static(default="reward")
    observation_space = ArraySpace((2,))
    num_actions = 2
    max_steps = 3

    def reset(self, key):
        return (jnp.int32(0), jax.random.uniform(key)), jnp.zeros(2)

    def step(self, key, state, action):
        step, luck = state
        broken = jnp.where((luck < 0.4) & (step == 1), jnp.nan, 1.0)
        reward, obs = (broken, 1.0) if self.wrong == "reward" else (1.0, broken)
        return (step + 1, luck), jnp.full(2, obs, jnp.float32), jnp.float32(reward), step == 2, jnp.bool_(False)


def on_host(wrong: str = "nothing", actions: int = 2):
    return OnHost(wrong, actions)


def compiled(wrong: str = "reward"):
    return Compiled(wrong)
