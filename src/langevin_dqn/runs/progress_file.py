"""The progress of a sweep in a small file of its store, which ``langevin-dqn status`` reads."""

import contextlib
import json
import os
import socket
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

NAME = "progress.json"

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
    """The last progress that a sweep wrote; None if nothing can be read."""
    try:
        content = json.loads((folder / NAME).read_text())
        return Progress(**content | {"running": tuple(Running(**run) for run in content["running"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
