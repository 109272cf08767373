"""Short runs of every kind come out to the bit as they did when they were committed.

If this fails, the algorithm gives other results than before. If that is what was meant, raise
``ALGORITHM_VERSION`` and write the runs anew: ``python tools/golden_runs.py``.
"""

import copy
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests" / "data" / "golden").glob("*.json"))
sys.path.append(str(ROOT / "tools"))
from golden_runs import FAST, JOBS, SLOW  # noqa: E402

#: Where the processor rounds otherwise: episodes that are compared, and how closely.
FIRST, TOLERANCE = 10, 1e-3


class OtherRounding(UserWarning):
    """This processor, or this version of JAX, rounds otherwise than those the golden runs were made on."""


def differences(found, files):
    """Complaints about runs that came out otherwise than in the file of the same fingerprint, or nearest to it."""
    known = {kept["fingerprint"]: kept for kept in files}
    same_rounding = found["fingerprint"] in known
    if not same_rounding:
        warnings.warn(
            f"golden runs: {found['fingerprint']} is none of {', '.join(known)}; "
            f"only the first {FIRST} episodes are compared, to within {TOLERANCE:g}",
            OtherRounding,
            stacklevel=2,
        )
    kept = known.get(found["fingerprint"], next(iter(known.values())))
    compare = _to_the_bit if same_rounding else _nearly
    return [
        complaint for name, run in found["runs"].items() for complaint in compare(name, run, kept["runs"].get(name))
    ]


def _to_the_bit(name, run, kept):
    """Values are computed by a program of their own, which may round otherwise than the one that trained."""
    if kept is None or kept["job"] != run["job"]:
        return [f"{name}: no such run is committed"]
    found = [f"{name}: other {part}" for part in ("returns", "lengths", "updates") if run[part] != kept[part]]
    values = np.array(kept["values"])
    if not np.allclose(run["values"], values, rtol=0, atol=1e-5 * np.abs(values).max()):
        found.append(f"{name}: other values")
    return found


def _nearly(name, run, kept):
    first, then = (np.array(each["returns"][:FIRST]) for each in (run, kept))
    same = first.shape == then.shape and np.allclose(first, then, rtol=TOLERANCE, atol=TOLERANCE)
    return [] if same else [f"{name}: other returns in the first {FIRST} episodes"]


def read_files():
    return [json.loads(path.read_text()) for path in FILES]


def repeat(names):
    """The runs in a process of their own, because the compiler takes its settings when it starts."""
    words = [sys.executable, ROOT / "tools" / "golden_runs.py", "--print", *(f"--only={name}" for name in names)]
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_short_runs_of_every_kind():
    assert differences(repeat(FAST), read_files()) == []


@pytest.mark.slow
def test_more_short_runs_of_every_kind():
    assert differences(repeat(SLOW), read_files()) == []


def test_every_golden_run_is_committed():
    for kept in read_files():
        assert {name: run["job"] for name, run in kept["runs"].items()} == JOBS
        assert all(len(run["returns"]) == len(run["lengths"]) >= 5 for run in kept["runs"].values())
        assert all(run["updates"] > 100 for run in kept["runs"].values())


def test_the_files_are_named_by_their_fingerprints():
    assert [path.stem for path in FILES] == [kept["fingerprint"] for kept in read_files()] != []


@pytest.mark.parametrize("part", ["returns", "lengths", "updates", "values"])
def test_one_number_that_changed_is_noticed(part):
    (kept, *_) = read_files()
    found = copy.deepcopy(kept)
    run = found["runs"]["boot, lazy, buffers"]
    if part == "updates":
        run[part] += 1
    elif part == "values":
        run[part][3][1] += 1e-4
    else:
        run[part][-1] = float(np.nextafter(np.float32(run[part][-1]), np.float32(9)))
    assert differences(found, [kept]) == [f"boot, lazy, buffers: other {part}"]


def test_another_rounding_is_reported_and_compared_less_closely():
    (kept, *_) = read_files()
    found = copy.deepcopy(kept) | {"fingerprint": "other"}
    run = found["runs"]["sgd, a bandit"]
    run["returns"][3] += 1e-5
    run["returns"][FIRST] += 1
    with pytest.warns(OtherRounding, match="other is none of jax"):
        assert differences(found, [kept]) == []
    run["returns"][3] += 0.1
    with pytest.warns(OtherRounding):
        assert differences(found, [kept]) == [f"sgd, a bandit: other returns in the first {FIRST} episodes"]
