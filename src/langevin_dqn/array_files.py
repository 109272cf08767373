"""Trees of arrays as files: NumPy's .npz, an array for each leaf by its name, and a line of JSON about them.

Nothing is pickled, so a file from elsewhere can do no harm, and NumPy alone can read it. Sizes are known before
anything is read: ``ArrayFile.open`` looks at headers only. A file carries a checksum of its content. Saved agents and
checkpoints are such files.
"""

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import files, machine

_ABOUT, _CHECKSUM = "about", "checksum"
#: The longest line of JSON that is read: bytes.
_MOST_ABOUT = 2**26
#: Arrays in a file, at most.
_MOST_ARRAYS = 100_000
#: Bytes that any file may unpack to, and how many times its own size a larger one may.
_ALWAYS, _MOST_RATIO = 2**28, 50
_BLOCK = 2**20


class Header(NamedTuple):
    """What an array in a file is, and whether it is compressed there."""

    shape: tuple[int, ...]
    dtype: np.dtype
    compressed: bool

    @property
    def size(self) -> int:
        """Bytes of the array in memory."""
        return math.prod(self.shape) * self.dtype.itemsize


@dataclass(frozen=True)
class ArrayFile:
    """A file of which only the headers have been read.

    Attributes:
        path: the file.
        about: its line of JSON.
        headers: its arrays by name.
        checksum: of its content; None for files of version 0.1, which have none.
        links: its path may be a symbolic link.
    """

    path: Path
    about: dict[str, Any]
    headers: dict[str, Header]
    checksum: str | None = None
    links: bool = False

    @classmethod
    def open(cls, path: Path, *, links: bool = False) -> "ArrayFile":
        """Read the headers; raises ``OSError`` if the file cannot be read, ``ValueError`` if it is none of ours.

        A file whose arrays would not fit into memory, or that unpacks to many times its size, is not read either.
        """
        try:
            with _opened(path, links) as file:
                with zipfile.ZipFile(file) as archive:
                    entries = archive.infolist()
                    if len(entries) > _MOST_ARRAYS or len({entry.filename for entry in entries}) < len(entries):
                        raise ValueError
                    headers = {entry.filename.removesuffix(".npy"): _header(archive, entry) for entry in entries}
                _check_sizes(os.fstat(file.fileno()).st_size, headers)
                about = headers.pop(_ABOUT)
                if about.shape != () or about.dtype.kind != "U" or about.size > _MOST_ABOUT:
                    raise ValueError
                content = json.loads(str(_arrays(file, [_ABOUT])[_ABOUT]))
            checksum = content.pop(_CHECKSUM, None)
            if not (checksum is None or isinstance(checksum, str)):
                raise ValueError
        except OSError:
            raise
        except Exception:  # a damaged file may raise anything: zlib's, zipfile's and JSON's errors among them
            raise ValueError(f"{path} is not a file of arrays") from None
        return cls(path, content, headers, checksum, links)

    def load(self) -> dict[str, np.ndarray]:
        """All arrays; raises as ``open`` does, and ``ValueError`` if they are not those that were written."""
        try:
            with _opened(self.path, self.links) as file:
                arrays = _arrays(file, self.headers)
            if self.checksum not in (None, _checksum(self.about, arrays)):
                raise ValueError
        except OSError:
            raise
        except Exception:
            raise ValueError(f"{self.path} is damaged") from None
        return arrays


def _opened(path: Path, links: bool) -> BinaryIO:
    return files.open_regular(path, most=machine.available_memory() or 2**63, links=links)


def _arrays(file: BinaryIO, names: Iterable[str]) -> dict[str, np.ndarray]:
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in names}


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, _, dtype = read(file)
        size = entry.file_size - file.tell()
    header = Header(shape, dtype, entry.compress_type != zipfile.ZIP_STORED)
    if dtype.hasobject or size != header.size:
        raise ValueError
    return header


def _check_sizes(packed: int, headers: Mapping[str, Header]) -> None:
    """Refuse a file that unpacks to more than the memory there is, or to much more than its own size."""
    unpacked = sum(header.size for header in headers.values())
    if unpacked > (machine.available_memory() or math.inf) or unpacked > max(_ALWAYS, _MOST_RATIO * packed):
        raise ValueError


def write(path: Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> None:
    """Write a file under another name and rename it, so that what was there stays until all is written."""
    said = json.loads(json.dumps(about))  # as it will be read
    content = {_ABOUT: np.array(json.dumps({**said, _CHECKSUM: _checksum(said, arrays)})), **arrays}
    save = np.savez_compressed if compressed else np.savez
    with files.replacing(path) as file:
        save(file, **content)  # type: ignore[arg-type]


def _checksum(about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    """Of the line of JSON, and of names, types, shapes and values of all arrays."""
    found = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        found.update(f"\0{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()[:32]


# -- trees ----------------------------------------------------------------------------


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The leaves of a tree by their names, as NumPy can hold them: a random key as its words."""
    return {name: np.asarray(_without_keys(leaf)) for name, leaf in _leaves(tree).items()}


def layout(tree: Any) -> dict[str, tuple[tuple[int, ...], np.dtype]]:
    """Shape and dtype of what ``named_arrays`` gives for a tree of arrays, or of their shapes."""

    def plain(leaf: Any) -> Any:
        return leaf if isinstance(leaf, np.ndarray) else jax.eval_shape(lambda: _without_keys(jnp.empty_like(leaf)))

    return {name: (tuple(plain(leaf).shape), plain(leaf).dtype) for name, leaf in _leaves(tree).items()}


def filled(shapes: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The tree of these shapes with the arrays in their places; an array of NumPy's stays one."""

    def fill(place: Any, leaf: Any) -> jax.Array | np.ndarray:
        if isinstance(leaf, np.ndarray):
            return arrays[jax.tree_util.keystr(place)]
        array = jnp.array(arrays[jax.tree_util.keystr(place)])
        if not _is_key(leaf):
            return array
        return jax.random.wrap_key_data(array, impl=jax.random.key_impl(jnp.empty_like(leaf)))

    return jax.tree_util.tree_map_with_path(fill, shapes)


def _leaves(tree: Any) -> dict[str, Any]:
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree)}


def _is_key(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _without_keys(leaf: Any) -> Any:
    return jax.random.key_data(leaf) if _is_key(leaf) else leaf


def shape_only(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """A place for an array of NumPy's in a tree of shapes; it takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


# -- arrays that end in zeros ---------------------------------------------------------


def without_trailing_zeros(array: np.ndarray) -> np.ndarray:
    """An array made flat, without the zeros at its end: a replay buffer is mostly empty at first."""
    flat = np.ascontiguousarray(array).reshape(-1)
    content = flat.view(np.uint8)  # as bytes: a negative zero is kept
    end = content.size
    while end > 0 and not content[max(end - _BLOCK, 0) : end].any():
        end = max(end - _BLOCK, 0)
    block = content[max(end - _BLOCK, 0) : end]
    used = max(end - _BLOCK, 0) + int(np.flatnonzero(block)[-1]) + 1 if block.size else 0
    return flat[: -(-used // flat.itemsize)]


def with_trailing_zeros(flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """What ``without_trailing_zeros`` was given."""
    array = np.zeros(shape, flat.dtype)
    array.reshape(-1)[: flat.size] = flat
    return array
