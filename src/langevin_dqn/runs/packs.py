"""Many runs in one Parquet file, for a store that is kept: ``langevin-dqn store pack``.

A pack is a table with a row for each run, in ``v2/packed``, named by the hash of its content, so that copying folders
into each other still merges stores. Runs differ in their columns and types, and both are part of a run's checksum; the
column ``_types`` has them, as JSON, and gives every row its own back. A run that has a file of its own counts instead
of a packed one.

Packing writes the new file first, reads it again, and only then removes what it holds. Killed at any moment, it
leaves every run readable.
"""

import contextlib
import functools
import hashlib
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from langevin_dqn import files
from langevin_dqn.errors import UserError
from langevin_dqn.runs import index, run_files
from langevin_dqn.runs.folders import check_no_link, file_error
from langevin_dqn.runs.parquet_footer import declared

if TYPE_CHECKING:
    import polars as pl

FOLDER = "packed"
_TYPES = "_types"

#: The largest pack that is read: bytes, runs, and numbers in them.
_MOST_BYTES, _MOST_RUNS, _MOST_VALUES = 2**33, 10**6, 2**31
#: Runs that are written together, at least. A damaged byte costs the runs of one such group.
_GROUP = 64
#: A file's footer grows with its groups; this many keep it short.
_MOST_GROUPS = 256


class Packs:
    """The packed runs of one version of the algorithm.

    A pack never changes under its name, so each is read once.

    Args:
        folder: that of the version, which has the single files.
    """

    def __init__(self, folder: Path):
        self.folder = folder / FOLDER
        self.damaged: list[Path] = []
        self._rows: dict[str, tuple[pl.DataFrame, int]] = {}
        self._known: set[Path] = set()

    def keys(self) -> set[str]:
        """Those of the packed runs."""
        return set(self._rows)

    def row(self, key: str) -> "pl.DataFrame | None":
        """A run as the table of one row that its file had; None if no pack has it intact."""
        found = self._rows.get(key)
        return None if found is None else found[0].slice(found[1], 1)

    def table(self, keys: Collection[str], columns: list[str] | None = None) -> "pl.DataFrame | None":
        """Those of some runs that are packed, as one table; None if there are none.

        Args:
            keys: of the runs.
            columns: the columns that are wanted; all by default.
        """
        import polars as pl

        places: dict[int, list[int]] = {}
        tables: dict[int, pl.DataFrame] = {}
        for key in keys:
            if key in self._rows:
                table, place = self._rows[key]
                tables[id(table)] = table
                places.setdefault(id(table), []).append(place)
        parts = [tables[number][own] for number, own in places.items()]
        if columns is not None:
            parts = [part.select(name for name in columns if name in part.columns) for part in parts]
        return index.together(parts) if parts else None

    def paths(self) -> list[Path]:
        """The packs."""
        return sorted(self.folder.glob("*.parquet"))

    def look(self) -> None:
        """Read the packs that are new; a run that several have is taken from the first."""
        vanished = True
        while vanished:  # someone else packs: the runs of a pack that has gone are in another
            vanished = False
            for path in self.paths():
                if path in self._known:
                    continue
                try:
                    rows, intact = _read(path)
                except FileNotFoundError:
                    vanished = True
                    continue
                self._known.add(path)
                if not intact:
                    self.damaged.append(path)
                for key, place in rows.items():
                    self._rows.setdefault(key, place)

    def intact(self) -> set[Path]:
        """The packs whose runs are all held here."""
        return self._known - set(self.damaged)


class Packing(NamedTuple):
    """What packing a version's runs did.

    Attributes:
        runs: in its pack now.
        added: those of them that were single files.
        freed: bytes that the folder takes less.
    """

    runs: int
    added: int
    freed: int


def pack(folder: Path, packed: Packs, read: Callable[[Path], "pl.DataFrame | None"]) -> Packing:
    """Put the runs of a version's folder into one file.

    Args:
        folder: the version's.
        packed: what is packed there so far.
        read: gives the row of a single file, or None if it cannot be used.
    """
    check_no_link(packed.folder)
    # What is there now and is not held here came from someone else, and stays.
    before, known = packed.intact(), packed.keys()
    singles = {path.stem: path for path in folder.glob("*.parquet")}
    if not singles and len(before) <= 1 and not packed.damaged:
        return Packing(len(known), 0, 0)
    size = _size([*packed.paths(), *singles.values()])

    def row(key: str) -> "pl.DataFrame | None":
        table = read(singles[key]) if key in singles else None
        return table if table is not None and _can_be_packed(table) else packed.row(key)

    keys = sorted(known | singles.keys())
    path = _write(packed.folder, (table for key in keys if (table := row(key)) is not None))
    kept, intact = ({}, True) if path is None else _read(path)
    if not intact or not all(_same(kept.get(key), row(key)) for key in known):
        if path is not None and path not in before:
            path.unlink(missing_ok=True)
        raise UserError(f"{path} does not hold what was written", "check the disk; every run is where it was")
    if path is not None:
        files.sync_folder(packed.folder)
        if path in packed.damaged:  # it had this name, and is what it should be now
            packed.damaged.remove(path)
    added = [single for key, single in singles.items() if _same(kept.get(key), read(single))]
    for old in (*added, *sorted(before - {path})):
        with contextlib.suppress(FileNotFoundError):  # someone else packs, too
            old.unlink()
    return Packing(len(kept), len(added), size - _size([*packed.paths(), *folder.glob("*.parquet")]))


def _write(folder: Path, tables: Iterable["pl.DataFrame"]) -> Path | None:
    """Write a pack; None if there is nothing to write."""
    content = _content(tables)
    if content is None:
        return None
    path = folder / f"{hashlib.sha256(content).hexdigest()[:32]}.parquet"
    try:
        folder.mkdir(exist_ok=True)
        files.remove_abandoned(folder)
        with files.replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise file_error(error, folder, "make room and repeat the command; no run is lost") from None
    return path


def _can_be_packed(table: "pl.DataFrame") -> bool:
    """Whether a run's columns come back as they are; one with others stays a single file."""
    if {_TYPES, index.PLACE} & set(table.columns):
        return False
    kinds = _types(table).values()
    return all(_ARRAY.fullmatch(kind) or kind in _plain_types() for kind in kinds)


def _size(paths: Iterable[Path]) -> int:
    size = 0
    for path in paths:
        with contextlib.suppress(OSError):
            size += path.stat().st_size
    return size


def _same(place: "tuple[pl.DataFrame, int] | None", table: "pl.DataFrame | None") -> bool:
    return place is not None and table is not None and place[0].slice(place[1], 1).equals(table)


def _content(tables: Iterable["pl.DataFrame"]) -> bytes | None:
    """The bytes of a pack; None if it would have no runs."""
    import polars as pl

    types: list[str] = []

    def noted() -> Iterator[pl.DataFrame]:
        for table in tables:
            types.append(json.dumps(_types(table)))
            yield table

    rows = index.joined(noted())
    if rows is None:
        return None
    lists: dict[Any, Any] = {
        name: pl.List(kind.inner) for name, kind in rows.schema.items() if isinstance(kind, pl.Array)
    }
    content = io.BytesIO()
    size = max(_GROUP, -(-rows.height // _MOST_GROUPS))
    pl.concat([pl.DataFrame({_TYPES: types}), rows.cast(lists)], how="horizontal").write_parquet(
        content, compression="zstd", statistics=False, row_group_size=size
    )
    return content.getvalue()


def _types(table: "pl.DataFrame") -> dict[str, str]:
    """The columns of a table in their order, with their types in polars' words."""
    return {name: str(kind) for name, kind in table.schema.items()}


def _read(path: Path) -> tuple[dict[str, tuple["pl.DataFrame", int]], bool]:
    """The intact runs of a pack by key, each as a table and the run's row in it; and whether all are intact.

    Raises ``FileNotFoundError`` if it has gone, and ``UserError`` if it cannot be read now but may be later.
    """
    import polars as pl

    found: dict[str, tuple[pl.DataFrame, int]] = {}
    parts, intact = _parts(path)
    for part in parts:
        if not {_TYPES, "key"} <= set(part.columns):
            return {}, False
        for (types,), rows in part.group_by(_TYPES, maintain_order=True):
            try:
                table = _with_types(rows, json.loads(types))
            except (pl.exceptions.PolarsError, ValueError, TypeError, KeyError, RecursionError):
                intact = False
                continue
            for place, key in enumerate(rows["key"]):
                if run_files.is_intact(table.slice(place, 1), str(key)):
                    found[key] = table, place
                else:
                    intact = False
    return found, intact


def _parts(path: Path) -> tuple[list["pl.DataFrame"], bool]:
    """The rows of a pack, and whether these are all; where some cannot be decoded, those of the other groups."""
    import polars as pl

    errors = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError)
    try:
        with files.open_regular(path, most=_MOST_BYTES) as file:
            size = declared(file)
            if size.rows > _MOST_RUNS or size.values > _MOST_VALUES:
                return [], False
            if not run_files.fits(size.size):
                words = f"{path} needs {size.size / 1e6:,.0f} MB of memory, more than there is"
                raise UserError(words, "stop other programs, or use a larger machine; nothing was changed")
            content = file.read()
    except (FileNotFoundError, UserError):
        raise
    except (files.RefusedFileError, ValueError):
        return [], False
    except OSError as error:
        hint = "see its permissions, or repeat the command; nothing was changed"
        raise UserError(f"cannot read {path}: {error.strerror}", hint) from None
    with run_files.without_panics():
        try:
            return [pl.read_parquet(io.BytesIO(content), hive_partitioning=False, use_statistics=False)], True
        except errors:
            pass
        parts, step = [], max(_GROUP, -(-size.rows // _MOST_GROUPS))
        for start in range(0, size.rows, step):
            with contextlib.suppress(*errors):
                scan = pl.scan_parquet(io.BytesIO(content), hive_partitioning=False, use_statistics=False)
                parts.append(scan.slice(start, step).collect())
    return parts, False


def _with_types(rows: "pl.DataFrame", types: Any) -> "pl.DataFrame":
    """Rows with the columns and types of their own; raises ``ValueError`` or ``KeyError`` for types that no run has."""
    import polars as pl

    if not isinstance(types, dict):
        raise ValueError
    columns = []
    for name, kind in types.items():
        column, array = rows[name], _ARRAY.fullmatch(kind)
        if kind == "List(Null)":  # polars casts nothing to it
            if column.null_count() or column.list.len().max():
                raise ValueError
            columns.append(pl.Series(name, [[]] * len(column), dtype=pl.List(pl.Null)))
            continue
        if array is None:
            columns.append(column.cast(_plain_types()[kind]))
            continue
        length = int(array[2])
        if not (column.list.len() == length).all() or column.null_count():  # also: nothing is made larger than it is
            raise ValueError
        columns.append(column.cast(pl.Array(_plain_types()[array[1]], length)))
    return pl.DataFrame(columns)


#: A list of known length: the type of its elements, and the length.
_ARRAY = re.compile(r"Array\((\w+), shape=\((\d{1,12}),\)\)")


@functools.cache
def _plain_types() -> Mapping[str, Any]:
    """By the name that polars gives it, each type of a column that a run may have, but for lists of known length."""
    import polars as pl

    names = ("Boolean", "String", "Null", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64",
             "Float32", "Float64")  # fmt: skip
    plain: dict[str, Any] = {name: getattr(pl, name) for name in names}
    lists = {f"List({name})": pl.List(kind) for name, kind in plain.items()}
    times = [pl.Datetime(unit, zone) for unit in ("ns", "us", "ms") for zone in (None, "UTC")]
    return plain | lists | {str(kind): kind for kind in times}
