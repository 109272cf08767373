"""A small set of digits in MNIST's format, for us and for bsuite."""

from functools import partial

import pytest
from bsuite.utils import datasets
from digit_files import random_digits, write_digits

from langevin_dqn.environments.bsuite import mnist_files


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
