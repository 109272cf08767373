"""bsuite's experiments as data: the settings behind each id, in bsuite's order and names, and when it logs.

A ``seed`` of None has no effect; it is here because bsuite's tables have it.
"""

from typing import Any, NamedTuple

import numpy as np

from langevin_dqn.errors import UserError, nearest


class Sweep(NamedTuple):
    """One experiment: ``name/i`` runs ``settings[i]`` for ``episodes`` episodes."""

    settings: tuple[dict[str, Any], ...]
    episodes: int
    tags: tuple[str, ...]


_SEEDS = tuple({"seed": None} for _ in range(20))
_MAPPINGS = tuple({"mapping_seed": n} for n in range(20))
_SEAS = tuple({"size": n, "mapping_seed": 42} for n in range(10, 51, 2))
_NOISE = tuple({"noise_scale": s, "seed": None} for s in (0.1, 0.3, 1.0, 3.0, 10.0) for _ in range(4))
_SCALE = tuple({"reward_scale": s, "seed": None} for s in (0.001, 0.03, 1.0, 30.0, 1000.0) for _ in range(4))
_TO_40 = (*range(1, 11), 12, 14, 17, 20, 25, 30, 40)
_TO_100 = (*_TO_40, 50, 60, 70, 80, 90, 100)


def _mapped(settings: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    """Each scale of the bandit comes with four orders of its arms."""
    return tuple(setting | {"mapping_seed": i % 4} for i, setting in enumerate(settings))


SWEEPS: dict[str, Sweep] = {
    "bandit": Sweep(_MAPPINGS, 10_000, ("basic",)),
    "bandit_noise": Sweep(_mapped(_NOISE), 10_000, ("noise",)),
    "bandit_scale": Sweep(_mapped(_SCALE), 10_000, ("scale",)),
    "cartpole": Sweep(_SEEDS, 1_000, ("basic", "credit_assignment", "generalization")),
    "cartpole_noise": Sweep(_NOISE, 1_000, ("noise", "generalization")),
    "cartpole_scale": Sweep(_SCALE, 1_000, ("scale", "generalization")),
    "cartpole_swingup": Sweep(
        tuple({"height_threshold": n / 20, "x_reward_threshold": 1 - n / 20} for n in range(20)),
        1_000,
        ("exploration", "generalization"),
    ),
    "catch": Sweep(_SEEDS, 10_000, ("basic", "credit_assignment")),
    "catch_noise": Sweep(_NOISE, 10_000, ("noise", "credit_assignment")),
    "catch_scale": Sweep(_SCALE, 10_000, ("scale", "credit_assignment")),
    "deep_sea": Sweep(_SEAS, 10_000, ("exploration",)),
    "deep_sea_stochastic": Sweep(_SEAS, 10_000, ("exploration", "noise")),
    "discounting_chain": Sweep(_MAPPINGS, 1_000, ("credit_assignment",)),
    "memory_len": Sweep(tuple({"memory_length": n} for n in _TO_100), 10_000, ("memory",)),
    "memory_size": Sweep(tuple({"num_bits": n} for n in _TO_40), 10_000, ("memory",)),
    "mnist": Sweep(_SEEDS, 10_000, ("basic", "generalization")),
    "mnist_noise": Sweep(_NOISE, 10_000, ("noise", "generalization")),
    "mnist_scale": Sweep(_SCALE, 10_000, ("scale", "generalization")),
    "mountain_car": Sweep(_SEEDS, 1_000, ("basic", "generalization")),
    "mountain_car_noise": Sweep(_NOISE, 1_000, ("noise", "generalization")),
    "mountain_car_scale": Sweep(_SCALE, 1_000, ("scale", "generalization")),
    "umbrella_distract": Sweep(tuple({"n_distractor": n} for n in _TO_100), 10_000, ("credit_assignment", "noise")),
    "umbrella_length": Sweep(
        tuple({"chain_length": n, "n_distractor": 20} for n in _TO_100), 10_000, ("credit_assignment", "noise")
    ),
}

_LOGGED = (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)  # times a power of ten


def logged_episodes(episodes: int) -> np.ndarray:
    """The episodes up to ``episodes`` at which bsuite logs.

    Examples:
        >>> logged_episodes(30).tolist()
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 25, 30]
    """
    powers = 10 ** np.arange(len(str(max(episodes, 1))))
    values = np.multiply.outer(powers, _LOGGED).ravel()
    whole = np.rint(values).astype(np.int64)
    return whole[np.isclose(values, whole, rtol=0, atol=1e-6) & (whole <= episodes)]


def split_id(bsuite_id: str) -> tuple[str, int]:
    """``deep_sea/3`` as its experiment and the number of its setting."""
    name, _, number = bsuite_id.partition("/")
    problem = f"{bsuite_id!r} is not a bsuite id"
    if name not in SWEEPS:
        raise UserError(problem, nearest(name, SWEEPS))
    last = len(SWEEPS[name].settings) - 1
    if not number.isdecimal() or int(number) > last:
        raise UserError(problem, f"ids run from {name}/0 to {name}/{last}")
    return name, int(number)
