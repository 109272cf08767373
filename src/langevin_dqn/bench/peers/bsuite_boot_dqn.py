"""The bootstrapped DQN with priors that ships with bsuite, on bsuite's deep sea.

One update is one call of the agent's own `update`, which is what a bsuite user pays
per environment step: add a transition to the NumPy replay, sample one batch for the
whole ensemble, and dispatch one jitted gradient step per member.  Choosing actions
and stepping the environment are left out; transitions are recorded beforehand.

bsuite 0.3.5 runs unmodified with JAX 0.10.2, dm-haiku 0.0.17 and rlax 0.1.9.  The
agent samples its replay from NumPy's global random state, so `seed` fixes the
replay's contents and the networks but not the batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from langevin_dqn.bench.peers.settings import (
    BATCH_SIZE,
    DISCOUNT,
    HIDDEN,
    LEARNING_RATE,
    MEMBERS,
    PRIOR_SCALE,
    TARGET_PERIOD,
)

if TYPE_CHECKING:
    import dm_env
    import jax

# How many of the recorded transitions are kept to feed later updates.
KEPT = 1_000


def _random_steps(env: dm_env.Environment, seed: int) -> Iterator[tuple[dm_env.TimeStep, int, dm_env.TimeStep]]:
    """Yield the transitions of uniformly random episodes, without end."""
    rng = np.random.default_rng(seed)
    while True:
        before = env.reset()
        while not before.last():
            action = int(rng.integers(env.action_spec().num_values))
            after = env.step(action)
            yield before, action, after
            before = after


def _network(hidden: int, actions: int) -> Callable[[jax.Array], jax.Array]:
    """Return the haiku function of a trained network plus a frozen prior."""
    import haiku as hk
    import jax

    def q_values(observation: jax.Array) -> jax.Array:
        flat = observation.reshape(observation.shape[0], -1)
        trained, prior = (hk.nets.MLP([hidden, hidden, actions], name=name)(flat) for name in ("trained", "prior"))
        return trained + PRIOR_SCALE * jax.lax.stop_gradient(prior)

    return q_values


def make_agent(env: Any, *, min_replay_size: int = 128, replay_capacity: int = 10_000, seed: int = 0) -> Any:
    """Make bsuite's agent with the settings that all contestants share."""
    import optax
    from bsuite.baselines.jax.boot_dqn.agent import BootstrappedDqn

    return BootstrappedDqn(
        obs_spec=env.observation_spec(),
        action_spec=env.action_spec(),
        network=_network(HIDDEN, env.action_spec().num_values),
        num_ensemble=MEMBERS,
        batch_size=BATCH_SIZE,
        discount=DISCOUNT,
        replay_capacity=replay_capacity,
        min_replay_size=min_replay_size,
        sgd_period=1,
        target_update_period=TARGET_PERIOD,
        optimizer=optax.adam(LEARNING_RATE),
        mask_prob=1.0,
        noise_scale=0.0,
        seed=seed,
    )


def build(depth: int, *, replay_capacity: int = 10_000, seed: int = 0) -> Callable[[int], None]:
    """Fill the agent's replay and return a function that makes `n` updates."""
    import jax
    from bsuite.environments.deep_sea import DeepSea

    env: Any = DeepSea(size=depth, mapping_seed=seed)
    # No learning before the replay is full.
    agent = make_agent(env, min_replay_size=replay_capacity, replay_capacity=replay_capacity, seed=seed)
    recorded: deque[tuple[Any, int, Any]] = deque(maxlen=KEPT)
    for step in islice(_random_steps(env, seed), replay_capacity - 1):
        agent.update(*step)
        recorded.append(step)
    steps = cycle(recorded)

    def run(n: int) -> None:
        for step in islice(steps, n):
            agent.update(*step)
        jax.block_until_ready(agent._ensemble)

    run(2 * TARGET_PERIOD)
    return run
