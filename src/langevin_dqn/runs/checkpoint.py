"""Checkpoints of a run in progress: a folder with the last two.

A checkpoint is a file of arrays (``langevin_dqn.array_files``): all that a training loop needs to resume, by name,
and a line of JSON about the run. It is written under another name and renamed. Its name has the number of environment
steps done. The arrays are flat, without the zeros at their ends; their shapes are in the line of JSON. Nothing in them
is compressed.
"""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langevin_dqn import __version__, array_files, files, machine
from langevin_dqn.agents.described import check_same_agent, describe_space
from langevin_dqn.array_files import ArrayFile
from langevin_dqn.environments import Environment, HostEnvironment
from langevin_dqn.errors import UserError
from langevin_dqn.runs.folders import check_writable
from langevin_dqn.version import ALGORITHM_VERSION

#: Of the files; raised when older versions cannot read them any more.
FORMAT = 1
#: Checkpoints that stay in a folder.
KEPT = 2

_NAME = "checkpoint_{:012d}.npz"


class CheckpointError(UserError):
    """A checkpoint from which a run cannot be resumed."""


@dataclass(frozen=True)
class Checkpoints:
    """Where a run is saved, and how often.

    Attributes:
        folder: the folder, of this run alone.
        every: seconds between checkpoints; None to save only when the run is stopped.
        at_end: also save at the end of the run, so that it can be extended.
    """

    folder: Path
    every: float | None = 60.0
    at_end: bool = True

    def files(self) -> list[Path]:
        """The checkpoints that are there, the latest last."""
        return sorted(path for path in self.folder.glob("checkpoint_*.npz") if _steps_of(path) is not None)

    @property
    def steps(self) -> int | None:
        """Environment steps done at the latest checkpoint; None if there is none."""
        files = self.files()
        return _steps_of(files[-1]) if files else None

    def prepare(self) -> None:
        """Find out now whether the folder can be written to."""
        check_writable(self.folder)

    def save(self, about: Mapping[str, Any], tree: Any, steps: int) -> Path:
        """Write one more checkpoint, then remove all but the last two; raises ``OSError`` if that fails."""
        arrays = array_files.named_arrays(tree)
        shapes = {name: array.shape for name, array in arrays.items()}
        flat = {name: array_files.without_trailing_zeros(array) for name, array in arrays.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / _NAME.format(steps)
        array_files.write(path, {**about, "shapes": shapes}, flat)
        for old in self.files()[:-KEPT]:
            old.unlink(missing_ok=True)
        files.remove_abandoned(self.folder, ".checkpoint_*.tmp")
        return path

    def open(self) -> ArrayFile:
        """The latest checkpoint, of which only the headers have been read."""
        files = self.files()
        if not files:
            raise CheckpointError(
                f"{self.folder} contains no checkpoint", "pass the folder that was given to checkpoint= or --checkpoint"
            )
        path = files[-1]
        try:
            file = ArrayFile.open(path)
            _check_headers(file)
            return file
        except OSError as error:
            raise CheckpointError(f"cannot read {path}: {error.strerror or error}", "use another folder") from None
        except ValueError:
            raise damaged(path) from None


def _steps_of(path: Path) -> int | None:
    found = re.fullmatch(r"checkpoint_(\d+)\.npz", path.name)
    return int(found[1]) if found else None


def damaged(path: Path) -> CheckpointError:
    """The error for a file that cannot be what it should."""
    older = [file for file in Checkpoints(path.parent).files() if file < path]
    hint = f"remove it to resume from {older[-1].name}" if older else "start again without resume"
    return CheckpointError(f"{path} is damaged, or is not a checkpoint", hint)


# -- which run it is ------------------------------------------------------------------


def describe_run(
    agent: Any,
    environment: Environment | HostEnvironment,
    *,
    name: str,
    preset: str,
    env: str,
    seed: int,
    record: str | None,
) -> dict[str, Any]:
    """What defines a run, as JSON; its limits are no part of it."""
    return {
        "format": FORMAT,
        "algorithm_version": ALGORITHM_VERSION,
        "package": __version__,
        "agent": name,
        "preset": preset,
        "env": env,
        "seed": seed,
        "record": record,
        "description": agent.describe(),
        "space": describe_space(environment.observation_space),
        "num_actions": environment.num_actions,
        **machine.describe(),
    }


def check_same_run(file: ArrayFile, run: Mapping[str, Any], agent: Any) -> None:
    """Refuse a checkpoint of another run than ``run``."""
    about, path = file.about, file.path
    if about.get("format") != FORMAT:
        raise CheckpointError(
            f"{path} has format {about.get('format')}, and this version reads format {FORMAT}",
            f"resume with langevin-dqn {about.get('package')}, or start again",
        )
    if about.get("algorithm_version") != ALGORITHM_VERSION:
        raise CheckpointError(
            f"{path} was written by version {about.get('algorithm_version')} of the algorithm, this is version "
            f"{ALGORITHM_VERSION}",
            f"resume with langevin-dqn {about.get('package')}, or start again",
        )
    for field in ("env", "seed"):
        if about.get(field) != run[field]:
            raise CheckpointError(
                f"{path} belongs to a run with {field}={about.get(field)}, not {run[field]}",
                f"resume with {field}={about.get(field)}, or use another folder",
            )
    if any(about.get(field) != run[field] for field in ("space", "num_actions")):
        raise CheckpointError(
            f"{path} was saved in a different {run['env']}: observations or actions differ", "use another folder"
        )
    described = about.get("description")
    if not isinstance(described, dict):
        raise damaged(path)
    try:
        check_same_agent(str(path), str(about.get("agent")), described, agent)
    except UserError as error:
        raise CheckpointError(error.message, error.hint) from None
    if about.get("record") != run["record"]:
        how = "with" if about.get("record") else "without"
        raise CheckpointError(f"{path} belongs to a run {how} a record of Q", f"resume {how} record= or --record")


# -- its arrays -----------------------------------------------------------------------


def _check_headers(file: ArrayFile) -> None:
    shapes = file.about.get("shapes")
    if not isinstance(shapes, dict) or shapes.keys() != file.headers.keys():
        raise ValueError
    needed = 0
    for name, header in file.headers.items():
        shape = shapes[name]
        if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError
        size = math.prod(shape)
        if header.compressed or len(header.shape) != 1 or header.shape[0] > size:
            raise ValueError
        needed += size * header.dtype.itemsize
    if needed > (machine.available_memory() or math.inf):
        raise ValueError


def shape_of(file: ArrayFile, name: str) -> tuple[int, ...]:
    """The shape of one of its arrays."""
    return tuple(file.about["shapes"].get(name, ()))


def load(file: ArrayFile, shapes: Any) -> Any:
    """The tree of these shapes, from a file; refused before anything is read if they are not those of the file."""
    expected = {name: (tuple(shape), dtype) for name, (shape, dtype) in array_files.layout(shapes).items()}
    found = {name: (shape_of(file, name), header.dtype) for name, header in file.headers.items()}
    if expected != found:
        raise CheckpointError(
            f"{file.path} does not match this agent and environment",
            "resume with the agent, network and environment it was saved with, or start again",
        )
    try:
        arrays = file.load()
    except (OSError, ValueError):
        raise damaged(file.path) from None
    whole = {name: array_files.with_trailing_zeros(array, expected[name][0]) for name, array in arrays.items()}
    return array_files.filled(shapes, whole)


def fingerprint(environment: Any) -> str:
    """A short text that differs for environments of one class with other numbers."""
    digest = hashlib.sha256()
    for array in array_files.named_arrays(environment).values():
        digest.update(array.tobytes())
    return f"{type(environment).__name__} {digest.hexdigest()[:12]}"
