"""The lazy learner against the dense one: the same values without noise, the same law with it.

Statistical tests use fixed keys; each docstring gives its level.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from sea_memories import DEPTH, everywhere, learn, prepared
from small_agents import begin, fill, key, keys, quick_jit

import langevin_dqn
from langevin_dqn.agents.learners import lazy_blocks
from langevin_dqn.environments.base import IndexSpace

SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        pytest.param("dqn", {}, marks=SLOW),
        pytest.param("boot_dqn", {"members": 2}, marks=SLOW),
        pytest.param("dqn", {"bias_correction": True, "target_period": 7}, marks=SLOW),
        # several blocks between copies, chunks not full
        pytest.param("dqn", {"target_period": 20, "batch_size": 30}, marks=SLOW),
        pytest.param("dqn", {"target_period": 1}, marks=SLOW),
        # one table for all members
        ("boot_dqn", {"members": 3, "insertion": "mask", "shared_minibatch": True}),
        pytest.param("boot_dqn", {"members": 2, "insertion_probability": 1.0, "shared_minibatch": True}, marks=SLOW),
    ],
)
def test_without_noise_the_two_agents_are_the_same(name, changes):
    """Same keys, same minibatches: after 400 updates (past the warm-up) the values agree to 1e-4."""
    values = {}
    for mode in ("dense", "lazy"):
        agent, state = prepared(name, mode, **changes)
        assert (agent.choice.kind == "lazy") == (mode == "lazy")
        state = learn(agent, key(3), state, jnp.int32(400))
        assert int(state.learner.counter.updates) == 400
        values[mode] = everywhere(agent, state)
    np.testing.assert_allclose(values["lazy"], values["dense"], atol=1e-4)


@pytest.mark.parametrize("shared", [False, True])
def test_without_noise_rows_of_several_chunks_are_the_same(shared):
    """Two members, and 200 states, of which a block reads more than go to its workspace in one piece.

    The values agree to 1e-4 after 300 updates.
    """
    states, count = 200, 400
    rng = np.random.default_rng(0)
    memory = (
        np.where(rng.random(count) < 0.1, 0, rng.integers(states, size=count)).astype(np.int32),  # the first row often
        rng.integers(2, size=count).astype(np.int32),
        rng.normal(size=count).astype(np.float32),
        rng.integers(states, size=count).astype(np.int32),
        rng.random(count) < 0.2,
    )
    changes = {"members": 2, "insertion": "mask", "shared_minibatch": shared, "hidden": (8,), "batch_size": 32}
    found = {}
    for mode in ("dense", "lazy"):
        config = langevin_dqn.preset("boot_dqn", "paper", row_updates=mode, **changes)
        agent = langevin_dqn.make_agent(config, space=IndexSpace(states))
        state = learn(agent, key(3), fill(agent, begin(agent, space=IndexSpace(states), actions=2), 0, memory), 300)
        found[mode] = np.asarray(
            jax.vmap(lambda cell, a=agent, s=state: a.ensemble_values(s, cell))(jnp.arange(states))
        )
    np.testing.assert_allclose(found["lazy"], found["dense"], atol=1e-4)


@pytest.mark.parametrize(("counts", "chunks"), [((0, 0), 0), ((1, 0), 1), ((64, 3), 1), ((3, 65), 2), ((128, 128), 2)])
def test_chunks_hold_the_slots_of_every_group(counts, chunks):
    assert lazy_blocks.CHUNK == 64
    assert int(lazy_blocks._chunks(jnp.array(counts))) == chunks


SHARED = {"members": 2, "insertion": "mask", "shared_minibatch": True}


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"members": 2}, SHARED])
def test_blocks_may_be_cut_anywhere(changes):
    """Updates in runs of any length, with the acting member's rows prepared in between, as in training."""
    values = {}
    for mode in ("dense", "lazy"):
        agent, state = prepared("boot_dqn", mode, **changes)
        state = learn(agent, key(3), state, jnp.int32(300))
        attend = quick_jit(type(agent).attend)
        for turn, count in enumerate((3, 2, 1, 6, 9, 5, 7, 2)):
            for cell in (0, DEPTH, DEPTH + 1):
                state = attend(agent, key(turn), state, jnp.int32(cell))
            state = learn(agent, key(4 + turn), state, jnp.int32(count))
        values[mode] = everywhere(agent, state)
    np.testing.assert_allclose(values["lazy"], values["dense"], atol=1e-4)


@SLOW
@pytest.mark.parametrize("shared", [False, True])
def test_with_noise_unvisited_rows_spread_alike(shared):
    """Rows nobody reads: their spread under both steps, as a ratio, F-test at level 1e-6; members are independent:
    |r| < 5/√n for each pair.
    """
    spread = {}
    for mode in ("dense", "lazy"):
        agent, state = prepared("ensemble_langevin_dqn", mode, members=4, shared_minibatch=shared)
        before, _ = agent.learner.dense_params(key(4), state.learner)
        state = learn(agent, key(3), state, jnp.int32(400))
        rows, _ = agent.learner.dense_params(key(4), state.learner)
        unreachable = [r * DEPTH + c for r in range(DEPTH) for c in range(r + 1, DEPTH)]
        moved = np.asarray(rows - before)[:, unreachable]
        spread[mode] = moved.var()
        count = moved.size
    # log of a ratio of variances with n each: standard deviation 2/sqrt(n)
    assert abs(np.log(spread["lazy"] / spread["dense"])) < 5 * 2 / np.sqrt(count)
    correlation = np.corrcoef(moved.reshape(4, -1)) - np.eye(4)
    assert np.abs(correlation).max() < 5 / np.sqrt(count / 4)


# The law of noisy reads, coordinate by coordinate. Without hidden layers Q(s, ·) is row s plus a bias.

STATES, ACTIONS, UPDATES, CHAINS = 6, 3, 300, 400
TABLE = {
    "hidden": (), "members": 1, "batch_size": 4, "prior_scale": 0.0, "adam_eps": 1e-3, "noise_variance": 1e-3,
    "learning_rate": 1e-2,
}  # fmt: skip


def table_agent(mode):
    config = langevin_dqn.preset("ensemble_langevin_dqn", "paper", row_updates=mode, **TABLE)
    return langevin_dqn.make_agent(config, space=IndexSpace(STATES))


def rarely_read(agent):
    """A state before the first update: rows 0 and 1 are often read, 2 and 3 rarely, 4 and 5 never."""
    count = 100
    obs = np.zeros(count, np.int32)
    obs[50:98], obs[98], obs[99] = 1, 2, 3
    action = (np.arange(count) % ACTIONS).astype(np.int32)
    reward = np.linspace(-1, 1, count).astype(np.float32)
    following = np.where(obs == 0, 1, 0).astype(np.int32)
    state = begin(agent, space=IndexSpace(STATES), actions=ACTIONS)
    return fill(agent, state, 0, (obs, action, reward, following, obs > 0))


@pytest.fixture(scope="module")
def lazy_table():
    """A lazy table after 300 updates, 44 of them behind the warm-up."""
    agent = table_agent("lazy")
    return agent, learn(agent, key(3), rarely_read(agent), jnp.int32(UPDATES))


@partial(quick_jit, static_argnums=3)
def _reads(agent, state, reads, rows):
    read = jax.vmap(lambda k, obs: agent.member_values(state, 0, obs, k), (0, None))
    return jax.vmap(read, (None, 0))(reads, jnp.arange(rows))


def law_of_rows(state):
    """Mean and variance of every row at the last update: alg4 step by step in float64, from where the row stands."""
    table, (bias, _) = state.learner.params
    rows = jax.tree.map(lambda x: np.asarray(x[0], np.float64), table.rows)
    clock = jax.tree.map(lambda x: np.asarray(x[0], np.float64), state.learner.optimizer.clock)
    size = float(state.replay.size[0])
    mean, variance = rows.value.copy(), np.zeros_like(rows.value)
    for row in range(STATES):
        for k in range(int(rows.time[row]) + 1, int(clock.now) + 1):
            update, since = k + clock.epoch, k - rows.gradient_time[row]
            alpha = TABLE["learning_rate"] * np.sqrt(1 - 0.999**update) / (1 - 0.9**update)
            root = 0.999 ** (since / 2) * rows.root[row] + TABLE["adam_eps"]
            mean[row] -= alpha * 0.9**since * rows.moment[row] / root
            variance[row] += 2 * alpha * TABLE["noise_variance"] / (size * root)
    return mean + np.asarray(bias[0], np.float64), variance, clock.now - rows.time


def test_a_read_has_the_law_of_the_updates_since(lazy_table):
    """N(mean, variance) of the dense recursion in every coordinate: Kolmogorov-Smirnov, mean within 5 standard
    errors and variance within 5 of its own; level 1e-4 for each of the 18 coordinates.
    """
    agent, state = lazy_table
    count = 4000
    reads = np.asarray(_reads(agent, state, keys(8, count), STATES), np.float64)
    mean, variance, behind = law_of_rows(state)
    assert (behind[4:] == UPDATES - 256).all()
    assert behind[2:4].max() > 4, "a row with a gradient must be behind too"
    assert (np.asarray(state.learner.params[0].rows.root)[0, 2:4].max(axis=1) > 0).all()
    seen = 0
    for row in np.flatnonzero(behind):
        for action in range(ACTIONS):
            z = (reads[row, :, action] - mean[row, action]) / np.sqrt(variance[row, action])
            assert stats.kstest(z, "norm").pvalue > 1e-4
            assert abs(z.mean()) < 5 / np.sqrt(count)
            assert abs(z.var() - 1) < 5 * np.sqrt(2 / count)
            seen += 1
    assert seen >= 3 * 3
    for row in np.flatnonzero(behind == 0):
        np.testing.assert_allclose(reads[row], np.broadcast_to(mean[row], reads[row].shape), rtol=1e-5)


def test_reads_are_independent(lazy_table):
    """Two reads with different keys, two coordinates and two rows of one read: |r| < 5/√4000, level 6e-7 each."""
    agent, state = lazy_table
    reads = np.asarray(_reads(agent, state, keys(8, 8000), STATES), np.float64)
    first, second = reads[:, ::2], reads[:, 1::2]
    limit = 5 / np.sqrt(first.shape[1])
    for row in (4, 5):
        for action in range(ACTIONS):
            assert abs(np.corrcoef(first[row, :, action], second[row, :, action])[0, 1]) < limit
            assert abs(np.corrcoef(first[row, :, action], first[row, :, action - 1])[0, 1]) < limit
    again = np.asarray(_reads(agent, state, keys(8, 8000), STATES), np.float64)
    np.testing.assert_array_equal(reads, again)


def test_without_a_key_a_read_is_the_mean(lazy_table):
    agent, state = lazy_table
    mean = law_of_rows(state)[0]
    found = [np.asarray(agent.values(state, jnp.int32(row))) for row in range(STATES)]
    np.testing.assert_allclose(found, mean, rtol=2e-5, atol=1e-6)


@pytest.fixture(scope="module")
def chains():
    """Every value after 300 updates, of 400 chains each: dense, and lazy."""
    found = {}
    for mode in ("dense", "lazy"):
        agent = table_agent(mode)
        state = rarely_read(agent)

        @quick_jit
        def values(agent, chain_keys, state=state):
            def one(k):
                learned = agent.learner.learn(k, state.learner, state.replay, UPDATES)
                rows, (bias, _) = agent.learner.dense_params(jax.random.fold_in(k, UPDATES), learned)
                return rows[0] + bias[0]

            return jax.vmap(one)(chain_keys)

        found[mode] = np.asarray(values(agent, keys({"dense": 5, "lazy": 6}[mode], CHAINS)), np.float64)
    return found


@SLOW
def test_both_learners_have_one_law(chains):
    """Kolmogorov-Smirnov with two samples, in every coordinate of every row; level 1e-4 for each of 18."""
    for row in range(STATES):
        for action in range(ACTIONS):
            pair = (chains[mode][:, row, action] for mode in ("dense", "lazy"))
            assert stats.ks_2samp(*pair).pvalue > 1e-4, (row, action)


@SLOW
def test_a_read_of_a_shared_table_is_the_members_own():
    """With and without one table for all, each member reads what its network gives; rows differ by member."""
    agent, state = prepared("ensemble_langevin_dqn", "lazy", members=3, shared_minibatch=True)
    state = learn(agent, key(3), state, jnp.int32(300))
    assert state.learner.params[0].rows.value.shape[0] == 1
    never = jnp.int32(DEPTH - 1)  # the corner that no path reaches
    attended = quick_jit(type(agent).attend)(agent, key(5), state, never)
    rows, rest = agent.learner.dense_params(key(6), attended.learner)
    for member in range(3):
        own = agent.network.head(jax.tree.map(lambda x, m=member: x[m], rest), rows[member, DEPTH - 1])
        prior = agent.member_values(attended, member, never) - agent.learner.read(
            attended.learner, jnp.int32(member), never, None
        )
        np.testing.assert_allclose(agent.member_values(attended, member, never, key(7)), own + prior, rtol=1e-5)
    assert len({float(x) for x in rows[:, DEPTH - 1, 0]}) == 3


def test_attending_makes_acting_and_learning_see_one_value(lazy_table):
    agent, state = lazy_table
    attend = quick_jit(type(agent).attend)
    never = jnp.int32(4)
    before = [agent.member_values(state, 0, never, key(k)) for k in (6, 7)]
    assert not np.array_equal(*before)
    prepared_state = attend(agent, key(5), state, never)
    once, twice = (agent.member_values(prepared_state, 0, never, key(k)) for k in (6, 7))
    np.testing.assert_array_equal(once, twice)
    np.testing.assert_array_equal(once, agent.values(prepared_state, never))
    other = jnp.int32(5)  # only the row that was attended to is brought up to date
    assert not np.array_equal(*(agent.member_values(prepared_state, 0, other, key(k)) for k in (6, 7)))
