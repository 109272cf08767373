"""The MNIST training set from its original files (the IDX format)."""

import gzip
import math
import os
import zlib
from functools import lru_cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import files
from langevin_dqn.errors import UserError

#: Names the folder where no setting does.
VARIABLE = "LANGEVIN_DQN_MNIST"
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
#: Bytes of a file, packed or not: MNIST's images have 47 million.
_MOST = 2**27
_MAGIC = {IMAGES: 2051, LABELS: 2049}


def load(folder: str = "") -> tuple[jax.Array, jax.Array]:
    """Images (int8, as bsuite reads them) and labels (int32), from ``folder`` or the one ``VARIABLE`` names."""
    folder = folder or os.environ.get(VARIABLE, "")
    if not folder:
        raise UserError(
            "MNIST needs its training files",
            f"put {IMAGES} and {LABELS} (or both as .gz) in a folder, and pass it with --mnist-dir or {VARIABLE}",
        )
    paths = [_find(Path(folder).expanduser(), name) for name in (IMAGES, LABELS)]
    return _load(*[(path, path.stat().st_mtime_ns) for path in paths])


@lru_cache(maxsize=1)  # seeds share one copy
def _load(*versions: tuple[Path, int]) -> tuple[jax.Array, jax.Array]:
    (images_path, _), (labels_path, _) = versions
    images, labels = _read(images_path, IMAGES, 3), _read(labels_path, LABELS, 1)
    if len(images) != len(labels):
        raise UserError(
            f"{images_path} has {len(images)} images, {labels_path} {len(labels)} labels",
            "use both files of the same copy of MNIST",
        )
    if labels.max() > 9:
        raise UserError(
            f"{labels_path} has the label {labels.max()}", f"MNIST's labels are digits; download {LABELS} again"
        )
    return jnp.asarray(images.view(np.int8)), jnp.asarray(labels, jnp.int32)


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise UserError(f"{folder} has no {name}", f"put MNIST's {name} or {name}.gz there, or pass another folder")


def _read(path: Path, name: str, dimensions: int) -> np.ndarray:
    """An IDX file of bytes: a magic number, the sizes (big-endian), the data."""
    again = f"download MNIST's {name} again and put it in {path.parent}"
    try:
        with files.open_regular(path, most=_MOST, links=True) as file:
            data = (gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file).read(_MOST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read: {error}", again) from None
    if len(data) > _MOST:
        raise UserError(f"{path} unpacks to more than {_MOST:,} bytes", again)
    header = 4 * (1 + dimensions)
    if len(data) < header:
        raise UserError(f"{path} is incomplete: {len(data)} bytes", again)
    magic, *sizes = (int(word) for word in np.frombuffer(data[:header], ">u4"))
    if magic != _MAGIC[name]:
        raise UserError(f"{path} starts with {magic}, not with {_MAGIC[name]} as an IDX file of this kind", again)
    expected = math.prod(sizes)
    if len(data) - header != expected or expected == 0:
        raise UserError(f"{path} has {len(data) - header} bytes of data, but its header declares {expected}", again)
    return np.frombuffer(data, np.uint8, offset=header).reshape(sizes)
