"""The file of one run: what it declares is checked before it is decoded, and what it holds before it is used.

A file is a run only if it is a regular file, declares one row of a size that fits into memory, has the columns of a
run with their types, has the name that its key says, and holds what its checksum says.
"""

import contextlib
import functools
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langevin_dqn import files, machine
from langevin_dqn.config import FIELD_TYPES, RENAMED
from langevin_dqn.runs import checksum
from langevin_dqn.runs.parquet_footer import declared

if TYPE_CHECKING:
    import polars as pl

#: The largest file, and the most values that it may hold: bytes, and numbers. A run of a million episodes with maps of
#: 10,000 states has 25 million.
_MOST_BYTES, _MOST_VALUES = 2**30, 2**28
#: A file that is read as a whole, which is faster: bytes, unpacked.
_SMALL = 2**24

#: Columns by the kind of what they hold. Those of ``_NEEDED`` are in every file.
_TEXTS = ("key", "agent", "env", "preset", "diverged", "job", "agent_description", "package", "machine", "python",
          "jax", "checksum")  # fmt: skip
_COUNTS = ("seed", "episodes", "steps", "updates", "learning_time", "first_success", "asked_episodes", "asked_steps",
           "algorithm_version")  # fmt: skip
_NUMBERS = ("seconds", "compile_seconds", "total_return", "recent_return", "regret", "success_share", "max_return",
            "learned_regret")  # fmt: skip
_LISTS = ("returns", "lengths")
_NEEDED = (
    "key",
    "agent",
    "env",
    "preset",
    "seed",
    "episodes",
    "updates",
    "seconds",
    "machine",
    "python",
    "jax",
    *_LISTS,
)


def read(path: Path) -> "pl.DataFrame | None":
    """A run's row; None if the file cannot be read, or is not the run that its name says."""
    import polars as pl

    try:
        with files.open_regular(path, most=_MOST_BYTES) as file:
            size = declared(file)
            if size.rows != 1 or size.values > _MOST_VALUES or not fits(size.size):
                return None
            content = file.read() if size.size <= _SMALL else file
            with without_panics():
                # By its path, a name with [, ? or * would be taken for a pattern. One row needs no second thread.
                table = pl.read_parquet(content, hive_partitioning=False, parallel="none", use_statistics=False)
        return table if is_intact(table, path.stem) else None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
        return None


def is_intact(table: "pl.DataFrame", key: str) -> bool:
    """Whether a table is the run of that key, as it was written."""
    return _is_run(table) and table["key"].item() == key and checksum.agrees(table)


@contextlib.contextmanager
def without_panics() -> Iterator[None]:
    """Keep what polars prints about some damaged files, a backtrace of its compiled code, from the terminal.

    It goes to the process's standard error, past Python. What others print there in the meantime is passed on.
    """
    with _READING:
        try:
            terminal = os.dup(2)
        except OSError:  # there is none
            yield
            return
        with tempfile.TemporaryFile() as caught:
            os.dup2(caught.fileno(), 2)
            try:
                yield
            finally:
                os.dup2(terminal, 2)
                os.close(terminal)
                caught.seek(0)
                said = caught.read()
                if said and b"panicked" not in said:
                    os.write(2, said)


_READING = threading.Lock()


def fits(size: int) -> bool:
    """Whether so many bytes can be held in memory."""
    return size <= 2**26 or size <= (machine.available_memory() or size)


def _is_run(table: "pl.DataFrame") -> bool:
    """Whether all columns of a run are there, each of its type."""
    schema = table.schema
    if table.height != 1 or not all(name in schema for name in _NEEDED):
        return False
    if any(table[name].null_count() for name in _NEEDED):
        return False
    kinds = _kinds()
    return all(kinds.get(name, _list_of_run(name))(kind) for name, kind in schema.items())


@functools.cache
def _kinds() -> Mapping[str, Any]:
    """By column, whether a type is its own; a column that may hold nothing may have no type."""
    import polars as pl

    def is_text(kind: Any) -> bool:
        return kind in (pl.String, pl.Null)

    def is_count(kind: Any) -> bool:
        return kind.is_integer() or kind == pl.Null

    def is_number(kind: Any) -> bool:
        return kind.is_numeric() or kind == pl.Null

    def is_flag(kind: Any) -> bool:
        return kind in (pl.Boolean, pl.Null)

    def is_layers(kind: Any) -> bool:
        return kind == pl.Null or (isinstance(kind, pl.List | pl.Array) and kind.inner in (pl.Int64, pl.Null))

    fields = {bool: is_flag, int: is_count, float: is_number, str: is_text}
    settings = {name: fields.get(kind, is_layers) for name, kind in FIELD_TYPES.items()}
    return (
        settings
        | {old: settings[new] for old, new in RENAMED.items()}
        | dict.fromkeys(_TEXTS, is_text)
        | dict.fromkeys(_COUNTS, is_count)
        | dict.fromkeys(_NUMBERS, is_number)
        | dict.fromkeys(_LISTS, is_numbers)
        | {"solved": is_flag, "finished_at": lambda kind: isinstance(kind, pl.Datetime)}
    )


def is_numbers(kind: Any) -> bool:
    """Whether a type is that of a list of numbers."""
    import polars as pl

    return isinstance(kind, pl.List | pl.Array) and (kind.inner.is_numeric() or kind.inner == pl.Null)


def _list_of_run(name: str) -> Any:
    """What is asked of a column that only some runs have."""
    return is_numbers if name.startswith(("measure_", "record_")) else lambda kind: True
