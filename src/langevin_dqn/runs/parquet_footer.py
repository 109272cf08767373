"""What a Parquet file declares about itself, read from its footer before anything of its data is decoded.

A few bytes of a Parquet file may stand for billions of equal values. The footer says how many values each column has
and how large they are unpacked; it is encoded in Thrift's compact protocol, of which this reads what it needs.
"""

import os
from collections.abc import Callable
from typing import BinaryIO, NamedTuple

_MARK = b"PAR1"
#: The longest footer that is read: bytes. That of a run with 80 columns has 12,000.
_MOST_FOOTER = 2**22
_MOST_DEPTH = 16


class Declared(NamedTuple):
    """Sizes that a file declares.

    Attributes:
        rows: its rows.
        values: values of all its columns; each element of a list is one.
        size: bytes of all its columns, unpacked but encoded.
    """

    rows: int
    values: int
    size: int


def declared(file: BinaryIO) -> Declared:
    """The sizes in a file's footer; raises ``ValueError`` if it has none that can be read."""
    length = os.fstat(file.fileno()).st_size
    if length < 12:
        raise ValueError
    file.seek(length - 8)
    size, mark = int.from_bytes(file.read(4), "little"), file.read(4)
    if mark != _MARK or not 0 < size <= min(length - 8, _MOST_FOOTER):
        raise ValueError
    file.seek(length - 8 - size)
    try:
        return _Footer(file.read(size)).sizes()
    except IndexError:
        raise ValueError from None
    finally:
        file.seek(0)


#: Reads one field of a structure: the position, the type and the depth; returns the position after it.
_Field = Callable[[int, int, int], int]


class _Footer:
    """A walk through the footer; what is not asked for is skipped."""

    def __init__(self, content: bytes):
        self._content = content
        self._rows: list[int] = []
        self._values: list[int] = []
        self._sizes: list[int] = []

    def sizes(self) -> Declared:
        """Those of FileMetaData.num_rows (3) and of each column's num_values (5) and total_uncompressed_size (6)."""
        column: dict[int, _Field] = {5: self._number(self._values), 6: self._number(self._sizes)}
        chunk: dict[int, _Field] = {3: lambda at, kind, depth: self._struct(at, kind, depth, column)}
        group: dict[int, _Field] = {1: lambda at, kind, depth: self._structs(at, kind, depth, chunk)}
        whole: dict[int, _Field] = {
            3: self._number(self._rows),
            4: lambda at, kind, depth: self._structs(at, kind, depth, group),
        }
        self._struct(0, 12, 0, whole)
        if len(self._rows) != 1 or len(self._sizes) != len(self._values):
            raise ValueError
        return Declared(self._rows[0], sum(self._values), sum(self._sizes))

    def _number(self, into: list[int]) -> _Field:
        def read(at: int, kind: int, depth: int) -> int:
            del depth
            if kind not in (5, 6):
                raise ValueError
            number, at = self._varint(at)
            into.append((number >> 1) ^ -(number & 1))
            if into[-1] < 0:
                raise ValueError
            return at

        return read

    def _varint(self, at: int) -> tuple[int, int]:
        content, number, shift = self._content, 0, 0
        while True:
            byte = content[at]
            at += 1
            number |= (byte & 127) << shift
            if byte < 128:
                return number, at
            shift += 7
            if shift > 63:
                raise ValueError

    def _struct(self, at: int, kind: int, depth: int, fields: dict[int, _Field]) -> int:
        if kind != 12 or depth > _MOST_DEPTH:
            raise ValueError
        content, field = self._content, 0
        while True:
            header = content[at]
            at += 1
            if header == 0:
                return at
            if header >> 4:
                field += header >> 4
            else:
                number, at = self._varint(at)
                field = (number >> 1) ^ -(number & 1)
            own = fields.get(field)
            at = (own or self._skip)(at, header & 15, depth)

    def _structs(self, at: int, kind: int, depth: int, fields: dict[int, _Field]) -> int:
        if kind != 9:
            raise ValueError
        count, kind, at = self._list(at)
        for _ in range(count):
            at = self._struct(at, kind, depth + 1, fields)
        return at

    def _list(self, at: int) -> tuple[int, int, int]:
        header = self._content[at]
        count, at = (header >> 4, at + 1) if header >> 4 < 15 else self._varint(at + 1)
        if count > len(self._content):  # each takes a byte, at least
            raise ValueError
        return count, header & 15, at

    def _skip(self, at: int, kind: int, depth: int) -> int:
        content = self._content
        if kind in (4, 5, 6):  # whole numbers
            while content[at] > 127:
                at += 1
            return at + 1
        if kind == 8:  # bytes
            length, at = self._varint(at)
            return at + length
        if kind in (1, 2):  # true and false
            return at
        if kind in (3, 7):  # a byte; a double
            return at + (1 if kind == 3 else 8)
        if kind == 12:
            return self._struct(at, kind, depth + 1, {})
        if kind in (9, 10):
            if depth > _MOST_DEPTH:
                raise ValueError
            count, inner, at = self._list(at)
            for _ in range(count):
                at = at + 1 if inner in (1, 2) else self._skip(at, inner, depth + 1)
            return at
        raise ValueError
