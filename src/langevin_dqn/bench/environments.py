"""Environment steps per second: ours under ``jit`` beside bsuite's Python environments, in one run.

A step is a transition: ends and the resets after them are paid for in the same time. Our
random actions are drawn within it, bsuite's beforehand. Observations are what an agent gets,
an index where there is one; each is carried out of its step, so that no compiler leaves it out.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import prng
from langevin_dqn.bench.timing import Contestant, Run, race
from langevin_dqn.environments import Environment
from langevin_dqn.environments.bsuite.mnist import Mnist
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.environments.bsuite.wrappers import RewardNoise, RewardScale
from langevin_dqn.environments.registry import make_jax_env

BATCH = 1024
STRIDE = 64  # steps between two looks of the host
HEADER = ["id", f"ours, {BATCH:,} episodes", "ours, one episode", "bsuite", "ratio", "ratio, one episode"]
_DIGITS = 60_000


def measure(*, repeats: int, seconds: float, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row per experiment, at the setting in the middle of its sweep."""
    rows = []
    for name, sweep in SWEEPS.items():
        number = len(sweep.settings) // 2
        env_id, settings = f"{name}/{number}", sweep.settings[number]
        env = _digits(settings) if name.startswith("mnist") else make_jax_env(env_id)
        many = Contestant(f"{env_id}, {BATCH} episodes", 0, BATCH * STRIDE, partial(build, env, BATCH))
        one = Contestant(f"{env_id}, one episode", 0, STRIDE, partial(build, env, 1))
        theirs = Contestant(f"{env_id}, bsuite", 0, 1, partial(build_bsuite, name, settings))
        race([many, one, theirs], repeats=repeats, seconds=seconds, say=say)
        rows.append(
            {
                "id": env_id,
                "steps_per_second": {"many": 1e6 / many.median, "one": 1e6 / one.median, "bsuite": 1e6 / theirs.median},
                "quartiles_many": sorted(1e6 / q for q in np.quantile(many.times, (0.25, 0.75))),
                "ratio": theirs.median / many.median,
                "ratio_one": theirs.median / one.median,
            }
        )
    return rows


def build(env: Environment, episodes: int) -> Run:
    """``run(n)`` makes n·STRIDE steps of each of ``episodes`` episodes side by side."""
    key = jax.random.key(0, impl=prng.PRNG)
    carry = _start(env, key, episodes)

    def run(n: int) -> None:
        nonlocal carry, key
        key = jax.random.fold_in(key, n)
        carry = jax.block_until_ready(_advance(env, key, carry, jnp.int32(n * STRIDE)))

    for _ in range(2):  # the carry that comes out may be typed otherwise than the first, and compiles again
        run(1)
    return run


@partial(jax.jit, static_argnums=2)
def _start(env: Environment, key: jax.Array, episodes: int):
    state, obs = jax.vmap(env.reset)(jax.random.split(key, episodes))
    return state, obs, jnp.zeros(episodes)


@partial(jax.jit, donate_argnums=2)
def _advance(env: Environment, key: jax.Array, carry, n: jax.Array):
    episodes = carry[2].shape[0]

    def step(number, carry):
        state, _, total = carry
        action_key, step_key, reset_key = jax.random.split(jax.random.fold_in(key, number), 3)
        actions = prng.integers(action_key, (episodes,), jnp.int32(env.num_actions))
        state, obs, reward, terminated, truncated = jax.vmap(env.step)(
            jax.random.split(step_key, episodes), state, actions
        )
        fresh = jax.vmap(env.reset)(jax.random.split(reset_key, episodes))
        ended = terminated | truncated

        def choose(new, old):
            return jnp.where(ended.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        state, obs = jax.tree.map(choose, fresh, (state, obs))
        return state, obs, total + reward

    return lax.fori_loop(0, n, step, carry)


def build_bsuite(name: str, settings: dict[str, Any]) -> Run:
    """``run(n)`` makes n steps of bsuite's environment."""
    from bsuite import bsuite
    from bsuite.utils import datasets

    real, datasets.load_mnist = datasets.load_mnist, lambda: (_made_up(), _made_up())
    try:
        env = bsuite.load(name, settings)
    finally:
        datasets.load_mnist = real
    num_actions = 3 if name.startswith(("cartpole", "catch")) else env.action_spec().num_values
    actions = np.random.RandomState(0).randint(num_actions, size=4096).tolist()
    env.reset()

    def run(n: int) -> None:
        for number in range(n):
            if env.step(actions[number % 4096]).last():
                env.reset()

    return run


@lru_cache(maxsize=1)
def _made_up() -> tuple[np.ndarray, np.ndarray]:
    """As many digits as MNIST has; what they show does not matter for speed."""
    random = np.random.default_rng(0)
    return random.integers(-128, 128, (_DIGITS, 28, 28), dtype=np.int8), random.integers(0, 10, _DIGITS, np.uint8)


def _digits(settings: dict[str, Any]) -> Environment:
    images, labels = _made_up()
    env = Mnist(jnp.asarray(images).reshape(_DIGITS, -1), jnp.asarray(labels, jnp.int32), images.shape[1:])
    if "noise_scale" in settings:
        return RewardNoise(env, settings["noise_scale"])
    return RewardScale(env, settings["reward_scale"]) if "reward_scale" in settings else env


def markdown(rows: list[dict[str, Any]]) -> str:
    """The rows as a Markdown table."""
    lines = [HEADER, ["---"] * len(HEADER), *map(cells, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cells(row: dict[str, Any]) -> list[str]:
    """A row as text: millions of steps per second, and ratios to bsuite."""
    speed = row["steps_per_second"]
    return [
        row["id"],
        f"{speed['many'] / 1e6:.1f} M/s",
        f"{speed['one'] / 1e6:.2f} M/s",
        f"{speed['bsuite'] / 1e6:.3f} M/s",
        f"{row['ratio']:.0f}×",
        f"{row['ratio_one']:.1f}×",
    ]
