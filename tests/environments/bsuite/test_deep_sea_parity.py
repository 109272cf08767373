"""Deep sea against bsuite's own: step by step where deterministic, in law where stochastic."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite.environments.deep_sea import DeepSea as BsuiteDeepSea
from bsuite.experiments.deep_sea import sweep
from bsuite.experiments.deep_sea_stochastic import sweep as stochastic_sweep
from scipy import stats

from langevin_dqn import UserError, make_env

QUICK_DEPTHS = (2, 7, 50)
DEPTHS = [depth if depth in QUICK_DEPTHS else pytest.param(depth, marks=pytest.mark.slow) for depth in range(2, 51)]
MAPPING_SEEDS = [int(s) for s in np.random.default_rng(2021).integers(0, 2**31, 20)]
EPISODES = 6


def key_words(seed, *shape):
    """The words of independent keys, without a program to compile for each shape."""
    return np.random.default_rng(seed).integers(0, 2**32, (*shape, 2), dtype=np.uint32)


def play(env, seed, actions, pictures=False):
    """Episodes of given actions, (episodes, steps): obs, rewards, terminated, truncated."""
    actions = np.asarray(actions, np.int32)
    words = key_words(seed, actions.shape[0], actions.shape[1] + 1)
    return [np.asarray(x) for x in _play(env, words, actions, pictures)]


@partial(jax.jit, static_argnums=3, compiler_options={"xla_backend_optimization_level": 0})
def _play(env, words, actions, pictures):
    def episode(words, actions):
        keys = jax.random.wrap_key_data(words)
        state, first = env.reset(keys[0])

        def step(state, inputs):
            k, action = inputs
            state, *outputs = env.step(k, state, action)
            return state, outputs

        _, (obs, reward, terminated, truncated) = jax.lax.scan(step, state, (keys[1:], actions))
        obs = jnp.concatenate([first[None], obs])
        return jax.vmap(env.dense)(obs) if pictures else obs, reward, terminated, truncated

    return jax.vmap(episode)(words, actions)


def make(depth, mapping_seed=42, stochastic=False):
    return make_env(f"deep_sea:depth={depth},mapping_seed={mapping_seed},stochastic={str(stochastic).lower()}")


def mapping(depth, mapping_seed=42):
    """bsuite's table of the actions that go right."""
    return BsuiteDeepSea(depth, mapping_seed=mapping_seed)._action_mapping


def path_actions(table, rights):
    """Actions that go right where ``rights`` says so, on a deterministic sea."""
    column, actions = 0, []
    for row, right in enumerate(rights):
        go_right = table[row, column]
        actions.append(go_right if right else 1 - go_right)
        column = min(column + 1, len(table) - 1) if right else max(column - 1, 0)
    return actions


def random_and_extreme_actions(depth, mapping_seed):
    """Random episodes, then the way to the treasure, then the way straight down."""
    table = mapping(depth, mapping_seed)
    random = np.random.default_rng(depth).integers(0, 2, (EPISODES - 2, depth))
    return np.array([*random, path_actions(table, [True] * depth), path_actions(table, [False] * depth)])


@pytest.mark.parametrize("depth", DEPTHS)
def test_every_step_is_bsuites(depth):
    mapping_seed = MAPPING_SEEDS[depth % len(MAPPING_SEEDS)]
    actions = random_and_extreme_actions(depth, mapping_seed)
    env, reference = make(depth, mapping_seed), BsuiteDeepSea(depth, mapping_seed=mapping_seed)
    pictures, rewards, terminated, truncated = play(env, depth, actions, True)
    assert pictures.dtype == rewards.dtype == np.float32
    assert not truncated.any()
    for episode in range(EPISODES):
        np.testing.assert_array_equal(pictures[episode, 0], reference.reset().observation)
        for step in range(depth):
            timestep = reference.step(int(actions[episode, step]))
            np.testing.assert_array_equal(pictures[episode, step + 1], timestep.observation)
            assert rewards[episode, step] == np.float32(timestep.reward), (episode, step)
            assert terminated[episode, step] == timestep.last(), (episode, step)
    assert rewards[-2].sum() == pytest.approx(0.99, abs=1e-5), "the way to the treasure"
    assert not rewards[-1].any(), "the way down"


@pytest.mark.parametrize(("depth", "mapping_seed"), [(2, 42), (5, 0), (20, 7), (50, 42)])
def test_action_mapping_of_every_reachable_cell(depth, mapping_seed):
    """Go to each cell, apply action 1: the cost tells whether it went right."""
    table = mapping(depth, mapping_seed)
    cells = [(row, column) for row in range(depth) for column in range(row + 1)]
    actions = []
    for row, column in cells:
        way = path_actions(table, [False] * (row - column) + [True] * column)
        actions.append([*way, 1, *[0] * (depth - row - 1)])
    obs, rewards, _, _ = play(make(depth, mapping_seed), 0, np.array(actions))
    rows, columns = np.array(cells).T
    here = np.arange(len(cells))
    np.testing.assert_array_equal(obs[here, rows], rows * depth + columns)
    np.testing.assert_array_equal(rewards[here, rows] != 0, table[rows, columns] == 1)


def test_index_and_picture_agree():
    """Index n·row + column shows as its one-hot picture; the index after the end, N², as a blank."""
    env = make(7)
    pictures = np.asarray(jax.vmap(env.dense)(jnp.arange(50)))
    np.testing.assert_array_equal(pictures[:49].reshape(49, 49), np.eye(49, dtype=np.float32))
    assert not pictures[49].any()


def test_mapping_seeds_differ():
    plays = [play(make(10, s), 0, np.ones((1, 10)))[1] for s in MAPPING_SEEDS]
    assert len({p.tobytes() for p in plays}) > len(MAPPING_SEEDS) // 2


def test_interface():
    env = make(12)
    assert (env.observation_space.n, env.num_actions, env.max_steps) == (144, 2, 12)
    assert env.max_return == pytest.approx(0.99)
    _, obs = env.reset(jax.random.key(0))
    assert obs.dtype == jnp.int32


@pytest.mark.parametrize(("name", "settings"), [("deep_sea", sweep), ("deep_sea_stochastic", stochastic_sweep)])
def test_bsuite_ids(name, settings):
    """Every id has bsuite's size and mapping."""
    assert len(settings.SETTINGS) == 21
    for number, setting in enumerate(settings.SETTINGS):
        env = make_env(f"{name}/{number}")
        assert env.max_steps == setting["size"]
        assert env.observation_space.n == setting["size"] ** 2
    with pytest.raises(UserError):
        make_env(f"{name}/21")
    setting = settings.SETTINGS[3]
    mapped = path_actions(mapping(setting["size"], setting["mapping_seed"]), [True] * setting["size"])
    rewards = play(make_env(f"{name}/3"), 0, np.array([mapped]))[1]
    assert (rewards[0, :-1] <= 0).all()
    if name == "deep_sea":
        assert rewards.sum() == pytest.approx(0.99, abs=1e-5)


def test_depth_500():
    depth = 500
    env = make(depth)
    way = np.array([path_actions(mapping(depth), [True] * depth)])
    obs, rewards, terminated, _ = play(env, 0, way)
    np.testing.assert_array_equal(obs[0, :-1], np.arange(depth) * (depth + 1))
    assert rewards.sum() == pytest.approx(0.99, abs=1e-4)
    assert terminated[0].tolist() == [False] * (depth - 1) + [True]


@pytest.mark.parametrize("depth", [1, 501, 0, -3])
def test_depth_out_of_range_is_refused(depth):
    with pytest.raises(UserError, match="depth"):
        make_env(f"deep_sea:depth={depth}")


# The stochastic sea. Its law, from bsuite: the action right fails to move with chance 1/N but
# always costs 0.01/N; in the last row, columns 0 and N-1 add N(0, 1) to the reward.

N, TRIALS = 10, 20_000
COST = 0.01 / N


@pytest.fixture(scope="module")
def windy():
    """20,000 episodes: random actions, with columns, whether each step went right, and rewards."""
    table = mapping(N)
    actions = np.random.default_rng(1).integers(0, 2, (TRIALS, N))
    return _columns(table, actions, seed=1)


@pytest.fixture(scope="module")
def windy_right():
    """20,000 episodes that try to go right at every step."""
    table, env = jnp.asarray(mapping(N)), make(N, stochastic=True)

    def episode(words):
        keys = jax.random.wrap_key_data(words)
        state, obs = env.reset(keys[0])

        def step(carry, k):
            state, obs = carry
            action = table[obs // N, obs % N].astype(jnp.int32)
            state, after, reward, _, _ = env.step(k, state, action)
            return (state, after), (obs % N, reward)

        return jax.lax.scan(step, (state, obs), keys[1:])[1]

    columns, rewards = jax.jit(jax.vmap(episode))(key_words(2, TRIALS, N + 1))
    return np.asarray(columns), np.asarray(rewards)


def _columns(table, actions, seed):
    obs, rewards, terminated, truncated = play(make(N, stochastic=True), seed, actions)
    np.testing.assert_array_equal(obs[:, :-1] // N, np.broadcast_to(np.arange(N), (TRIALS, N)))
    assert terminated[:, -1].all()
    assert not terminated[:, :-1].any()
    assert not truncated.any()
    columns = obs[:, :-1] % N
    went_right = table[np.arange(N), columns] == actions
    return columns, went_right, rewards


def test_stochastic_moves(windy):
    """Left moves are certain; right moves succeed with chance 1 - 1/N (binomial test, level 1e-4)."""
    columns, right, _ = windy
    here, after, right = columns[:, :-1], columns[:, 1:], right[:, :-1]
    np.testing.assert_array_equal(after[~right], np.maximum(here[~right] - 1, 0))
    moved = after[right] - here[right]
    assert set(np.unique(moved)) == {0, 1}, "a failed right move stays in its column"
    assert stats.binomtest(int(moved.sum()), moved.size, 1 - 1 / N).pvalue > 1e-4


def test_stochastic_moves_are_independent(windy_right):
    """Successes of the first nine steps are Binomial(9, 0.9) (chi-square, level 1e-4)."""
    columns, _ = windy_right
    counts = np.bincount(columns[:, -1], minlength=N)
    expected = TRIALS * stats.binom.pmf(np.arange(N), N - 1, 1 - 1 / N)
    few = expected[:5].sum(), counts[:5].sum()
    assert stats.chisquare([few[1], *counts[5:]], [few[0], *expected[5:]]).pvalue > 1e-4


def test_stochastic_rewards_away_from_the_corners(windy):
    """Exactly the cost of right, moved or not, and nothing else."""
    columns, right, rewards = windy
    corner = np.zeros((TRIALS, N), bool)
    corner[:, -1] = np.isin(columns[:, -1], [0, N - 1])
    expected = np.where(right, np.float32(-COST), np.float32(0))
    np.testing.assert_array_equal(rewards[~corner], expected[~corner])
    assert corner.any()


def assert_standard_normal(x):
    assert x.size > 1000
    assert stats.kstest(x, "norm").pvalue > 1e-4
    assert abs(x.mean()) < 5 / np.sqrt(x.size)
    assert abs(x.var() - 1) < 5 * np.sqrt(2 / x.size)


@pytest.mark.parametrize("goes_right", [False, True])
def test_noise_in_the_left_corner(windy, goes_right):
    """N(0, 1) about the noiseless reward: Kolmogorov-Smirnov (1e-4), mean and variance (6e-7 each)."""
    columns, right, rewards = windy
    here = (columns[:, -1] == 0) & (right[:, -1] == goes_right)
    assert_standard_normal(rewards[here, -1].astype(np.float64) + goes_right * COST)


def test_noise_at_the_treasure(windy_right):
    """1 - 0.01/N + N(0, 1), same levels."""
    columns, rewards = windy_right
    assert_standard_normal(rewards[columns[:, -1] == N - 1, -1].astype(np.float64) - (1 - COST))


@pytest.mark.parametrize("depth", [2, 10, 50])
def test_stochastic_best_return_is_bsuites(depth):
    reference = BsuiteDeepSea(depth, deterministic=False, mapping_seed=42)
    assert make(depth, stochastic=True).max_return == pytest.approx(reference._optimal_return, abs=1e-6)


def test_mean_return_of_the_best_policy(windy_right):
    """Within 5 standard errors of max_return. Level 6e-7."""
    returns = windy_right[1].sum(axis=1, dtype=np.float64)
    error = returns.std() / np.sqrt(TRIALS)
    assert abs(returns.mean() - make(N, stochastic=True).max_return) < 5 * error


def test_what_learned_means_only_without_noise():
    """With noisy rewards one lucky draw would do."""
    assert make(10).learned_regret == 0.8
    assert make(10, stochastic=True).learned_regret is None
