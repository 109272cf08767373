"""``stop_when_solved`` stops where float64 says so, also after many episodes, however the run is cut into chunks."""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import pytest

from langevin_dqn import train
from langevin_dqn.agents import BaseAgent
from langevin_dqn.environments import Environment, IndexSpace
from langevin_dqn.pytrees import static
from langevin_dqn.runs import metrics, training_run

LOSSES = 200_000


class Count(NamedTuple):
    episodes: jnp.ndarray


@dataclass(frozen=True)
class Late(BaseAgent):
    """Takes the first action in so many episodes, and then the second."""

    losses: int = static(default=LOSSES)
    version = "1"

    def init(self, key, space, num_actions, capacity):
        return Count(jnp.int32(0))

    def begin_episode(self, key, state):
        return Count(state.episodes + 1)

    def act(self, key, state, obs):
        return (state.episodes > self.losses).astype(jnp.int32)

    def observe(self, key, state, step):
        return state

    def learn(self, key, state, steps):
        return state


@dataclass(frozen=True)
class OneStep(Environment):
    """The second action is best. What the first loses is no number that float32 has."""

    best: float = static(default=0.99)
    observation_space = IndexSpace(1)
    num_actions = 2
    max_steps = 1
    learned_regret = 0.8

    @property
    def max_return(self):
        return self.best

    def reset(self, key):
        return jnp.int32(0), jnp.int32(0)

    def step(self, key, state, action):
        return state, state, jnp.where(action == 1, self.best, 0.0), jnp.bool_(True), jnp.bool_(False)


@pytest.mark.parametrize("best", [0.99, 0.97, 1.01])
def test_a_late_run_stops_at_the_episode_in_which_it_has_learned(best):
    """In float32 the sum of 200,000 regrets is off by hundreds, in either direction."""
    result = train(Late(), OneStep(best), episodes=2 * LOSSES, stop_when_solved=True)
    assert result.episodes == metrics.learning_time(result.returns, best, 0.8)
    assert result.episodes == pytest.approx(LOSSES * best / 0.8, abs=1)


def test_chunks_change_nothing(monkeypatch):
    ends = []
    for seconds in (0.5, 0.001):
        monkeypatch.setattr(training_run, "_CHUNK_SECONDS", seconds)
        ends.append(train(Late(losses=9000), OneStep(), episodes=20_000, stop_when_solved=True).episodes)
    assert ends[0] == ends[1] == pytest.approx(9000 * 0.99 / 0.8, abs=1)
