"""MNIST's own files: read as bsuite reads them, and refused with a hint where they are not whole."""

import gzip

import jax.numpy as jnp
import numpy as np
import pytest
from bsuite.environments.mnist import MNISTBandit
from digit_files import DIGITS, idx_bytes, random_digits, write_digits

from langevin_dqn import UserError, make_env
from langevin_dqn.environments.bsuite import mnist_files
from langevin_dqn.environments.bsuite.mnist import over_255


def test_pixels_are_bsuites(digits):
    """Signed bytes: 128 and above turn negative."""
    env, reference = make_env("mnist/0"), MNISTBandit()
    np.testing.assert_array_equal(env.images.reshape(reference._images.shape), reference._images)
    np.testing.assert_array_equal(env.labels, reference._labels)
    assert np.asarray(env.images).min() == -128


def test_every_pixel_is_shown_as_bsuite_shows_it():
    pixels = np.arange(-128, 128).astype(np.int8)
    np.testing.assert_array_equal(over_255(jnp.asarray(pixels)), pixels.astype(np.float32) / 255)


@pytest.mark.parametrize("fraction", [1.0, 0.5, 0.337])
def test_fraction(digits, fraction):
    env, reference = make_env(f"mnist:fraction={fraction}"), MNISTBandit(fraction=fraction)
    np.testing.assert_array_equal(env.images.reshape(reference._images.shape), reference._images)
    np.testing.assert_array_equal(env.labels, reference._labels)


def test_files_without_gz_and_a_folder_as_a_setting(tmp_path, monkeypatch):
    monkeypatch.delenv(mnist_files.VARIABLE, raising=False)
    made = random_digits(count=7, side=5)
    write_digits(tmp_path, **made, compress=False)
    env = make_env(f"mnist:folder={tmp_path}")
    assert env.observation_space.shape == (25,)
    assert env.dense(jnp.zeros(25)).shape == (5, 5)
    np.testing.assert_array_equal(env.images.reshape(7, 5, 5), made["images"].astype(np.uint8).view(np.int8))
    assert make_env(f"mnist_noise:noise_scale=0.1,folder={tmp_path}").num_actions == 10


def test_a_new_copy_of_the_files_is_read(tmp_path):
    write_digits(tmp_path, **random_digits(count=7))
    assert len(make_env(f"mnist:folder={tmp_path}").images) == 7
    write_digits(tmp_path, **random_digits(count=9))
    assert len(make_env(f"mnist:folder={tmp_path}").images) == 9


def test_without_files(monkeypatch):
    monkeypatch.delenv(mnist_files.VARIABLE, raising=False)
    with pytest.raises(UserError) as refused:
        make_env("mnist/0")
    assert mnist_files.IMAGES in refused.value.hint
    assert "--mnist-dir" in refused.value.hint


WHOLE = {"images": np.zeros((DIGITS, 4, 4)), "labels": np.zeros(DIGITS)}
LONG = gzip.compress(idx_bytes(random_digits()["images"]))
BROKEN = {
    "no images": {mnist_files.IMAGES: None},
    "no labels": {mnist_files.LABELS: None},
    "cut short": {mnist_files.IMAGES: idx_bytes(WHOLE["images"])[:-1]},
    "too long": {mnist_files.LABELS: idx_bytes(WHOLE["labels"]) + b"0"},
    "only a header's start": {mnist_files.LABELS: b"\0\0\x08"},
    "empty": {mnist_files.IMAGES: b""},
    "no digits in it": {mnist_files.IMAGES: idx_bytes(np.zeros((0, 4, 4)))},
    "labels as images": {mnist_files.IMAGES: idx_bytes(WHOLE["labels"]) + bytes(8)},
    "compressed, without the name": {mnist_files.LABELS: gzip.compress(idx_bytes(WHOLE["labels"]))},
    "fewer labels": {mnist_files.LABELS: idx_bytes(WHOLE["labels"][1:])},
    "a label of 10": {mnist_files.LABELS: idx_bytes(WHOLE["labels"] + 10)},
    "a download cut short": {mnist_files.IMAGES: None, f"{mnist_files.IMAGES}.gz": LONG[:-1000]},
    "a page instead of a download": {mnist_files.IMAGES: None, f"{mnist_files.IMAGES}.gz": b"<html></html>"},
}


@pytest.mark.parametrize("damage", BROKEN)
def test_broken_files(tmp_path, damage):
    write_digits(tmp_path, **WHOLE, compress=False)
    make_env(f"mnist:folder={tmp_path}")
    for name, data in BROKEN[damage].items():
        (tmp_path / name).unlink() if data is None else (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError) as refused:
        make_env(f"mnist:folder={tmp_path}")
    assert str(tmp_path) in refused.value.message
    assert "MNIST" in refused.value.hint


@pytest.mark.parametrize("env_id", ["mnist:fraction=0", "mnist:fraction=0.001", "mnist:fraction=1.5"])
def test_a_fraction_that_leaves_nothing(digits, env_id):
    with pytest.raises(UserError):
        make_env(env_id)
