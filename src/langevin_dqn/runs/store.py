"""Runs on disk: one Parquet file each, named by the hash of what defines the run.

A file is written under another name and renamed once it is complete, so a run is either there
or not, whenever the program is killed; "already there" is all that resuming needs, and
copying folders into each other merges stores. Each version of the algorithm has a folder of
its own (``v2``), so that results that would differ are never mixed. A run carries a checksum of
its content. A file that cannot be read, or whose content is not what was written, is moved to
``damaged``, and its run counts as not done.
"""

import contextlib
import hashlib
import itertools
import json
import os
import time
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from langevin_dqn import __version__, files, machine
from langevin_dqn.config import FIELD_TYPES, RENAMED, AgentConfig
from langevin_dqn.errors import UserError
from langevin_dqn.extras import require
from langevin_dqn.presets import AGENTS, CUSTOM, configuration, configured
from langevin_dqn.runs import checksum, run_files
from langevin_dqn.runs.folders import check_no_link, check_writable, file_error
from langevin_dqn.runs.result import Result, UncertaintyMaps
from langevin_dqn.version import ALGORITHM_VERSION

if TYPE_CHECKING:
    import polars as pl

_MEASURE, _RECORD = "measure_", "record_"
_DESCRIPTION = "agent_description"
_NAMES = ("agent", "preset", "changes", "outputs")

#: Seconds after which an unfinished file has no writer any more.
_ABANDONED = 3600


class Run(Protocol):
    """The request for a run; ``langevin_dqn.runs.runners.Job`` is one.

    ``vars`` of it has the rest: the budget, and what else a job may have.
    """

    @property
    def agent(self) -> str: ...
    @property
    def env(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def preset(self) -> str: ...
    @property
    def changes(self) -> Mapping[str, Any]: ...
    @property
    def network(self) -> str | None: ...
    def to_json(self) -> str: ...


def identity(run: Run) -> dict[str, Any]:
    """What defines a run: change any of it, and the returns would change.

    The names of agents and presets are not part of it; the configuration they stand for is, or for an agent
    that is none of the presets its id and what it says about itself. What is None, and fields of the configuration at
    their defaults, are left out, so that a field added later does not orphan every stored run. A default may
    therefore change only together with ``ALGORITHM_VERSION``; a test holds that.
    """
    return identity_with(run, describe(run))


def identity_with(run: Run, description: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of ``run`` where ``describe`` gives, or once gave, ``description``."""
    asked = {name: value for name, value in vars(run).items() if name not in _NAMES and value is not None}
    if not configured(run.agent):  # two modules may have agents that describe themselves alike
        asked["agent_id"] = run.agent
    return {**asked, "algorithm_version": ALGORITHM_VERSION, **description}


def describe(run: Run) -> dict[str, Any]:
    """The agent's part of a run's identity. For an agent with an id of its own this imports its code."""
    if configured(run.agent):
        return {"config": configuration(run.agent, run.preset, run.changes, run.env).identity()}
    from langevin_dqn.agents.registry import describe_agent

    return {"agent": describe_agent(run.agent, dict(run.changes), run.env, run.network)}


def key_of(run: Run) -> str:
    """The name of a run's file: a hash of its identity."""
    return hash_of(identity(run))


def hash_of(identity: Mapping[str, Any]) -> str:
    """The key that belongs to an identity."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Store:
    """A folder of runs.

    ``damaged`` lists the files that could not be read since the store was opened; they are moved to a folder of that
    name.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        self.damaged: list[Path] = []
        self._swept = False
        if self.folder.exists() and not self.folder.is_dir():
            raise UserError(f"{self.folder} is a file", "a store is a folder; use another name")

    def prepare(self) -> None:
        """Make the folder, and find out now whether it can be written to."""
        require("polars")
        check_writable(self.folder)
        for name in (f"v{ALGORITHM_VERSION}", "damaged", "checkpoints"):
            check_no_link(self.folder / name)

    def names(self) -> set[str]:
        """The keys of the runs that are there, unread."""
        return {path.stem for path in self.folder.glob(f"v{ALGORITHM_VERSION}/*.parquet")}

    def path(self, run: Run) -> Path:
        """Where the file of ``run`` is, or will be."""
        return self.folder / f"v{ALGORITHM_VERSION}" / f"{key_of(run)}.parquet"

    def has(self, run: Run) -> bool:
        """Whether ``run`` is done and can be read."""
        return self._read(self.path(run)) is not None

    def put(self, run: Run, result: Result) -> Path:
        """Write the result of ``run`` atomically: all of it or, if that fails, nothing."""
        import polars as pl

        path = self.path(run)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._remove_abandoned(path.parent)
            with files.replacing(path) as file:
                _row(path.stem, run, result).write_parquet(file, statistics=False)  # of one row, they say nothing
        except (OSError, pl.exceptions.PolarsError) as error:
            raise file_error(error, path.parent, "make room and repeat the command; finished runs are kept") from None
        return path

    def get(self, run: Run) -> Result | None:
        """What ``run`` gave; None if it is not there.

        Agent, environment, seed and preset are those of ``run``: names in the file are not followed.
        """
        path = self.path(run)
        table = self._read(path)
        try:
            return None if table is None else _result(table.row(0, named=True), run)
        except (UserError, ValueError, TypeError, OverflowError):  # settings or maps that no run can have
            self._set_aside(path)
            return None

    def load(self, *, all_versions: bool = False) -> "pl.DataFrame":
        """Every run as one table, a row each, sorted by what was run.

        The columns are those of ``langevin-dqn run --json`` with the configuration's fields beside them (for an
        agent that is none of the presets, its description as JSON in ``agent_description``), the run that was
        asked for as JSON in ``job``, the lists ``returns`` and ``lengths`` (an entry per episode), a list
        ``measure_…`` for each column that bsuite would log, and where and when the run was made. What a run
        recorded is in lists ``record_…``, flat. Runs of other versions of the algorithm are left out, unless
        asked for.
        """
        import polars as pl

        folder = "v*" if all_versions else f"v{ALGORITHM_VERSION}"
        read = [self._read(path) for path in sorted(self.folder.glob(f"{folder}/*.parquet"))]
        tables = [table for table in read if table is not None]
        if not tables:
            return pl.DataFrame()
        return pl.concat(tables, how="diagonal_relaxed").sort("agent", "preset", "env", "seed", "key")

    def _read(self, path: Path) -> "pl.DataFrame | None":
        """A run's row; a file that cannot be read is set aside."""
        if not os.path.lexists(path):
            return None
        table = run_files.read(path)
        if table is None:
            self._set_aside(path)
        return table

    def _remove_abandoned(self, folder: Path) -> None:
        """Once, remove what writers that were killed left behind; a living one's file is seconds old."""
        if not self._swept:
            self._swept = True
            for left in folder.glob(".*.tmp"):
                with contextlib.suppress(OSError):  # someone else was faster
                    if time.time() - left.stat().st_mtime > _ABANDONED:
                        left.unlink()

    def _set_aside(self, path: Path) -> None:
        home = self.folder / "damaged"
        try:
            home.mkdir(exist_ok=True)
            check_no_link(home)
            names = (home / f"{path.stem}.{number}.parquet" for number in itertools.count())
            path = path.replace(next(name for name in names if not name.exists()))
        except (OSError, UserError):  # a store that may only be read stays as it is
            pass
        self.damaged.append(path)


def load_results(folder: str | Path) -> "pl.DataFrame":
    """Every run in a store, as one polars table; see ``Store.load``."""
    if not Path(folder).is_dir():
        raise UserError(f"there is no store at {folder}", "pass the folder that was given to --store")
    require("polars")
    return Store(folder).load()


def _row(key: str, run: Run, result: Result) -> "pl.DataFrame":
    """A run as a table of one row."""
    import polars as pl

    summary = result.to_dict()
    summary.pop("config")
    summary.pop("record", None)
    config = result.config.to_dict() if isinstance(result.config, AgentConfig) else {}
    if not configured(run.agent):
        config |= _description(run)
    plain = {name: value for name, value in vars(result).items() if isinstance(value, int | float | str | None)}
    asked = {f"asked_{name}": value for name, value in vars(run).items() if name in ("episodes", "steps")}
    made: dict[str, Any] = {"package": __version__, "algorithm_version": ALGORITHM_VERSION, **machine.describe()}
    row = {
        "key": key,
        "job": run.to_json(),
        **summary,
        **plain,
        **asked,
        **config,
        **made,
        "finished_at": datetime.now(UTC),
    }
    lists = {"returns": result.returns, "lengths": result.lengths}
    lists |= {_MEASURE + name: values for name, values in result.measures.items()}
    if result.record is not None:
        lists |= {_RECORD + name: values.ravel() for name, values in vars(result.record).items()}
        lists[_RECORD + "shape"] = np.array(result.record.spread.shape)
    table = pl.DataFrame(
        {name: [value] for name, value in row.items()} | {name: [_compact(values)] for name, values in lists.items()},
        schema_overrides={name: kind for name, kind in _nullable_types().items() if name in row},
    )
    return checksum.added(table)


def _description(run: Run) -> dict[str, str]:
    """As it is in the run's identity, so that its key can be checked without the agent's code."""
    return {_DESCRIPTION: json.dumps(describe(run)["agent"], sort_keys=True)}


def config_of(row: Mapping[str, Any]) -> AgentConfig | dict[str, Any]:
    """The configuration in a row of ``Store.load``, or what the agent said about itself."""
    if row.get(_DESCRIPTION) is not None:
        return json.loads(row[_DESCRIPTION])
    return AgentConfig.from_dict(
        {name: row.get(name) for name in (*RENAMED, *FIELD_TYPES) if row.get(name) is not None}
    )


def _nullable_types() -> dict[str, Any]:
    """The types of columns that may hold nothing."""
    import polars as pl

    numbers = dict.fromkeys(("max_return", "learned_regret", "regret", "success_share"), pl.Float64)
    counts = dict.fromkeys(("learning_time", "first_success", "asked_episodes", "asked_steps"), pl.Int64)
    return {"diverged": pl.String} | numbers | counts


def _compact(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.int32 if np.issubdtype(values.dtype, np.integer) else np.float32)


def _result(row: Mapping[str, Any], run: Run) -> Result:
    measures = {
        name.removeprefix(_MEASURE): np.asarray(values, np.float32)
        for name, values in row.items()
        if name.startswith(_MEASURE)
    }
    known = {field.name: row[field.name] for field in fields(Result) if field.name in row}
    return Result(
        **known
        | {
            "agent": run.agent,
            "env": run.env,
            "seed": run.seed,
            "preset": run.preset if run.agent in AGENTS else CUSTOM if run.agent == CUSTOM else row["preset"],
            "config": config_of(row),
            "returns": np.asarray(row["returns"], np.float32),
            "lengths": np.asarray(row["lengths"], np.int32),
            "measures": measures,
            "record": _record(row),
        }
    )


def _record(row: Mapping[str, Any]) -> UncertaintyMaps | None:
    if row.get(_RECORD + "shape") is None:
        return None
    maps, states, actions = row[_RECORD + "shape"]
    return UncertaintyMaps(
        episodes=np.asarray(row[_RECORD + "episodes"], np.int32),
        spread=np.asarray(row[_RECORD + "spread"], np.float32).reshape(maps, states, actions),
        visits=np.asarray(row[_RECORD + "visits"], np.int32).reshape(maps, states),
    )
