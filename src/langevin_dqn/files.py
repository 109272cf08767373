"""Files that may come from somebody else, opened with care; and files that are written whole or not at all.

All readers of the package open their files here. Kind and size are known before a byte is read: a FIFO would block, a
device has no end, and a link inside a folder of runs may lead anywhere. All writers that replace a file do it through
``replacing``, which never writes through a link.
"""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

#: The largest text that is read at once: bytes.
MOST_TEXT = 2**26

_OPENED = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


class RefusedFileError(OSError):
    """A file that is not opened, or not read: not a regular one, a link where none is followed, or too large."""


def open_regular(path: str | Path, *, most: int, links: bool = False) -> BinaryIO:
    """Open a file to read its bytes; raises ``OSError`` unless it is a regular file of at most ``most`` bytes.

    Args:
        path: the file.
        most: the largest size, in bytes.
        links: follow a symbolic link: for a file that the user named. What is found inside a folder is not followed.
    """
    _check_kind(path, os.stat(path, follow_symlinks=links).st_mode)
    descriptor = os.open(path, _OPENED | (0 if links else _NO_LINKS))
    try:
        found = os.fstat(descriptor)  # of what was opened: the name may stand for something else by now
        _check_kind(path, found.st_mode)
        if found.st_size > most:
            words = f"it has {found.st_size:,} bytes, and at most {most:,} are read"
            raise RefusedFileError(errno.EFBIG, words, str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check_kind(path: str | Path, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise RefusedFileError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = "a symbolic link, which is not followed here" if stat.S_ISLNK(mode) else "not a regular file"
    raise RefusedFileError(errno.EINVAL, f"it is {kind}", str(path))


def read_text(path: str | Path, *, most: int = MOST_TEXT, links: bool = False) -> str:
    """The text of a file (UTF-8); raises as ``open_regular`` does, and ``UnicodeDecodeError``."""
    with open_regular(path, most=most, links=links) as file:
        return file.read(most + 1).decode("utf-8")


@contextlib.contextmanager
def replacing(path: str | Path, mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """A new file that takes the place of ``path`` in one step, once it is written; else ``path`` stays as it was.

    It is written under a name of its own, so nothing is written through a link that has the name ``path``.

    Args:
        path: the file to replace.
        mode: ``wb`` or ``w``.
        **options: as for ``open``.
    """
    path = Path(path)
    descriptor, unfinished = tempfile.mkstemp(prefix=f".{path.name[:60]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(unfinished, 0o666 & ~_MASK)  # a temporary file is its owner's alone
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)
        raise


def sync_folder(folder: str | Path) -> None:
    """Let new names in a folder outlast a power failure, where the system can: before what they replace is removed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


#: The process's mask of permissions, which can only be read by setting it: not while threads write files.
_MASK = os.umask(0o022)
os.umask(_MASK)


def write_text(path: str | Path, text: str) -> None:
    """Replace a file by this text (UTF-8)."""
    with replacing(path, "w", encoding="utf-8") as file:
        file.write(text)


#: Seconds after which an unfinished file has no writer any more.
_ABANDONED = 3600


def remove_abandoned(folder: str | Path, pattern: str = ".*.tmp") -> None:
    """Remove what writers that were killed left behind in a folder; a living one's file is seconds old.

    Ages are by the clock of the file system: on a network another machine's clock, or one that was set, says nothing.
    """
    with contextlib.suppress(OSError):  # a folder that may only be read, or a full disk
        left = list(Path(folder).glob(pattern))
        if not left:
            return
        with tempfile.TemporaryFile(dir=folder) as file:
            now = os.fstat(file.fileno()).st_mtime
        for path in left:
            with contextlib.suppress(OSError):  # someone else was faster
                if now - path.stat().st_mtime > _ABANDONED:
                    path.unlink()
