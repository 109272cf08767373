"""Whether a folder can be written to, found out before anything runs."""

import os
import tempfile
from pathlib import Path

from langevin_dqn.errors import UserError

#: Bytes written on trial: a full disk still lets an empty file be made.
_TRIAL = 2**16


def check_writable(folder: Path) -> None:
    """Make the folder, and refuse one that cannot be written to, or whose disk is full."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIAL))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror or error}", "use another folder") from None
