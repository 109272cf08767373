"""Catch observed as the number of its state."""

import jax
import numpy as np

from langevin_dqn import make_env
from langevin_dqn.environments import IndexSpace


def test_catch_as_an_index_shows_the_same_boards():
    """The state's number stands for the board, the last one included."""
    numbers, boards = make_env("catch:rows=4,columns=3,index=true"), make_env("catch:rows=4,columns=3")
    assert numbers.observation_space == IndexSpace(36)
    for seed in range(6):
        (state, number), (same, board) = numbers.reset(jax.random.key(seed)), boards.reset(jax.random.key(seed))
        for action in (0, 2, 2):
            np.testing.assert_array_equal(numbers.dense(number), board)
            state, number, *rest = numbers.step(jax.random.key(0), state, np.int32(action))
            same, board, *others = boards.step(jax.random.key(0), same, np.int32(action))
            assert rest == others
        np.testing.assert_array_equal(numbers.dense(number), board)
        assert number.dtype == np.int32
