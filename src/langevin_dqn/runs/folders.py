"""Whether a file or a folder can be written, found out before anything runs; and what is said if it cannot."""

import errno
import os
import re
import tempfile
from pathlib import Path

from langevin_dqn.errors import UserError

_ROOM = "make room on the disk"
_REMEDIES = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.ENAMETOOLONG: "use a shorter name",
}

#: Bytes written on trial: a full disk still lets an empty file be made.
_TRIAL = 2**16

#: What most file systems allow for a name.
_LONGEST_NAME = 255


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written: by its name, by what is there, or by its folder."""
    if len(os.fsencode(path.name)) > _LONGEST_NAME:
        raise UserError("the name of the file is too long", f"use at most {_LONGEST_NAME} bytes")
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder", "use the name of a file")
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a regular file", "use another name")
    except OSError as error:  # a name in the middle of the path is too long, or there are too many links
        raise file_error(error, path) from None
    check_writable(path.absolute().parent)


def check_no_link(path: Path) -> None:
    """Refuse a symbolic link inside a folder of runs: what it leads to would be written to."""
    if path.is_symlink():
        raise UserError(f"{path} is a symbolic link", "use the folder that it leads to, or remove the link")


def check_writable(folder: Path) -> None:
    """Make the folder, and refuse one that cannot be written to, or whose disk is full."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise file_error(error, folder) from None


def file_error(error: Exception, path: Path | None = None, remedy: str | None = None) -> UserError:
    """The error that a user sees of a file or folder that cannot be written, or of any other file.

    Args:
        error: the operating system's, or that of a package which has its own for it.
        path: where something was to be written.
        remedy: what to do about a full disk.
    """
    number, words = error_number(error), getattr(error, "strerror", None)
    where = str(getattr(error, "filename", None) or "a file") if path is None else str(path)
    shown = where if len(where) <= 200 else f"{where[:60]}…"
    reason = words or (os.strerror(number) if number else " ".join(str(error).split())[:200])
    hint = _REMEDIES.get(number, "check the path" if path is None else "use another folder")
    if hint == _ROOM and remedy is not None:
        hint = remedy
    return UserError(f"cannot {'use' if path is None else 'write to'} {shown}: {reason}", hint)


def error_number(error: Exception) -> int:
    """The operating system's number of an error; polars has it only in its words."""
    number = getattr(error, "errno", None)
    found = None if number else re.search(r"\(os error (\d+)\)", str(error))
    return int(found[1]) if found else number or 0
