"""What is drawn has bsuite's law: its own draws beside ours, with fixed keys.

Numbers are compared by the two-sample Kolmogorov-Smirnov test, symbols by chi-square, each at
level 1e-4; frequencies and correlations lie within 4.5 standard deviations (7e-6).
"""

import math

import jax
import numpy as np
import pytest
from bsuite_side import load, play, resets
from scipy import stats

from langevin_dqn import make_env, prng

LEVEL, SIGMAS = 1e-4, 4.5
THEIRS, OURS = 3_000, 20_000
KEY = jax.random.key(7, impl=prng.PRNG)


def both_sides(env_id):
    """Flat first pictures: (bsuite's, ours)."""
    env, raw = load(env_id)
    raw._rng = np.random.RandomState(11)
    theirs = np.stack([env.reset().observation.copy().ravel() for _ in range(THEIRS)])
    _, ours = resets(make_env(env_id), KEY, OURS)
    return theirs, np.asarray(ours).reshape(OURS, -1)


def same_numbers(a, b):
    assert stats.ks_2samp(a, b).pvalue > LEVEL


def same_symbols(a, b):
    symbols = np.union1d(a, b)
    counts = np.array([[np.count_nonzero(x == s) for s in symbols] for x in (a, b)])
    assert stats.chi2_contingency(counts).pvalue > LEVEL


def uncorrelated(columns):
    """Columns of independent draws: every correlation of two is small."""
    correlations = np.corrcoef(columns, rowvar=False)[np.triu_indices(columns.shape[1], 1)]
    assert np.abs(correlations).max() < SIGMAS / math.sqrt(len(columns))


@pytest.mark.parametrize("env_id", ["cartpole/0", "cartpole_swingup/3"])
def test_where_poles_start(env_id):
    """x, its speed, the angle (by its sine) and its speed are independent uniforms."""
    theirs, ours = both_sides(env_id)
    for column in (0, 1, 2, 4):
        same_numbers(theirs[:, column], ours[:, column])
    np.testing.assert_allclose(theirs[:, 3].mean(), ours[:, 3].mean(), atol=1e-4)
    uncorrelated(ours[:, [0, 1, 2, 4]])


def test_where_cars_start():
    theirs, ours = both_sides("mountain_car/0")
    same_numbers(theirs[:, 0], ours[:, 0])
    assert not ours[:, 1:].any()


def test_where_balls_start():
    theirs, ours = both_sides("catch/0")
    same_symbols(theirs[:, :5].argmax(axis=1), ours[:, :5].argmax(axis=1))


@pytest.mark.parametrize("env_id", ["memory_len/0", "memory_size/7", "memory_size/16"])
def test_what_is_to_be_remembered(env_id):
    """Bits are fair and independent; the query, seen in the state, is uniform over them."""
    theirs, ours = both_sides(env_id)
    for column in range(2, ours.shape[1]):
        same_symbols(theirs[:, column], ours[:, column])
    env, raw = load(env_id)  # its seed is 0 where none is given
    queries = []
    for _ in range(THEIRS):
        env.reset()
        queries.append(raw._query)
    state, _ = resets(make_env(env_id), KEY, OURS)
    query = np.asarray(state.query)
    same_symbols(np.array(queries), query)
    if ours.shape[1] > 3:
        uncorrelated(np.column_stack([ours[:, 2:], query]))


@pytest.mark.parametrize("env_id", ["umbrella_length/9", "umbrella_distract/9"])
def test_rain_umbrella_and_distractors_at_the_start(env_id):
    theirs, ours = both_sides(env_id)
    for column in (0, 1, *range(3, ours.shape[1])):
        same_symbols(theirs[:, column], ours[:, column])
    uncorrelated(np.delete(ours, 2, axis=1))


def test_chance_in_the_umbrella_chain():
    """Rewards on the way and distractors are fair, new at every step, and tell nothing of each other."""
    env = make_env("umbrella_length/9")  # ten steps, twenty distractors
    played = play(env, 3, np.random.default_rng(3).integers(0, 2, (5_000, env.max_steps)))
    distractors = played.pictures[:, 1:, 0, 3:]
    chance = played.rewards[:, :-1]
    assert set(np.unique(chance)) == {-1, 1}
    assert set(np.unique(distractors)) == {0, 1}
    for mean, count in ((chance.mean(), chance.size), (2 * distractors.mean() - 1, distractors.size)):
        assert abs(mean) < SIGMAS / math.sqrt(count)
    by_step = np.concatenate([distractors[:, :-1], chance[..., None]], axis=2)
    uncorrelated(by_step.reshape(len(by_step), -1)[:, ::3])
    uncorrelated(by_step[:, 0])


@pytest.mark.usefixtures("digits")
def test_which_digit_is_shown():
    """Uniform over the images, by chi-square; bsuite's are drawn by randint over the same range."""
    env = make_env("mnist/0")
    _, ours = resets(env, KEY, OURS)
    count = len(env.images)
    images, counts = np.unique(np.asarray(ours).reshape(OURS, -1), axis=0, return_counts=True)
    assert len(images) == count
    assert stats.chisquare(counts).pvalue > LEVEL


def test_noise_differs_between_episodes_and_keys():
    env = make_env("bandit_noise/0")
    one, other = (play(env, seed, np.zeros((100, 1))).rewards for seed in (0, 1))
    assert len(np.unique(np.concatenate([one, other]))) == 200
    np.testing.assert_array_equal(one, play(env, 0, np.zeros((100, 1))).rewards)
