"""Files of arrays: what comes back is what was written, and sizes are known before anything is read."""

import json
import zipfile

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from langevin_dqn import array_files, keys
from langevin_dqn.array_files import ArrayFile


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((3, 4), np.float32),
        np.arange(12, dtype=np.int32).reshape(3, 4),
        np.array([[1.0, -0.0], [0.0, 0.0]], np.float32),
        np.array([0.0, -0.0, 0.0]),
        np.array(0, np.int32),
        np.array(7, np.uint64),
        np.zeros((0, 3)),
        np.r_[np.ones(5, np.uint8), np.zeros(3 * 2**20, np.uint8)],
        np.r_[np.zeros(2**21, np.uint8), np.uint8(1)],
        np.array([True, False, False]),
    ],
    ids=str,
)
def test_trailing_zeros_come_back(array):
    flat = array_files.without_trailing_zeros(array)
    back = array_files.with_trailing_zeros(flat, array.shape)
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert flat.size == 0 or flat[-1:].tobytes().strip(b"\0")


def test_a_tree_comes_back(tmp_path):
    """Keys, small dtypes and NumPy's own 64 bits, which JAX would cut."""
    tree = {"key": keys.run_key(3), "half": jnp.arange(3, dtype=jnp.bfloat16), "host": [np.array([2**40])]}
    array_files.write(tmp_path / "tree.npz", {"said": "π"}, array_files.named_arrays({"host": tree["host"]}))
    file = ArrayFile.open(tmp_path / "tree.npz")
    assert file.about == {"said": "π"}
    shapes = {"host": [array_files.shape_only((1,), np.int64)]}
    assert array_files.layout(shapes) == {name: (h.shape, h.dtype) for name, h in file.headers.items()}
    assert array_files.filled(shapes, file.load())["host"][0].tolist() == [2**40]
    words = array_files.named_arrays({"key": tree["key"]})
    back = array_files.filled(jax.eval_shape(lambda: {"key": keys.run_key(0)}), words)
    assert jax.random.bits(back["key"]) == jax.random.bits(tree["key"])


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "a.npz"
    array_files.write(path, {}, {"x": np.ones(3)})
    before = path.read_bytes()

    def full(stream, **_):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        array_files.write(path, {}, {"x": np.zeros(3)})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def entry(shape, data=b"", dtype="<f4"):
    """An array's file whose header says more than there is."""
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(118 - 1) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize("kind", ["false header", "objects", "not JSON", "long JSON", "no about", "no zip", "cut"])
def test_what_is_none_of_ours(tmp_path, kind):
    path = tmp_path / "a.npz"
    about = np.array(json.dumps({"a": 1}))
    if kind == "false header":
        np.savez(path, about=about)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("x.npy", entry((10**12,), b"1234"))
    elif kind == "objects":
        np.savez(path, about=about, x=np.array([{}], dtype=object))
    elif kind == "not JSON":
        np.savez(path, about=np.array("{"))
    elif kind == "long JSON":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("about.npy", entry((), bytes(4 * 2**25), f"<U{2**25}"))
    elif kind == "no about":
        np.savez(path, x=np.ones(3))
    elif kind == "no zip":
        path.write_bytes(b"text")
    else:
        np.savez(path, about=about, x=np.ones(3))
        path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="is not a file of arrays"):
        ArrayFile.open(path)


def test_opening_reads_no_array(tmp_path):
    """A file whose arrays are damaged opens; reading them does not."""
    path = tmp_path / "a.npz"
    array_files.write(path, {}, {"x": np.arange(1000.0)})
    content = bytearray(path.read_bytes())
    content[content.index(np.float64(500.0).tobytes())] ^= 1
    path.write_bytes(content)
    file = ArrayFile.open(path)
    with pytest.raises(ValueError, match="is damaged"):
        file.load()
