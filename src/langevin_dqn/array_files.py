"""Trees of arrays as files: NumPy's .npz, an array for each leaf by its name, and a line of JSON about them.

Nothing is pickled, so a file from elsewhere can do no harm, and NumPy alone can read it. Sizes are known before
anything is read: ``ArrayFile.open`` looks at headers only. Saved agents and checkpoints are such files.
"""

import json
import os
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

_ABOUT = "about"
#: The longest line of JSON that is read: bytes.
_MOST_ABOUT = 2**26
_BLOCK = 2**20


class Header(NamedTuple):
    """What an array in a file is, and whether it is compressed there."""

    shape: tuple[int, ...]
    dtype: np.dtype
    compressed: bool


@dataclass(frozen=True)
class ArrayFile:
    """A file of which only the headers have been read.

    Attributes:
        path: the file.
        about: its line of JSON.
        headers: its arrays by name.
    """

    path: Path
    about: dict[str, Any]
    headers: dict[str, Header]

    @classmethod
    def open(cls, path: Path) -> "ArrayFile":
        """Read the headers; raises ``OSError`` if the file cannot be read, ``ValueError`` if it is none of ours."""
        try:
            with zipfile.ZipFile(path) as archive:
                headers = {entry.filename.removesuffix(".npy"): _header(archive, entry) for entry in archive.infolist()}
            about = headers.pop(_ABOUT)
            if about.shape != () or about.dtype.kind != "U" or about.dtype.itemsize > _MOST_ABOUT:
                raise ValueError
            with np.load(path, allow_pickle=False) as file:
                content = json.loads(str(file[_ABOUT]))
            if not isinstance(content, dict):
                raise ValueError
        except OSError:
            raise
        except Exception:  # a damaged file may raise anything: zlib's, zipfile's and JSON's errors among them
            raise ValueError(f"{path} is not a file of arrays") from None
        return cls(path, content, headers)

    def load(self, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
        """The arrays of these names, or all; raises as ``open`` does."""
        try:
            with np.load(self.path, allow_pickle=False) as file:
                return {name: file[name] for name in (self.headers if names is None else names)}
        except OSError:
            raise
        except Exception:
            raise ValueError(f"{self.path} is damaged") from None


def _header(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    with archive.open(entry) as file:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, _, dtype = read(file)
        size = entry.file_size - file.tell()
    if dtype.hasobject or size != dtype.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError
    return Header(shape, dtype, entry.compress_type != zipfile.ZIP_STORED)


def write(path: Path, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray], *, compressed: bool = False) -> None:
    """Write a file under another name and rename it, so that what was there stays until all is written."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    save = np.savez_compressed if compressed else np.savez
    try:
        with unfinished.open("wb") as file:
            save(file, **{**arrays, _ABOUT: np.array(json.dumps(about))})  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


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
