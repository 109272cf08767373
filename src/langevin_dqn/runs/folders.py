"""Whether a folder can be written to, found out before anything runs."""

import errno
import os
import tempfile
from pathlib import Path

from langevin_dqn.errors import UserError

_REMEDIES = {
    errno.ENOSPC: "make room on the disk",
    errno.EDQUOT: "make room on the disk",
    errno.ENAMETOOLONG: "use a shorter name",
}

#: Bytes written on trial: a full disk still lets an empty file be made.
_TRIAL = 2**16


#: What most file systems allow for a name.
_LONGEST_NAME = 255


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written: by its name, or by its folder."""
    if len(os.fsencode(path.name)) > _LONGEST_NAME:
        raise UserError("the name of the file is too long", f"use at most {_LONGEST_NAME} bytes")
    if path.is_dir():
        raise UserError(f"{path} is a folder", "use the name of a file")
    check_writable(path.absolute().parent)


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


def file_error(error: OSError, folder: Path | None = None) -> UserError:
    """The error that a user sees of a folder that cannot be written to, or of any other file."""
    where = str(error.filename or "a file") if folder is None else str(folder)
    shown = where if len(where) <= 200 else f"{where[:60]}…"
    what = f"cannot {'use' if folder is None else 'write to'} {shown}: {error.strerror or error}"
    return UserError(
        what, _REMEDIES.get(error.errno or 0, "check the path" if folder is None else "use another folder")
    )
