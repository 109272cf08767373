"""Runs on disk: one Parquet file each, named by the hash of what defines the run.

A file is written under another name and renamed once it is complete, so a run is either there
or not, whenever the program is killed; "already there" is all that resuming needs, and
copying folders into each other merges stores. Each version of the algorithm has a folder of
its own (``v2``), so that results that would differ are never mixed. A run carries a checksum of
its content. A file that cannot be read, or whose content is not what was written, is moved to
``damaged``, and its run counts as not done. Runs of a store that is kept may be packed into one file
(``langevin_dqn.runs.packs``), and are read as if they were single ones.
"""

import io
import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from langevin_dqn import __version__, files, machine
from langevin_dqn.config import FIELD_TYPES, RENAMED, AgentConfig
from langevin_dqn.errors import UserError, path_or_name
from langevin_dqn.extras import require
from langevin_dqn.presets import AGENTS, CUSTOM, configured
from langevin_dqn.runs import checksum, index, run_files
from langevin_dqn.runs.folders import check_no_link, check_writable, file_error
from langevin_dqn.runs.identity import Run, describe, hash_of, identity, identity_with, key_of
from langevin_dqn.runs.packs import Packing, Packs, pack
from langevin_dqn.runs.result import Result, UncertaintyMaps
from langevin_dqn.version import ALGORITHM_VERSION

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Run", "Store", "config_of", "describe", "hash_of", "identity", "identity_with", "key_of", "load_results",
]  # fmt: skip

_MEASURE, _RECORD = "measure_", "record_"
_DESCRIPTION = "agent_description"
_ORDER = ("agent", "preset", "env", "seed", "key")


class Store:
    """A folder of runs.

    ``damaged`` lists the files that could not be read since the store was opened; they are moved to a folder of that
    name.
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(path_or_name("store", folder))
        self.damaged: list[Path] = []
        self._swept = False
        self._packs: dict[Path, Packs] = {}
        if self.folder.exists() and not self.folder.is_dir():
            raise UserError(f"{self.folder} is a file", "a store is a folder; use another name")

    def prepare(self) -> None:
        """Make the folder, and find out now whether it can be written to."""
        require("polars")
        check_writable(self.folder)
        for name in (f"v{ALGORITHM_VERSION}", "damaged", "checkpoints"):
            check_no_link(self.folder / name)

    def names(self) -> set[str]:
        """The keys of the runs that are there; single files are not read."""
        folder = self.folder / f"v{ALGORITHM_VERSION}"
        return {path.stem for path in folder.glob("*.parquet")} | self._packed(folder).keys()

    def path(self, run: Run) -> Path:
        """Where the file of ``run`` is, or will be."""
        return self.folder / f"v{ALGORITHM_VERSION}" / f"{key_of(run)}.parquet"

    def has(self, run: Run) -> bool:
        """Whether ``run`` is done and can be read."""
        return self._read(self.path(run)) is not None

    def put(self, run: Run, result: Result) -> Path:
        """Write the result of ``run`` atomically: all of it or, if that fails, nothing."""
        path = self.path(run)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._remove_abandoned(path.parent)
            content = io.BytesIO()  # on a full disk, polars raises an error that does not say so
            _row(path.stem, run, result).write_parquet(content, statistics=False)  # of one row, they say nothing
            with files.replacing(path) as file:
                file.write(content.getbuffer())
        except OSError as error:
            raise file_error(error, path.parent, "make room and repeat the command; finished runs are kept") from None
        return path

    def get(self, run: Run) -> Result | None:
        """What ``run`` gave; None if it is not there.

        Agent, environment, seed and preset are those of ``run``: names in the file are not followed.
        """
        table = self._read(self.path(run))
        return None if table is None else self._result(table.row(0, named=True), run)

    def get_all(self, runs: Sequence[Run]) -> list[Result | None]:
        """``get`` for many runs, which a large store answers from its index (``langevin_dqn.runs.index``)."""
        if len(runs) < index.LEAST:
            return [self.get(run) for run in runs]
        places: dict[str, list[int]] = {}
        for place, run in enumerate(runs):
            places.setdefault(key_of(run), []).append(place)
        found: list[Result | None] = [None] * len(runs)
        rows = self._rows(places, None)
        for row in () if rows is None else rows.iter_rows(named=True):
            for place in places[row["key"]]:
                found[place] = self._result(row, runs[place])
        return found

    def has_all(self, runs: Sequence[Run]) -> list[bool]:
        """``has`` for many runs, likewise."""
        if len(runs) < index.LEAST:
            return [self.has(run) for run in runs]
        keys = [key_of(run) for run in runs]
        rows = self._rows(keys, ["key"])
        found = set() if rows is None else set(rows["key"])
        return [key in found for key in keys]

    def _rows(self, keys: Iterable[str], columns: list[str] | None) -> "pl.DataFrame | None":
        folder = self.folder / f"v{ALGORITHM_VERSION}"
        single, keys = {path.stem for path in folder.glob("*.parquet")}, list(dict.fromkeys(keys))
        paths = [folder / f"{key}.parquet" for key in keys if key in single]
        wanted = None if columns is None else list({*columns, "key"})
        rows = index.Index(self.folder).rows(paths, self._read_single, wanted)
        found = set() if rows is None else set(rows["key"])
        packed = self._packed(folder).table(set(keys) - found, wanted)
        parts = [part for part in (rows, packed) if part is not None]
        return index.together(parts) if parts else None

    def _packed(self, folder: Path) -> Packs:
        """The packed runs of a version's folder, as they are now."""
        packs = self._packs.setdefault(folder, Packs(folder))
        packs.look()
        self.damaged += [path for path in packs.damaged if path not in self.damaged]
        return packs

    def pack(self) -> list[Packing]:
        """Put the runs of each version of the algorithm into one file; what cannot be read is set aside."""
        done = []
        for folder in sorted(self.folder.glob("v*/")):
            packed = self._packed(folder)
            done.append(pack(folder, packed, self._read_single))
            self.damaged = [path for path in self.damaged if path.parent != packed.folder]
            for path in packed.damaged:
                self._set_aside(path)
        self._packs.clear()
        return done

    def _result(self, row: Mapping[str, Any], run: Run) -> Result | None:
        try:
            return _result(row, run)
        except (UserError, ValueError, TypeError, OverflowError):  # settings or maps that no run can have
            if os.path.lexists(self.path(run)):
                self._set_aside(self.path(run))
            return None

    def load(
        self, *, all_versions: bool = False, columns: list[str] | None = None, afresh: bool = False
    ) -> "pl.DataFrame":
        """Every run as one table, a row each, sorted by what was run.

        The columns are those of ``langevin-dqn run --json`` with the configuration's fields beside them (for an
        agent that is none of the presets, its description as JSON in ``agent_description``), the run that was
        asked for as JSON in ``job``, the lists ``returns`` and ``lengths`` (an entry per episode), a list
        ``measure_…`` for each column that bsuite would log, and where and when the run was made. What a run
        recorded is in lists ``record_…``, flat.

        Args:
            all_versions: runs of other versions of the algorithm, too.
            columns: only these.
            afresh: read every file, also where the index of a large store has its content.
        """
        import polars as pl

        folder = "v*" if all_versions else f"v{ALGORITHM_VERSION}"
        paths = sorted(self.folder.glob(f"{folder}/*.parquet"))
        wanted = None if columns is None else list({*columns, *_ORDER})
        if afresh or len(paths) < index.LEAST:
            single = index.joined(table for path in paths if (table := self._read_single(path)) is not None)
        else:
            single = index.Index(self.folder).rows(paths, self._read_single, wanted)
        parts = [] if single is None else [single.drop(index.PLACE, strict=False)]
        read = set() if single is None else set(single["key"])
        for home in self.folder.glob(f"{folder}/"):
            packed, own = self._packed(home), {path.stem for path in paths if path.parent == home}
            table = packed.table(packed.keys() - (own & read), wanted)
            parts += [] if table is None else [table]
        if not parts:
            return pl.DataFrame()
        rows = index.together(parts).sort(_ORDER)
        return rows if columns is None else rows.select(columns)

    def _read(self, path: Path) -> "pl.DataFrame | None":
        """A run's row, from its file or from a pack."""
        table = self._read_single(path)
        return self._packed(path.parent).row(path.stem) if table is None else table

    def _read_single(self, path: Path) -> "pl.DataFrame | None":
        """The row in a run's own file, if it has one; a file that cannot be read is set aside."""
        if not os.path.lexists(path):
            return None
        table = run_files.read(path)
        if table is None and os.path.lexists(path):  # else it was packed in the meantime
            self._set_aside(path)
        return table

    def _remove_abandoned(self, folder: Path) -> None:
        """Once, remove what writers that were killed left behind."""
        if not self._swept:
            self._swept = True
            for place in (folder, self.folder):  # runs, and the progress of sweeps
                files.remove_abandoned(place)

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
    if not Path(path_or_name("folder", folder)).is_dir():
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
        if name.startswith(_MEASURE) and values is not None
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
