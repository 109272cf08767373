"""A checksum of a stored run's content, so that no value changes unnoticed.

It covers names, types and values of all columns, not the bytes of the file: a file that is written again by another
version of polars keeps it.
"""

import hashlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

COLUMN = "checksum"


def added(table: "pl.DataFrame") -> "pl.DataFrame":
    """A table of one row, with its checksum as one more column."""
    import polars as pl

    return table.with_columns(pl.lit(_of(table)).alias(COLUMN))


def agrees(table: "pl.DataFrame") -> bool:
    """Whether a table of one row is what was written; runs of version 0.1 have no checksum, and pass."""
    return COLUMN not in table.columns or table[COLUMN].item() == _of(table)


def _of(table: "pl.DataFrame") -> str:
    found = hashlib.sha256()
    for name in sorted(set(table.columns) - {COLUMN}):
        found.update(f"{name}\0{table[name].dtype}\0".encode())
        found.update(_bytes(table[name].item()))
    return found.hexdigest()[:32]


def _bytes(value: Any) -> bytes:
    """The content of a cell: of a list, its numbers; of anything else, its text, which has every digit."""
    if hasattr(value, "to_numpy"):
        return value.to_numpy().tobytes()
    return (value.isoformat() if hasattr(value, "isoformat") else repr(value)).encode()
