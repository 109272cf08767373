"""Small sets of digits in MNIST's format."""

import gzip

import numpy as np

from langevin_dqn.environments.bsuite import mnist_files

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
