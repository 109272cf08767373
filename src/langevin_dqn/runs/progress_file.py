"""What a sweep is doing now, in a small file of its store, for another terminal to read."""

import contextlib
import json
import os
import socket
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

NAME = "progress.json"

#: Seconds after which a sweep that says nothing is taken for gone.
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
        except PermissionError:  # somebody else's
            pass
        return True


def write(folder: Path, progress: Progress) -> None:
    """Replace the file in one step. It is only for people to read, so failing to write it stops nothing."""
    unfinished = folder / f".{NAME}.{os.getpid()}"
    with contextlib.suppress(OSError):
        unfinished.write_text(json.dumps(asdict(progress)))
        unfinished.replace(folder / NAME)


def read(folder: Path) -> Progress | None:
    """The last thing that a sweep said; None if nothing can be read."""
    try:
        said = json.loads((folder / NAME).read_text())
        return Progress(**said | {"running": tuple(Running(**run) for run in said["running"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
