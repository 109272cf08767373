"""bsuite's protocol: which settings, for how many episodes, logged when.

``quick`` is a small part of it with an easy-to-hard spread in every experiment, meant to
take DQN (one update per step) at most half an hour on two cores. ``all`` is all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from langevin_dqn.environments.bsuite.sweeps import SWEEPS, logged_episodes, split_id
from langevin_dqn.errors import UserError, unknown
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

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

#: For the figures at scale ``quick``: what has short episodes, so that four agents take minutes.
SMALL: dict[str, tuple[tuple[int, ...], int]] = {
    "bandit": ((7,), 2_000),
    "bandit_noise": ((_HARD,), 2_000),
    "bandit_scale": ((_EASY, _HARD), 2_000),
    "catch": ((0,), 1_000),
    "catch_noise": ((_HARD,), 1_000),
    "catch_scale": ((_HARD,), 1_000),
    "deep_sea": ((0, 5), 1_000),
    "deep_sea_stochastic": ((0,), 1_000),
    "discounting_chain": ((0,), 200),
    "memory_len": ((4,), 1_000),
    "memory_size": ((4,), 1_000),
    "umbrella_length": ((4,), 1_000),
    "umbrella_distract": ((0,), 1_000),
}

#: At scale ``standard``: the cars and carts too, and all of bsuite's episodes where a thousand end before Langevin DQN
#: has learned what it then does as well as DQN.
MEDIUM: dict[str, tuple[tuple[int, ...], int]] = SMALL | {
    "umbrella_distract": ((0,), 10_000),
    "mountain_car": ((0,), 200),
    "mountain_car_noise": ((_EASY, _HARD), 200),
    "mountain_car_scale": ((_EASY, _HARD), 200),
    "cartpole": ((0,), 250),
    "cartpole_noise": ((_EASY, _HARD), 250),
    "cartpole_scale": ((_EASY, _HARD), 250),
    "cartpole_swingup": ((10,), 200),
}

_PARTS = {"quick": QUICK, "small": SMALL, "medium": MEDIUM}

#: Settings that only differ in their seed must not run with the same one: a run's seed is
#: this times the seed of the pass over bsuite, plus the setting's number.
SEED_STRIDE = 100


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
    """``small``, ``medium``, ``quick``, ``all``, or ids and experiments by name: ``deep_sea/3,catch``.

    Args:
        settings: the words of ``--settings``.
        scale: factor of the number of episodes, which is then rounded to one that bsuite logs.
    """
    if not scale > 0 or not np.isfinite(scale):
        raise UserError(f"the episodes scale must be above 0, not {scale:g}", "for example, 0.1")
    episodes = {name: sweep.episodes for name, sweep in SWEEPS.items()}
    if settings in _PARTS:
        part = _PARTS[settings]
        ids = [f"{name}/{number}" for name, (numbers, _) in part.items() for number in numbers]
        episodes = {name: count for name, (_, count) in part.items()}
    else:
        ids = []
        for word in SWEEPS if settings == "all" else settings.split(","):
            ids += [f"{word}/{i}" for i in range(len(SWEEPS[word].settings))] if word in SWEEPS else [word]
    for bsuite_id in ids:
        if "/" not in bsuite_id:  # an experiment's name has become its ids
            raise unknown("value of --settings", bsuite_id, ("quick", "all", *SWEEPS))
        split_id(bsuite_id)
    scaled = {name: _nearest_logged(count * scale) for name, count in episodes.items()}
    return Protocol(settings if settings in (*_PARTS, "all") else "", tuple(dict.fromkeys(ids)), scaled)


def _nearest_logged(episodes: float) -> int:
    choices = logged_episodes(int(2 * episodes) + 2)
    return int(choices[np.argmin(np.abs(choices - episodes))])


def jobs_of(
    agent: str, protocol: Protocol, *, seeds: Sequence[int], preset: str, changes: Mapping[str, Any]
) -> list[Job]:
    """One run per seed and id; ``pass_of`` gives the seed that a job belongs to."""
    jobs = []
    for seed in seeds:
        for bsuite_id in protocol.ids:
            name, number = split_id(bsuite_id)
            run_seed, episodes = SEED_STRIDE * seed + number, protocol.episodes[name]
            jobs.append(Job(agent, bsuite_id, run_seed, episodes, preset, changes=dict(changes)))
    return jobs


def pass_of(run: Job | Result) -> int:
    """The seed of the pass over bsuite that a run belongs to."""
    return run.seed // SEED_STRIDE
