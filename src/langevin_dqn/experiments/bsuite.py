"""bsuite's protocol: which settings, for how many episodes, logged when.

``quick`` is a small part of it with an easy-to-hard spread in every experiment, meant to
take DQN (one update per step) at most half an hour on two cores. ``all`` is all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from langevin_dqn.environments.sweeps import SWEEPS
from langevin_dqn.errors import UserError, nearest
from langevin_dqn.runners import Job

_EASY, _MIDDLE, _HARD = 0, 8, 16  # the first setting of the smallest, middle and largest of five scales
_SCALES = (_EASY, _MIDDLE, _HARD)
_LENGTHS = (0, 4, 13)  # 1, 5 and 20

#: ``quick``: per experiment the numbers of its settings, and the episodes each runs.
QUICK: dict[str, tuple[tuple[int, ...], int]] = {
    "bandit": ((0, 7, 14), 10_000),
    "bandit_noise": (_SCALES, 10_000),
    "bandit_scale": (_SCALES, 10_000),
    "mnist": ((0,), 10_000),
    "mnist_noise": (_SCALES, 10_000),
    "mnist_scale": (_SCALES, 10_000),
    "catch": ((0, 1), 5_000),
    "catch_noise": (_SCALES, 5_000),
    "catch_scale": (_SCALES, 5_000),
    "mountain_car": ((0, 1), 200),
    "mountain_car_noise": (_SCALES, 200),
    "mountain_car_scale": (_SCALES, 200),
    "cartpole": ((0, 1), 250),
    "cartpole_noise": (_SCALES, 250),
    "cartpole_scale": (_SCALES, 250),
    "cartpole_swingup": ((0, 10), 200),
    "deep_sea": ((0, 5, 10), 2_000),  # depths 10, 20 and 30
    "deep_sea_stochastic": ((0, 5, 10), 2_000),
    "discounting_chain": ((0, 2, 4), 1_000),  # best horizons 1, 10 and 100
    "memory_len": (_LENGTHS, 5_000),
    "memory_size": (_LENGTHS, 5_000),
    "umbrella_length": (_LENGTHS, 5_000),
    "umbrella_distract": (_LENGTHS, 2_000),
}

#: Settings that only differ in their seed must not run with the same one: a run's seed is
#: this times the seed of the pass over bsuite, plus the setting's number.
SEED_STRIDE = 100

_LOGGED = (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)  # times a power of ten


def logged_episodes(episodes: int) -> np.ndarray:
    """The episodes up to ``episodes`` at which bsuite logs.

    Example:
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


@dataclass(frozen=True)
class Protocol:
    """Which ids to run and, by experiment, for how many episodes."""

    name: str
    ids: tuple[str, ...]
    episodes: Mapping[str, int]

    @property
    def experiments(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(split_id(bsuite_id)[0] for bsuite_id in self.ids))

    def without(self, experiments: Iterable[str]) -> "Protocol":
        """The same, less some experiments."""
        left = set(experiments)
        return Protocol(self.name, tuple(i for i in self.ids if split_id(i)[0] not in left), self.episodes)


def protocol(settings: str, scale: float = 1.0) -> Protocol:
    """``quick``, ``all``, or ids and experiments by name: ``deep_sea/3,catch``.

    Args:
        settings: the words of ``--settings``.
        scale: factor of the number of episodes, which is then rounded to one that bsuite logs.
    """
    if not scale > 0 or not np.isfinite(scale):
        raise UserError(f"an episodes scale of {scale:g} leaves nothing to run", "use a number above 0, such as 0.1")
    episodes = {name: sweep.episodes for name, sweep in SWEEPS.items()}
    if settings == "quick":
        ids = [f"{name}/{number}" for name, (numbers, _) in QUICK.items() for number in numbers]
        episodes = {name: count for name, (_, count) in QUICK.items()}
    else:
        ids = []
        for word in SWEEPS if settings == "all" else settings.split(","):
            ids += [f"{word}/{i}" for i in range(len(SWEEPS[word].settings))] if word in SWEEPS else [word]
    for bsuite_id in ids:
        split_id(bsuite_id)
    scaled = {name: _nearest_logged(count * scale) for name, count in episodes.items()}
    return Protocol(settings if settings in ("quick", "all") else "", tuple(dict.fromkeys(ids)), scaled)


def _nearest_logged(episodes: float) -> int:
    choices = logged_episodes(int(2 * episodes) + 2)
    return int(choices[np.argmin(np.abs(choices - episodes))])


def jobs_of(
    agent: str, protocol: Protocol, *, seeds: Sequence[int], preset: str = "paper", changes: Mapping[str, Any]
) -> list[Job]:
    """One run per seed and id; :func:`pass_of` tells which seed a job belongs to."""
    jobs = []
    for seed in seeds:
        for bsuite_id in protocol.ids:
            name, number = split_id(bsuite_id)
            run_seed, episodes = SEED_STRIDE * seed + number, protocol.episodes[name]
            jobs.append(Job(agent, bsuite_id, run_seed, episodes, preset, changes=dict(changes)))
    return jobs


def pass_of(job: Job) -> int:
    """The seed of the pass over bsuite that a job belongs to."""
    return job.seed // SEED_STRIDE
