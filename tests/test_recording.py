"""Recording Q: it changes nothing, and what it keeps is what one would have seen by looking."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, compiled_training, recording
from langevin_dqn import schedule as schedules
from langevin_dqn.optimizers import noise
from langevin_dqn.recording import WINDOW
from langevin_dqn.results import SpreadMaps
from langevin_dqn.runners import Job
from langevin_dqn.store import Store, key_of

SEA = "deep_sea:depth=4"
SMALL = {"hidden": (5, 5), "updates_per_step": 2}


@pytest.mark.parametrize(
    ("agent", "preset", "changes"),
    [
        ("langevin_dqn", "released", {}),
        ("ensemble_langevin_dqn", "released", {"members": 3}),  # its prior moves
        ("boot_dqn", "paper", {"members": 3}),
        ("dqn", "paper", {"update_timing": "within"}),
    ],
)
def test_returns_are_the_same_to_the_bit(agent, preset, changes):
    run = {"seed": 1, "episodes": 30, "preset": preset, "keep_agent": True, **SMALL, **changes}
    without, with_record = (langevin_dqn.train(agent, SEA, record=record, **run) for record in (None, "q"))
    assert without.record is None
    assert with_record.returns.tobytes() == without.returns.tobytes()
    ours, theirs = (jax.tree.leaves(result.trained.state) for result in (with_record, without))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(ours, theirs, strict=True))


def test_nothing_recorded_is_nothing_compiled():
    """Without a record the program has no trace of one; with it, it has."""
    environment = langevin_dqn.make_env(SEA)
    config = langevin_dqn.preset("dqn", **SMALL)
    agent = langevin_dqn.make_agent(config, space=environment.observation_space)
    key = jax.random.key(0, impl=noise.PRNG)
    limits = compiled_training.Limits(jnp.int32(1), jnp.int32(9), jnp.int32(9), jnp.float32(0))
    maps = f"tensor<{recording.MAX_MAPS}x16"
    for records in (False, True):
        carry = compiled_training.begin(agent, environment, key, 9, None, records)
        text = compiled_training.run_chunk.lower(
            agent, environment, schedules.Schedule.of(config), key, carry, limits, False
        ).as_text()
        assert (maps in text) == records


def looked_at(agent, environment, config, key, episodes):
    """Q of the acting member at the start of each episode and visits before it, by a loop on the host."""
    space, actions = environment.observation_space, environment.num_actions
    state = agent.init(jax.random.fold_in(key, 0), space, actions)
    replay = agent.init_replay(space, actions, capacity=episodes * environment.max_steps)
    step, act, observe = jax.jit(environment.step), jax.jit(agent.act), jax.jit(agent.observe)
    learn = jax.jit(lambda *args: schedules.learn(agent, schedules.Schedule.of(config), *args))
    values = jax.jit(agent.q_values)
    visits, steps, seen, q = np.zeros(space.n, int), 0, [], []
    for episode in range(1, episodes + 1):
        learn_key, begin_key, reset_key, steps_key = jax.random.split(jax.random.fold_in(key, episode), 4)
        state = agent.begin_episode(begin_key, learn(learn_key, state, replay, steps))
        q.append([np.asarray(values(state, jnp.int32(s)))[int(state.member)] for s in range(space.n)])
        seen.append(visits.copy())
        env_state, obs = environment.reset(reset_key)
        steps, ended = 0, False
        while not ended:
            _, act_key, env_key, store_key, _ = jax.random.split(jax.random.fold_in(steps_key, steps), 5)
            visits[int(obs)] += 1
            action = act(act_key, state, obs)
            env_state, next_obs, reward, terminated, truncated = step(env_key, env_state, action)
            replay = observe(store_key, state, replay, obs, action, reward, next_obs, terminated)
            obs, steps, ended = next_obs, steps + 1, bool(terminated | truncated)
    return np.array(q), np.array(seen)


@pytest.mark.parametrize(("agent_name", "members"), [("langevin_dqn", 1), ("ensemble_langevin_dqn", 2)])
def test_a_map_is_the_spread_of_what_was_acted_on(agent_name, members):
    run = {"preset": "released", "members": members, **SMALL}
    record = langevin_dqn.train(agent_name, SEA, seed=3, episodes=25, record="q", **run).record
    environment, config = langevin_dqn.make_env(SEA), langevin_dqn.preset(agent_name, run.pop("preset"), **run)
    agent = langevin_dqn.make_agent(config, space=environment.observation_space)
    q, seen = looked_at(agent, environment, config, jax.random.key(3, impl=noise.PRNG), 20)
    assert record.episodes.tolist() == [10, 20]
    for place, last in enumerate(record.episodes):
        np.testing.assert_allclose(record.spread[place], q[last - WINDOW : last].std(0), rtol=2e-3, atol=1e-5)
        np.testing.assert_array_equal(record.visits[place], seen[last - 1])
    assert record.visits[1, 0] == 19  # every episode so far began there


def test_room_is_bounded_and_the_stride_doubles(monkeypatch):
    """What a run keeps when it has little room is a part of what it keeps when it has much."""
    run = {"seed": 0, "episodes": 100, "record": "q", **SMALL}
    all_maps = langevin_dqn.train("langevin_dqn", SEA, **run).record
    assert all_maps.episodes.tolist() == list(range(10, 101, 10))
    monkeypatch.setattr(recording, "MAX_MAPS", 4)
    jax.clear_caches()
    few = langevin_dqn.train("langevin_dqn", SEA, **run).record
    jax.clear_caches()
    assert few.episodes.tolist() == [40, 80]  # 10 to 40 by tens, then to 80 by twenties, then by forties
    np.testing.assert_array_equal(few.spread, all_maps.spread[[3, 7]])
    np.testing.assert_array_equal(few.visits, all_maps.visits[[3, 7]])


@pytest.mark.parametrize(("episodes", "maps"), [(9, 0), (10, 1), (19, 1)])
def test_maps_of_short_runs(episodes, maps):
    record = langevin_dqn.train("dqn", SEA, episodes=episodes, record="q", **SMALL).record
    assert record.spread.shape == (maps, 16, 2)
    assert record.visits.shape == (maps, 16)


def test_an_episode_that_the_budget_cuts_off_has_no_map():
    cut = langevin_dqn.train("dqn", SEA, steps=4 * 9 + 2, record="q", **SMALL)
    assert cut.episodes == 9
    assert len(cut.record.episodes) == 0
    assert len(langevin_dqn.train("dqn", SEA, steps=4 * 10, record="q", **SMALL).record.episodes) == 1


@pytest.mark.parametrize(
    ("env", "record", "changes", "words"),
    [
        (SEA, "w", {}, "unknown record"),
        ("cartpole", "q", {}, "observed as an index"),
        ("gym:CliffWalking-v1", "q", {}, "observed as an index"),
        ("deep_sea:depth=80", "q", {"row_updates": "dense"}, "at most 5000 states"),
        (SEA, "q", {"row_updates": "sleeping"}, "every row"),
        ("deep_sea:depth=30", "q", {}, "every row"),
    ],
)
def test_what_cannot_be_recorded(env, record, changes, words):
    with pytest.raises(UserError, match=words):
        langevin_dqn.train("ensemble_langevin_dqn", env, episodes=10, record=record, **changes)


def made_up(maps=3, states=16, actions=2):
    rng = np.random.default_rng(0)
    return SpreadMaps(
        10 * np.arange(1, maps + 1, dtype=np.int32),
        rng.random((maps, states, actions), dtype=np.float32),
        rng.integers(0, 9, (maps, states), dtype=np.int32),
    )


@pytest.mark.parametrize("episodes", [35, 5])
def test_a_record_comes_back_from_the_store(tmp_path, episodes):
    job = Job("dqn", SEA, 0, episodes, changes=SMALL, record="q")
    result = job.run()
    Store(tmp_path).put(job, result)
    found = Store(tmp_path).get(job).record
    for name, values in vars(result.record).items():
        back = getattr(found, name)
        assert (back.shape, back.dtype, back.tobytes()) == (values.shape, values.dtype, values.tobytes())


def test_runs_with_and_without_a_record_share_a_store(tmp_path):
    plain = Job("dqn", SEA, 0, 12, changes=SMALL)
    recorded = dataclasses.replace(plain, record="q")
    for job in (plain, recorded):
        Store(tmp_path).put(job, job.run())
    assert Store(tmp_path).get(plain).record is None
    assert Store(tmp_path).get(recorded).record is not None
    assert Store(tmp_path).load().height == 2


def test_a_record_names_a_run_only_where_there_is_one():
    """The name is the one this run had before there were records."""
    plain = Job("dqn", "deep_sea/0", seed=3, episodes=8, changes={"hidden": (5, 5)})
    assert key_of(plain) == "933d0c153e9f07a81cd5e959fa9940d0"
    assert key_of(dataclasses.replace(plain, record="q")) != key_of(plain)


def test_as_json():
    record = made_up()
    record.spread[0, 0, 0] = np.nan
    back = json.loads(json.dumps(record.to_dict(), allow_nan=False))
    assert back["spread"][0][0][0] is None
    assert back["spread"][2] == record.spread[2].tolist()
    assert (back["episodes"], back["visits"]) == ([10, 20, 30], record.visits.tolist())
