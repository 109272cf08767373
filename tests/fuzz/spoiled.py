"""Good files of every kind that the package reads, and ways to spoil them."""

import functools
import gzip
import json
import os
import tempfile
from pathlib import Path

from harness import made_up
from hypothesis import strategies as st

WRONG = [
    None,
    True,
    -1,
    0,
    1.5,
    1e308,
    10**30,
    "",
    "text",
    "\x1b[31m",
    [],
    [1],
    {},
    {"a": 1},
    [[[]]],
    "<b>",
    float("nan"),
    [None],
    "9" * 400,
]

#: Ways to spoil a file: a name and numbers.
spoilings = st.one_of(
    st.tuples(st.just("flip"), st.floats(0, 1), st.integers(0, 7)),
    st.tuples(st.just("flips"), st.lists(st.floats(0, 1), min_size=2, max_size=20), st.integers(0, 7)),
    st.tuples(st.just("cut"), st.floats(0, 1), st.none()),
    st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=20)),
    st.tuples(st.just("repeat"), st.floats(0, 1), st.integers(1, 3)),
    st.tuples(st.just("replace"), st.binary(max_size=60), st.none()),
    st.tuples(st.just("huge"), st.integers(31, 43), st.none()),
    st.tuples(st.sampled_from(["link", "fifo", "folder", "device"]), st.none(), st.none()),
)


def spoil(path, how):
    """Spoil a file in one way; True if its bytes are not what they were."""
    kind, first, second = how
    content = path.read_bytes()
    if kind in ("link", "fifo", "folder", "device"):
        path.unlink()
        {
            "link": lambda: path.symlink_to(path.parents[1] / "outside" / "precious"),
            "fifo": lambda: os.mkfifo(path),
            "folder": path.mkdir,
            "device": lambda: path.symlink_to("/dev/zero"),
        }[kind]()
        return
    if kind == "huge":
        with path.open("r+b") as file:
            file.truncate(2**first)  # a file with a hole: it takes no room
        return
    spoiled = bytearray(content)
    for place in [first] if kind != "flips" else first:
        at = min(int(place * len(spoiled)), len(spoiled) - 1) if isinstance(place, float) else 0
        if kind in ("flip", "flips"):
            spoiled[at] ^= 1 << second
        elif kind == "cut":
            del spoiled[at:]
        elif kind == "insert":
            spoiled[at:at] = second
        elif kind == "repeat":
            spoiled[at:at] = bytes(spoiled[at:]) * second
        else:
            spoiled = bytearray(first)
    path.write_bytes(spoiled)


@st.composite
def wrong_types(draw, content):
    """A JSON object with some values of other types, or without them, or something else altogether."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([*WRONG, "[" * 100_000]))
    changed = dict(content)
    for name in draw(st.lists(st.sampled_from(sorted(content)), min_size=1, max_size=4)):
        if draw(st.booleans()):
            changed[name] = draw(st.sampled_from(WRONG))
        else:
            changed.pop(name, None)
    return changed


def as_text(content):
    return content if isinstance(content, str) and content.startswith("[[") else json.dumps(content)


# -- good files -----------------------------------------------------------------------


@functools.cache
def job():
    from langevin_dqn.runs.runners import Job

    return Job("dqn", "deep_sea:depth=4", 0, 5, preset="paper")


@functools.cache
def stored_run():
    """A run's file: its name in the store, and its bytes."""
    from langevin_dqn.runs.store import Store

    with tempfile.TemporaryDirectory() as folder:
        path = Store(folder).put(job(), made_up(job()))
        return path.relative_to(folder), path.read_bytes()


@functools.cache
def trained():
    """A tiny agent that was trained, and the bytes of its file and of its checkpoint."""
    import langevin_dqn

    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        result = langevin_dqn.train(
            "dqn", "deep_sea:depth=4", episodes=5, hidden=(4,), batch_size=4, preset="paper", keep_agent=True,
            checkpoint=home / "saved", buffer_size=64,
        )  # fmt: skip
        (saved,) = (home / "saved").glob("*.npz")
        return langevin_dqn.save_agent(result, home / "a.npz").read_bytes(), saved.name, saved.read_bytes()


def idx(packed):
    """MNIST's two files with three pictures."""
    images = (2051).to_bytes(4, "big") + b"".join(n.to_bytes(4, "big") for n in (3, 28, 28)) + bytes(3 * 784)
    labels = (2049).to_bytes(4, "big") + (3).to_bytes(4, "big") + bytes([1, 2, 3])
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
    return {
        f"{name}.gz" if packed else name: gzip.compress(content) if packed else content
        for name, content in zip(names, (images, labels), strict=True)
    }


PROGRESS = {
    "what": "compare", "total": 3, "done": 1, "failed": 0, "seconds": 1.5, "seconds_left": None, "ended": False,
    "running": [{"job": "dqn", "episodes": 1, "of": 5}], "written": 1e9, "pid": 1, "host": "here",
}  # fmt: skip
REQUEST = {
    "agent": "dqn", "env": "deep_sea:depth=4", "seeds": "0", "episodes": 5, "steps": None, "updates_per_step": None,
    "preset": "paper", "network": None, "members": None, "set": ["hidden=4"], "stop_when_solved": False, "record": None,
}  # fmt: skip
CLAIM = {"figure": "fig2", "claim": "a", "verdict": "holds"}
