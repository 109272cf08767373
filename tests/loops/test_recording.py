"""Recording Q: it changes nothing, and what it keeps is what one would have seen by looking."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, keys
from langevin_dqn.agents import Step
from langevin_dqn.environments.base import IndexSpace
from langevin_dqn.loops import compiled, recording
from langevin_dqn.loops.capacity import Room
from langevin_dqn.loops.recording import WINDOW

SEA = "deep_sea:depth=4"
SMALL = {"hidden": (5, 5), "updates_per_step": 2}


def with_and_without(agent, **changes):
    run = {"seed": 3, "episodes": 25, "keep_agent": True, **SMALL, **changes}
    return [langevin_dqn.train(agent, SEA, record=record, **run) for record in ("q", None)]


def assert_same_bits(recorded, plain):
    assert plain.record is None
    assert recorded.returns.tobytes() == plain.returns.tobytes()
    ours, theirs = (jax.tree.leaves(result.trained.state) for result in (recorded, plain))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))


@pytest.mark.usefixtures("quick_compilation")
def test_a_record_changes_no_bit():
    assert_same_bits(*with_and_without("langevin_dqn", preset="released"))


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_nor_where_updates_come_within_episodes():
    assert_same_bits(*with_and_without("boot_dqn", members=2, update_timing="within"))


def test_nothing_recorded_is_nothing_compiled():
    """Without a record the program has no trace of one; with it, it has."""
    environment = langevin_dqn.make_env(SEA)
    agent = langevin_dqn.make_agent(langevin_dqn.preset("dqn", "paper", **SMALL), space=environment.observation_space)
    key = keys.run_key(0)
    limits = compiled.Limits(jnp.int32(1), jnp.int32(9), jnp.int32(9), jnp.float32(0))
    maps = f"tensor<{recording.MAX_MAPS}x16"
    for records in (False, True):
        carry = jax.eval_shape(lambda records=records: compiled._begin(agent, environment, key, Room(9, None), records))
        program = compiled.RUN_CHUNK.compiled_for(agent, environment)
        text = program.lower(agent, environment, key, carry, limits).as_text()
        assert (maps in text) == records


def looked_at(agent, environment, key, episodes):
    """Q of the acting member at the start of each episode and visits before it, by a loop on the host.

    The keys are split here by hand, so that a change of their layout shows.
    """
    space, actions = environment.observation_space, environment.num_actions
    state = agent.init(jax.random.fold_in(key, 0), space, actions, episodes * environment.max_steps)
    step, act, observe, learn = map(jax.jit, (environment.step, agent.act, agent.observe, agent.learn))
    values = jax.jit(agent.ensemble_values)
    visits, steps, seen, q = np.zeros(space.n, int), 0, [], []
    for episode in range(1, episodes + 1):
        learn_key, begin_key, reset_key, steps_key = jax.random.split(jax.random.fold_in(key, episode), 4)
        state = agent.begin_episode(begin_key, learn(learn_key, state, steps))
        q.append([np.asarray(values(state, jnp.int32(s)))[int(state.member)] for s in range(space.n)])
        seen.append(visits.copy())
        env_state, obs = environment.reset(reset_key)
        steps, ended = 0, False
        while not ended:
            _, act_key, env_key, store_key, _ = jax.random.split(jax.random.fold_in(steps_key, steps), 5)
            visits[int(obs)] += 1
            action = act(act_key, state, obs)
            env_state, next_obs, reward, terminated, truncated = step(env_key, env_state, action)
            state = observe(store_key, state, Step(obs, action, reward, next_obs, terminated, truncated))
            obs, steps, ended = next_obs, steps + 1, bool(terminated | truncated)
    return np.array(q), np.array(seen)


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_a_map_is_the_spread_of_what_was_acted_on():
    """An ensemble whose priors move too: whoever acts is recorded, and no bit changes."""
    changes = {"members": 2, "min_replay_size": 0}
    recorded, plain = with_and_without("ensemble_langevin_dqn", preset="released", **changes)
    assert_same_bits(recorded, plain)
    environment, config = langevin_dqn.make_env(SEA), recorded.config
    agent = langevin_dqn.make_agent(config, space=environment.observation_space)
    q, seen = looked_at(agent, environment, keys.run_key(3), 20)
    record = recorded.record
    assert record.episodes.tolist() == [10, 20]
    for place, last in enumerate(record.episodes):
        np.testing.assert_allclose(record.spread[place], q[last - WINDOW : last].std(0), rtol=1e-3, atol=1e-5)
        np.testing.assert_array_equal(record.visits[place], seen[last - 1])
    assert record.visits[1, 0] == 19  # every episode so far began there


@pytest.mark.slow
@pytest.mark.usefixtures("quick_compilation")
def test_an_episode_that_the_budget_cuts_off_has_no_map():
    cut = langevin_dqn.train("dqn", SEA, preset="paper", steps=4 * 9 + 2, record="q", **SMALL)
    assert cut.episodes == 9
    assert len(cut.record.episodes) == 0


class Said(NamedTuple):
    """An agent's state that says what its Q is: ``episode`` squared, times one more than the state and action."""

    episode: jax.Array


class Sayer:
    def values(self, state, obs):
        return state.episode.astype(float) ** 2 * (1 + obs + jnp.arange(2))


@partial(jax.jit, static_argnums=0)
def recorded_after(episodes):
    def one(i, recorder):
        recorder = recording.record_values(Sayer(), recorder, Said(i + 1), i)
        return recorder._replace(visits=recorder.visits.at[1].add(1))

    return jax.lax.fori_loop(0, episodes, one, recording.init(IndexSpace(3), 2))


@pytest.mark.parametrize("episodes", [9, 10, 19, 40, 41, 80, 81, 100])
def test_room_is_bounded_and_the_stride_doubles(monkeypatch, episodes):
    """With room for four maps: by tens up to 40, by twenties up to 80, then by forties."""
    monkeypatch.setattr(recording, "MAX_MAPS", 4)
    recorded_after.clear_cache()
    record = recording.maps_of(recorded_after(episodes), episodes)
    stride = 10 if episodes <= 40 else 20 if episodes <= 80 else 40
    assert record.episodes.tolist() == list(range(stride, episodes + 1, stride))
    maps = len(record.episodes)
    assert (record.spread.shape, record.visits.shape) == ((maps, 3, 2), (maps, 3))
    for place, last in enumerate(record.episodes):
        spread = np.std(np.arange(last - WINDOW + 1, last + 1) ** 2.0)
        np.testing.assert_allclose(record.spread[place], spread * np.array([[1, 2], [2, 3], [3, 4]]), rtol=1e-5)
        assert record.visits[place].tolist() == [0, last - 1, 0]


@pytest.mark.parametrize(
    ("env", "record", "changes", "words"),
    [
        (SEA, "w", {}, "unknown record"),
        ("cartpole", "q", {}, "needs a compiled environment with index observations"),
        ("gym:CliffWalking-v1", "q", {}, "needs a compiled environment with index observations"),
        ("deep_sea:depth=80", "q", {"row_updates": "dense"}, "at most 5000 states"),
        (SEA, "q", {"row_updates": "lazy"}, "row_updates=dense"),
        ("deep_sea:depth=30", "q", {}, "row_updates=dense"),
    ],
)
def test_what_cannot_be_recorded(env, record, changes, words):
    with pytest.raises(UserError, match=words):
        langevin_dqn.train("ensemble_langevin_dqn", env, preset="paper", episodes=10, record=record, **changes)
