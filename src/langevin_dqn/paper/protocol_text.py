"""The protocol of some runs, in a line for captions."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence

from langevin_dqn.config import AgentConfig
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.runs.result import Result

_DEEP_SEA = "deep_sea:depth="
#: Environments that are named one by one.
_NAMED = 3


def protocol_of(results: Sequence[Result], budget: int | None = None) -> str:
    """Environments, update counts, members, seeds and episodes of some runs.

    Args:
        results: the runs.
        budget: episodes that each could have had; by default those of the longest.
    """
    if not results:
        return "no runs"
    environments = sorted({_without_mapping(result.env) for result in results})
    parts = [_environments(environments)]
    for name, one, several in (
        ("updates_per_step", "update per step", "updates per step"),
        ("members", "member", "members"),
    ):
        values = sorted({result.setting(name, 1) for result in results})
        parts.append(f"{_list(values)} {one if values == [1] else several}")
    if not _are_of_bsuite(environments):  # there a seed belongs to its setting
        parts.append(_seeds(results))
    most = budget or max(result.episodes for result in results)
    parts.append(f"at most {most:,} episodes")
    return ", ".join(parts)


def _seeds(results: Sequence[Result]) -> str:
    """``3 seeds``, or ``2 to 3 seeds`` when some settings have more than others."""
    counts = Counter((run.agent, run.preset, _without_mapping(run.env), _settings(run)) for run in results).values()
    few, many = min(counts), max(counts)
    return f"{few} to {many} seeds" if few < many else f"{many} seed{'s' if many > 1 else ''}"


def _settings(run: Result) -> str:
    return json.dumps(run.config.to_dict() if isinstance(run.config, AgentConfig) else run.config, sort_keys=True)


def _without_mapping(env: str) -> str:
    """A sea's id without the seed of its action mapping, which may be another in every run."""
    return re.sub(r"(deep_sea:depth=\d+),mapping_seed=\d+", r"\1", env)


def _are_of_bsuite(names: Sequence[str]) -> bool:
    return all("/" in name and name.partition("/")[0] in SWEEPS for name in names)


def _environments(names: Sequence[str]) -> str:
    depths = [name.removeprefix(_DEEP_SEA) for name in names if name.startswith(_DEEP_SEA)]
    if len(depths) == len(names) and all(depth.isdigit() for depth in depths):
        return f"Deep Sea of depth {_list(sorted(map(int, depths)))}"
    if _are_of_bsuite(names):
        settings = sum(len(sweep.settings) for sweep in SWEEPS.values())
        return f"{len(names)} of bsuite's {settings} settings"
    return " and ".join(names) if len(names) <= _NAMED else f"{len(names)} environments"


def _list(values: Sequence[int]) -> str:
    """``1, 5 and 25``; a long even range by its ends."""
    if len(values) > 3 and len({b - a for a, b in itertools.pairwise(values)}) == 1:
        return f"{values[0]} to {values[-1]} in steps of {values[1] - values[0]}"
    words = [str(value) for value in values]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
