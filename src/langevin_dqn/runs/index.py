"""What was read of a large store before, kept in the user's cache folder, so that it need not be read again.

To read, check and join 10,000 files of one row each takes half a minute; to read one file of 10,000 rows, a second. A
row of the index counts as long as its run's file has the size, the times and the inode that it had when it was read.
The index lies outside the store: one that came with a store from elsewhere could say what its files do not. It may be
removed at any time.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from langevin_dqn import files, machine

if TYPE_CHECKING:
    import polars as pl

#: Runs from which on an index pays.
LEAST = 200

#: Columns that say which file of the store a row was read from, and how it was then.
PLACE = "_place"
_SIGNATURE = ("_size", "_modified", "_changed", "_inode")

#: Seconds without use after which an index is removed, and the largest one that is read: bytes.
_UNUSED, _MOST_BYTES = 30 * 86_400, 2**32
#: Tables of one row that are joined at once: each takes far more memory than its row in a longer one.
_JOINED = 500


class Index:
    """The index of a store.

    Args:
        folder: the store's.
    """

    def __init__(self, folder: Path):
        name = hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]
        self.path = machine.cache_dir() / "stores" / f"{name}.parquet"

    def rows(
        self, paths: Sequence[Path], read: Callable[[Path], "pl.DataFrame | None"], columns: list[str] | None = None
    ) -> "pl.DataFrame | None":
        """The rows of files, with the name of each in the column ``PLACE``; None if there are none.

        Args:
            paths: the files, all in the store.
            read: gives a file's row, or None if it cannot be used; called for those that are not in the index.
            columns: the columns that are wanted; all by default.
        """
        now = _signatures(paths)  # first: a file that is replaced while it is read is read again later
        known = self._read(now, columns)
        places = set() if known is None else set(known[PLACE])
        missing = [path for path in paths if _place(path) not in places]
        fresh = self._fresh(now, missing, read)
        if fresh is not None and fresh.height >= LEAST:
            all_known = known if columns is None else self._read(now, None)
            self._write(fresh if all_known is None else together([all_known, fresh]))
        if fresh is not None and columns is not None:
            fresh = fresh.select(PLACE, *_SIGNATURE, *columns)
        found = [part for part in (known, fresh) if part is not None and part.height]
        return together(found).drop(_SIGNATURE) if found else None

    def _read(self, now: "pl.DataFrame", columns: list[str] | None) -> "pl.DataFrame | None":
        """The rows whose files are as they were when they were read."""
        import polars as pl

        if not machine.keeps_programs():
            return None
        wanted = None if columns is None else [PLACE, *_SIGNATURE, *columns]
        try:
            with files.open_regular(self.path, most=_MOST_BYTES, links=True) as file:
                table = pl.read_parquet(file, columns=wanted, hive_partitioning=False)
            os.utime(self.path)
            return table.join(now, on=[PLACE, *_SIGNATURE], how="semi")
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
            return None

    def _fresh(
        self, now: "pl.DataFrame", paths: Sequence[Path], read: Callable[[Path], "pl.DataFrame | None"]
    ) -> "pl.DataFrame | None":
        import polars as pl

        places: list[str] = []

        def tables() -> Iterator[pl.DataFrame]:
            for path in paths:
                table = read(path)
                if table is not None:
                    places.append(_place(path))
                    yield table

        rows = joined(tables())
        if rows is None:
            return None
        read_from = pl.DataFrame({PLACE: places}).join(now, on=PLACE, how="left", maintain_order="left")
        return pl.concat([read_from, rows], how="horizontal")

    def _write(self, rows: "pl.DataFrame") -> None:
        """Replace the index; that it cannot be written stops nothing."""
        import polars as pl

        if not machine.keeps_programs():
            return
        with contextlib.suppress(OSError, pl.exceptions.PolarsError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with files.replacing(self.path) as file:
                rows.write_parquet(file)
            self._remove_unused()

    def _remove_unused(self) -> None:
        for path in self.path.parent.glob("*.parquet"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > _UNUSED:
                    path.unlink()


def joined(tables: Iterable["pl.DataFrame"]) -> "pl.DataFrame | None":
    """Tables of one row each as one; None if there are none."""
    import polars as pl

    parts: list[pl.DataFrame] = []
    waiting: list[pl.DataFrame] = []
    for table in tables:
        waiting.append(table)
        if len(waiting) == _JOINED:
            parts.append(together(waiting))
            waiting = []
    if waiting:
        parts.append(together(waiting))
    return together(parts) if parts else None


def together(tables: list["pl.DataFrame"]) -> "pl.DataFrame":
    """Rows of tables whose columns may differ; one without a column has nothing in it."""
    import polars as pl

    return pl.concat(tables, how="diagonal_relaxed") if len(tables) > 1 else tables[0]


def _place(path: Path) -> str:
    """A file in its store: a folder for each version of the algorithm has the runs."""
    return f"{path.parent.name}/{path.name}"


def _signatures(paths: Iterable[Path]) -> "pl.DataFrame":
    """How files are now; those that have gone are left out."""
    import polars as pl

    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            now = os.lstat(path)
            found.append((_place(path), now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino % 2**63))
    types = {PLACE: pl.String} | dict.fromkeys(_SIGNATURE, pl.Int64)
    return pl.DataFrame(found, schema=types, orient="row")
