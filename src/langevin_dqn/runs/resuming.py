"""From a checkpoint to the state from which a training loop resumes."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import jax

from langevin_dqn.array_files import ArrayFile, shape_only
from langevin_dqn.environments import Environment, HostEnvironment
from langevin_dqn.errors import UserError, path_or_name
from langevin_dqn.loops import compiled, host, replaying
from langevin_dqn.loops.capacity import exact_room, rounded_room, rounded_steps
from langevin_dqn.runs import checkpoint
from langevin_dqn.runs.checkpoint import CheckpointError, Checkpoints


@dataclass(frozen=True)
class Earlier:
    """What a run had done before it was stopped.

    Attributes:
        file: the checkpoint it is resumed from; None for a new run.
        seconds: it had taken, without compiling.
        compile_seconds: those for compiling.
        ended: it had come to its end.
        stopped_itself: ``stop_when`` had ended it.
    """

    file: ArrayFile | None = None
    seconds: float = 0.0
    compile_seconds: float = 0.0
    ended: bool = False
    stopped_itself: bool = False


def open_earlier(where: Checkpoints, run: dict[str, Any], agent: Any) -> Earlier:
    """The latest checkpoint in a folder, if it is of this run."""
    file = where.open()
    checkpoint.check_same_run(file, run, agent)
    seconds, compiling = (file.about.get(name) for name in ("seconds", "compile_seconds"))
    if not (_is_duration(seconds) and _is_duration(compiling)):
        raise checkpoint.damaged(file.path)
    if file.about.get("rounded") is not True:  # earlier versions counted compiling
        seconds = max(seconds - compiling, 0.0)
    ended, stopped_itself = (file.about.get(name) is True for name in ("ended", "stopped_itself"))
    return Earlier(file, seconds, compiling, ended, stopped_itself)


def find_checkpoints(
    checkpoint: Any, resume: str | Path | None, every: float
) -> tuple[Checkpoints | None, Checkpoints | None]:
    """Where a run is to be saved, and what it is resumed from.

    ``resume`` alone saves to the same folder. With the same folder for both, the run is resumed if there is a
    checkpoint. A folder that contains a checkpoint is refused for a new run.
    """
    if isinstance(every, bool) or not isinstance(every, int | float) or not every > 0:
        raise UserError(f"checkpoint_every={every!r} is out of range", "it is a number of seconds above 0")
    earlier = None if resume is None else Checkpoints(Path(path_or_name("resume", resume)), every)
    if not isinstance(checkpoint, Checkpoints | None):
        checkpoint = Checkpoints(Path(path_or_name("checkpoint", checkpoint)), every)
    where = checkpoint
    where = earlier if where is None else where
    if earlier is not None and where is not None and where.folder == earlier.folder:
        if checkpoint is not None and not earlier.files():
            earlier = None
    elif where is not None and where.files():
        raise UserError(
            f"{where.folder} already contains a checkpoint",
            "resume from it with resume= or --resume, or use another folder",
        )
    return where, earlier


def compiled_run(
    file: ArrayFile,
    agent: Any,
    environment: Environment,
    key: jax.Array,
    *,
    episodes: int | None,
    steps: int | None,
    records: bool,
) -> compiled.Carry:
    """The state from which the compiled loop resumes, for the current limits."""
    most, planned = file.about.get("most"), file.about.get("steps")
    if not _is_count(most) or not (planned is None or _is_count(planned)):
        raise checkpoint.damaged(file.path)
    assert most is not None
    rounded = file.about.get("rounded") is True  # earlier versions made room for the limits and no more
    room = (rounded_room if rounded else exact_room)(environment, most, planned)
    carry = checkpoint.load(file, compiled.layout(agent, environment, key, room, records))
    now = compiled.most_episodes(episodes, steps)
    if rounded and (now, steps) == (most, planned):
        return carry
    return compiled.refitted(agent, environment, key, carry, now, steps)


def host_run(
    file: ArrayFile,
    agent: Any,
    environment: HostEnvironment,
    key: jax.Array,
    *,
    name: str,
    seed: int,
    episodes: int | None,
    steps: int | None,
) -> host.HostRun:
    """The state from which the loop on the host resumes, after the environment has been restored."""
    planned = file.about.get("steps")
    if not (planned is None or _is_count(planned)):
        raise checkpoint.damaged(file.path)
    rounded = file.about.get("rounded") is True
    room = rounded_steps(environment.observation_space, planned) if rounded else planned
    shapes = host.empty_run(host.layout(agent, environment, key, room))
    returns, lengths, actions = (_any_length(file, name) for name in ("returns", "lengths", "actions"))
    if returns != lengths:
        raise checkpoint.damaged(file.path)
    own = {inner: entry for entry in file.headers if (inner := _inner(entry)) is not None}
    if own and not hasattr(environment, "load_state"):
        raise CheckpointError(
            f"{file.path} contains the state of the environment, but {name} has no load_state",
            "resume with the same version of the environment, or start again",
        )
    shapes = shapes._replace(
        returns=shape_only((returns,), shapes.returns.dtype),
        lengths=shape_only((lengths,), shapes.lengths.dtype),
        actions=shape_only((actions,), shapes.actions.dtype),
        environment={
            inner: shape_only(checkpoint.shape_of(file, entry), file.headers[entry].dtype)
            for inner, entry in own.items()
        },
    )
    run = host.refitted(agent, environment, key, checkpoint.load(file, shapes), episodes, steps)
    return replaying.restored(environment, name, seed, agent, run)


def _any_length(file: ArrayFile, name: str) -> int:
    shape = checkpoint.shape_of(file, f".{name}")
    if len(shape) != 1:
        raise checkpoint.damaged(file.path)
    return shape[0]


def _inner(entry: str) -> str | None:
    """The name that an environment gave an array of its own."""
    start, end = ".environment['", "']"
    return entry[len(start) : -len(end)] if entry.startswith(start) and entry.endswith(end) else None


def _is_duration(value: Any) -> TypeGuard[float]:
    return isinstance(value, float) and math.isfinite(value)


def _is_count(value: Any) -> bool:
    return type(value) is int and 1 <= value < 2**31
