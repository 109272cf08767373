"""Who gets which key: the layout that stored runs depend on."""

import jax
import numpy as np

from langevin_dqn import keys, prng


def data(key):
    return np.asarray(jax.random.key_data(key)).tolist()


def test_the_layout_of_a_run():
    """Number 0 for the agent's state, number n for episode n: learn, begin, reset, and its steps."""
    run = jax.random.key(7, impl=prng.PRNG)
    assert data(keys.run_key(7)) == data(run)
    assert data(keys.init_key(run)) == data(jax.random.fold_in(run, 0))
    episode = keys.episode_keys(run, 3)
    assert [data(k) for k in episode] == [data(k) for k in jax.random.split(jax.random.fold_in(run, 3), 4)]
    assert episode._fields == ("learn", "begin", "reset", "steps")


def test_the_layout_of_a_step():
    """Attend, act, environment, observe, learn."""
    steps = keys.episode_keys(keys.run_key(7), 3).steps
    step = keys.step_keys(steps, 5)
    assert [data(k) for k in step] == [data(k) for k in jax.random.split(jax.random.fold_in(steps, 5), 5)]
    assert step._fields == ("attend", "act", "environment", "observe", "learn")


def test_all_keys_of_a_run_differ():
    run = keys.run_key(0)
    seen = [keys.init_key(run)]
    for number in range(1, 6):
        episode = keys.episode_keys(run, number)
        seen += [*episode, *(k for step in range(6) for k in keys.step_keys(episode.steps, step))]
    assert len({tuple(data(k)) for k in seen}) == len(seen)


def test_keys_can_be_mapped_over_seeds():
    several = jax.vmap(keys.run_key)(np.arange(3))
    assert data(several) == [data(keys.run_key(seed)) for seed in range(3)]
