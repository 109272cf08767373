"""A small set of digits in MNIST's format, for us and for bsuite."""

import gzip
from functools import partial

import numpy as np
import pytest
from bsuite.utils import datasets

from langevin_dqn.environments import mnist_files

DIGITS = 300


def idx_bytes(array):
    """An array of bytes as an IDX file: magic number, sizes, data."""
    header = np.array([2048 + array.ndim, *array.shape], ">u4")
    return header.tobytes() + array.astype(np.uint8).tobytes()


def write_digits(folder, *, images, labels, compress=True):
    for name, array in ((mnist_files.IMAGES, images), (mnist_files.LABELS, labels)):
        data = idx_bytes(array)
        path = folder / (f"{name}.gz" if compress else name)
        path.write_bytes(gzip.compress(data, 1) if compress else data)


def random_digits(count=DIGITS, side=28):
    random = np.random.default_rng(5)
    return {"images": random.integers(0, 256, (count, side, side)), "labels": random.integers(0, 10, count)}


@pytest.fixture(scope="session")
def digits_folder(tmp_path_factory):
    """Training files, and the test files that bsuite would otherwise fetch."""
    folder = tmp_path_factory.mktemp("mnist")
    write_digits(folder, **random_digits())
    for name in (mnist_files.IMAGES, mnist_files.LABELS):
        (folder / f"{name.replace('train', 't10k')}.gz").write_bytes((folder / f"{name}.gz").read_bytes())
    return folder


@pytest.fixture
def digits(digits_folder, monkeypatch):
    """Both sides read the small set."""
    monkeypatch.setenv(mnist_files.VARIABLE, str(digits_folder))
    monkeypatch.setattr(datasets, "load_mnist", partial(datasets.load_mnist, directory=str(digits_folder)))
    return digits_folder
