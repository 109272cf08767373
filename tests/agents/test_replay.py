"""What each member's buffer takes, keeps and gives up (lines 15-19 of alg3).

Statistical tests use fixed keys; each docstring gives its level.
"""

import jax
import jax.numpy as jnp
import numpy as np
from scipy import stats
from small_agents import PICTURES, SPACE, begin, fill, key, keys, quick_jit, repeated, small

from langevin_dqn.agents import Step
from langevin_dqn.agents.replay import Layout, Transition


def inserted(agent, seed, count):
    """(count, members): whether each of ``count`` observed transitions reached each member's buffer."""
    state = begin(agent)
    step = Step(jnp.int32(0), jnp.int32(1), jnp.float32(1), jnp.int32(1), jnp.bool_(False), jnp.bool_(False))
    sizes = quick_jit(jax.vmap(lambda key: agent.observe(key, state, step).replay.size))
    return np.asarray(sizes(keys(seed, count)))


def test_insertion_probability_per_member():
    """Bernoulli(p) for each member by itself: binomial per member and pair, level 1e-4 for each of 16."""
    got = inserted(small("boot_dqn", members=5, insertion_probability=0.3), seed=3, count=4000)
    assert got.shape == (4000, 5)
    for k in range(5):
        assert stats.binomtest(int(got[:, k].sum()), 4000, 0.3).pvalue > 1e-4
        for other in range(k):
            both = int((got[:, k] & got[:, other]).sum())
            assert stats.binomtest(both, 4000, 0.09).pvalue > 1e-4


def test_every_transition_is_inserted_with_probability_one():
    assert (inserted(small("ensemble_langevin_dqn", members=3), seed=4, count=50) == 1).all()


def test_masked_insertion_is_bernoulli_too():
    """The released reading: one buffer holding all, a mask per member; binomial per member, level 1e-4."""
    agent = small("boot_dqn", "released", members=3, insertion_probability=0.3)
    replay = fill(agent, begin(agent), 5, repeated(np.int32(0), 1, 1, np.int32(1), False, 2000)).replay
    assert replay.size.tolist() == [2000]
    mask = np.asarray(replay.data.extras["mask"])[0, :2000]
    assert mask.shape == (2000, 3)
    for k in range(3):
        assert stats.binomtest(int(mask[:, k].sum()), 2000, 0.3).pvalue > 1e-4


def numbered(count):
    """Transitions told apart by their reward."""
    zeros = np.zeros(count, np.int32)
    return zeros, zeros, np.arange(count, dtype=np.float32), zeros, np.zeros(count, bool)


def test_oldest_out():
    agent = small("dqn", buffer_size=8)
    replay = fill(agent, begin(agent), 0, numbered(21)).replay
    assert replay.size.tolist() == [8]
    assert sorted(np.asarray(replay.data.reward[0]).tolist()) == list(range(13, 21))


def test_each_members_buffer_is_without_gaps():
    """With p = ½ each buffer holds, in order and side by side, what its member was given."""
    agent = small("boot_dqn", members=2)
    replay = fill(agent, begin(agent), 0, numbered(40)).replay
    held = [np.asarray(replay.data.reward[m, : replay.size[m]]) for m in range(2)]
    for rewards in held:
        assert 8 < len(rewards) < 32
        assert (np.diff(rewards) > 0).all()
    assert not np.array_equal(*held)


def test_random_out():
    """The newest stays; each transition survives each later one with chance 1-1/8. z < 5 for each, level 1e-5."""
    agent, trials = small("dqn", buffer_size=8, buffer_discipline="random"), 2000
    state = begin(agent)
    held = jax.vmap(lambda seed: fill(agent, state, seed, numbered(21)).replay.data.reward[0])(jnp.arange(trials))
    held = np.asarray(held).astype(int)
    assert all(len(set(row)) == 8 for row in held)
    survived = np.bincount(held.ravel(), minlength=21)
    chance = (1 - 1 / 8) ** np.minimum(13, 20 - np.arange(21))
    error = np.sqrt(trials * chance * (1 - chance)) + 1e-9
    assert (np.abs(survived - trials * chance) < 5 * error).all()


def test_extras_are_any_tree_and_go_with_their_member():
    """What an agent stores of its own, by name: each member gets its own part of the transition it draws."""
    layout = Layout(members=3, separate=False)
    shapes = {"tag": jax.ShapeDtypeStruct((3,), jnp.float32), "pair": jax.ShapeDtypeStruct((3, 2), jnp.int32)}
    replay = layout.init(SPACE, shapes, 4)
    member = np.arange(3)
    for number in range(3):
        extras = {"tag": jnp.float32(10 * number + member), "pair": jnp.int32([[number, m] for m in member])}
        transition = Transition(jnp.int32(0), jnp.int32(0), jnp.float32(number), jnp.int32(0), 1.0, extras)
        replay = layout.add(key(0), replay, transition, jnp.ones(1, bool), random_out=False)
    batch = layout.sample(key(1), replay, 50, shared=False)
    number = np.asarray(batch.reward).astype(int)
    assert set(number.ravel().tolist()) == {0, 1, 2}
    np.testing.assert_array_equal(batch.extras["tag"], 10 * number + member[:, None])
    np.testing.assert_array_equal(batch.extras["pair"][..., 0], number)
    np.testing.assert_array_equal(batch.extras["pair"][..., 1], np.broadcast_to(member[:, None], number.shape))


def numbered_replay(count, capacity, members=1, separate=False):
    layout = Layout(members, separate)
    replay = layout.init(SPACE, {}, capacity)
    for number in range(count):
        transition = Transition(jnp.int32(0), jnp.int32(0), jnp.float32(number), jnp.int32(0), 1.0, {})
        replay = layout.add(key(0), replay, transition, jnp.ones(layout.buffers, bool), random_out=False)
    return layout, replay


def test_a_larger_buffer_keeps_what_it_has():
    layout, space = Layout(2, separate=False), PICTURES
    replay = layout.init(space, {}, 3)
    picture = jnp.arange(np.prod(space.shape), dtype=jnp.float32).reshape(space.shape)
    for number in range(2):
        transition = Transition(picture + number, jnp.int32(0), jnp.float32(number), picture, 1.0, {})
        replay = layout.add(key(0), replay, transition, jnp.ones(1, bool), random_out=False)
    larger = replay.with_capacity(5)
    assert (larger.capacity, replay.capacity) == (5, 3)
    np.testing.assert_array_equal(larger.data.obs[:, :3], replay.data.obs)
    assert larger.data.obs.shape[2:] == space.shape
    assert larger.size.tolist() == replay.size.tolist()
    full = larger.with_capacity(2)
    assert (full.capacity, full.cursor.tolist()) == (2, [0])


def test_recent_samples_are_the_last_added_and_the_rest_from_all():
    """40 added to 32 places: the ring has wrapped. A window of 5; chi-square, level 1e-4 for both parts."""
    layout, replay = numbered_replay(40, 32, members=2)
    batch = layout.sample(key(1), replay, 4000, shared=False, recent=(2000, jnp.int32(5)))
    drawn = np.asarray(batch.reward).astype(int)
    recent, rest = drawn[:, :2000], drawn[:, 2000:]
    assert set(recent.ravel()) == set(range(35, 40))
    assert set(rest.ravel()) == set(range(8, 40))
    assert stats.chisquare(np.bincount(recent.ravel())[35:]).pvalue > 1e-4
    assert stats.chisquare(np.bincount(rest.ravel())[8:]).pvalue > 1e-4
    assert not np.array_equal(*drawn), "members draw their own"


def test_recent_samples_of_a_buffer_shorter_than_the_window_are_from_all_of_it():
    layout, replay = numbered_replay(3, 32, members=2, separate=True)
    batch = layout.sample(key(1), replay, 100, shared=True, recent=(100, jnp.int32(20)))
    assert set(np.asarray(batch.reward).ravel().astype(int)) == {0, 1, 2}


def test_an_agent_draws_its_share_of_recent_transitions():
    agent = small("dqn", recent_fraction=0.25, recent_window=2)
    state = fill(agent, begin(agent), 0, numbered(20))
    drawn = np.concatenate(
        [np.asarray(agent.problem.minibatches(key(k), state.replay)[0].reward[0]) for k in range(20)]
    ).reshape(20, 8)
    assert set(drawn[:, :2].ravel()) == {18, 19}
    assert drawn[:, 2:].min() < 5


def test_a_member_with_a_buffer_of_its_own_gets_its_own_extras():
    """Such as its prior's values, which belong to its transitions alone."""
    layout = Layout(members=3, separate=True)
    replay = layout.init(SPACE, {"own": jax.ShapeDtypeStruct((3, 2), jnp.float32)}, 4)
    extras = {"own": jnp.arange(6.0).reshape(3, 2)}
    zero = jnp.int32(0)
    transition = Transition(zero, zero, jnp.float32(1), zero, jnp.float32(1), extras)
    replay = layout.add(key(0), replay, transition, jnp.ones(3, bool), random_out=False)
    batch = layout.sample(key(1), replay, 5, shared=False)
    np.testing.assert_array_equal(batch.extras["own"], np.repeat(extras["own"][:, None], 5, axis=1))
