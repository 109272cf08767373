"""The progress of a sweep in a small file of its store, which ``langevin-dqn status`` reads."""

import contextlib
import json
import os
import socket
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from langevin_dqn import files

NAME = "progress.json"

#: No count and no time is larger.
_MOST = 2**53

T = TypeVar("T")

#: Seconds without an update after which a sweep counts as ended.
SILENT = 60.0


@dataclass(frozen=True)
class Running:
    """A run under way."""

    job: str
    episodes: int
    of: int | None


@dataclass(frozen=True)
class Progress:
    """A sweep at one moment.

    ``seconds_left`` is None until a run has ended.
    """

    what: str
    total: int
    done: int
    failed: int
    seconds: float
    seconds_left: float | None
    running: tuple[Running, ...] = ()
    ended: bool = False
    written: float = field(default_factory=time.time)
    pid: int = field(default_factory=os.getpid)
    host: str = field(default_factory=socket.gethostname)

    @property
    def alive(self) -> bool:
        """Whether the sweep still goes on, as far as can be told from here."""
        if self.ended or time.time() - self.written > SILENT:
            return False
        if self.host != socket.gethostname():
            return True
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except (PermissionError, OverflowError):  # somebody else's, or no number of a process
            pass
        return True


def write(folder: Path, progress: Progress) -> None:
    """Replace the file in one step. It is only for people to read, so failing to write it stops nothing."""
    with contextlib.suppress(OSError):
        files.write_text(folder / NAME, json.dumps(asdict(progress)))


def restore(folder: Path, before: Progress | None) -> None:
    """Put back what the file had before a sweep that did not start; without it, remove the file."""
    if before is not None:
        return write(folder, before)
    with contextlib.suppress(OSError):
        (folder / NAME).unlink()


def read(folder: Path) -> Progress | None:
    """The last progress that a sweep wrote; None if nothing can be read."""
    try:
        content = json.loads(files.read_text(folder / NAME))
        running = tuple(_typed(Running, run) for run in content["running"])
        return _typed(Progress, content | {"running": running})
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _typed(kind: type[T], content: dict[str, Any]) -> T:
    """The dataclass of these fields; raises ``TypeError`` or ``ValueError`` where a value is not of its type."""
    if not isinstance(content, dict):
        raise TypeError
    hints = get_type_hints(kind)
    for name, value in content.items():
        wanted = tuple if name == "running" else hints[name]
        if wanted is float:
            wanted = float | int
        elif wanted == float | None:
            wanted = float | int | None
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise TypeError
        if isinstance(value, int | float) and not abs(value) < _MOST:
            raise ValueError
    return kind(**content)
