"""``langevin-dqn COMMAND``: dispatch, and errors as one line and one hint.

Exit codes: 0 success, 1 a run or a check failed, 2 bad usage or bad input, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

import atexit
import errno
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module

from langevin_dqn.cli.arguments import parse, refuse
from langevin_dqn.cli.stops import ended_by_sigterm, plain_warnings
from langevin_dqn.errors import UserError, unknown
from langevin_dqn.extras import EXTRAS, missing, require
from langevin_dqn.files import RefusedFileError
from langevin_dqn.ids import imports_code
from langevin_dqn.runs.folders import file_error
from langevin_dqn.stopping import Stopped

#: Errors of the operating system that a path can cause.
_FILE_ERRORS = {
    errno.EACCES, errno.EDQUOT, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOENT, errno.ENOSPC,
    errno.ENOTDIR, errno.EPERM, errno.EROFS,
}  # fmt: skip

#: Each command: the module that has its ``Args`` and ``main(args)``, and a line about it.
COMMANDS = {
    "run": ("langevin_dqn.cli.run", "train an agent on an environment, for several seeds"),
    "evaluate": ("langevin_dqn.cli.evaluate", "evaluate saved agents, without exploration or learning"),
    "compare": ("langevin_dqn.cli.compare", "compare agents on environments over several seeds"),
    "bsuite": ("langevin_dqn.cli.bsuite", "run agents on bsuite, score them, and draw radar and bar charts"),
    "reproduce": ("langevin_dqn.cli.reproduce", "run the experiments of the paper's figures, and draw them"),
    "status": ("langevin_dqn.cli.status", "show the progress of a store"),
    "report": ("langevin_dqn.cli.report", "test the paper's claims with stored runs, and draw the figures"),
    "verify": ("langevin_dqn.cli.verify", "check a store: intact files, reproducible runs, written verdicts"),
    "store": ("langevin_dqn.cli.store", "pack a store: one file instead of one for each run"),
    "bench": ("langevin_dqn.cli.bench", "measure the speed of updates, and compare with other packages"),
    "list": ("langevin_dqn.cli.listing", "list agents, presets, environments and fields"),
}

#: Commands that need more than the base installation, and the packages that they need.
NEEDS = {
    "bench": ("matplotlib",),
    "bsuite": ("polars", "matplotlib"),
    "reproduce": ("polars", "scipy", "matplotlib", "jinja2"),
    "report": ("polars", "scipy", "matplotlib", "jinja2"),
    "status": ("polars",),
    "store": ("polars",),
    "verify": ("polars", "scipy"),
}


def usage() -> str:
    lines = [f"  {name:<10} {about}" for name, (_, about) in COMMANDS.items()]
    return "\n".join(
        [
            "usage: langevin-dqn COMMAND [options]",
            "",
            "Langevin DQN: deep exploration by noise in the parameter updates.",
            "",
            *lines,
            "",
            "langevin-dqn COMMAND --help shows the options of a command.",
            "Exit codes: 0 success, 1 a run or a check failed, 2 bad usage or bad input,",
            "130 stopped by Ctrl-C, 143 by SIGTERM. Unfinished runs are saved before they",
            "stop; repeat the command, or use run --resume, to continue.",
        ]
    )


def find_own_modules(argv: Sequence[str]) -> None:
    """Where an option names code to import, look for it in the working directory first, as ``python -m`` does."""
    here = os.getcwd()
    texts = [text for word in argv for text in (word, word.partition("=")[2])]  # --env ID, and --env=ID
    words = [word for text in texts for word in (text, *text.split(","))]  # lists of ids too
    if {"", here}.isdisjoint(sys.path) and any(map(imports_code, words)):
        sys.path.insert(0, here)


def dispatch(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(usage())
        return 0 if argv else 2
    if argv[0] == "--version":
        from langevin_dqn import __version__

        print(__version__)
        return 0
    if argv[0] not in COMMANDS:
        raise unknown("command", argv[0], COMMANDS)
    find_own_modules(argv)
    module = import_module(COMMANDS[argv[0]][0])
    args = parse(module.Args, argv[1:], f"langevin-dqn {argv[0]}")
    require(*NEEDS.get(argv[0], ()))
    return module.main(args)


def _run() -> int:
    """The command's exit code; a package of an extra that is missing is the user's to install."""
    try:
        return dispatch(sys.argv[1:])
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise missing(package) from None


def _end_at_once() -> None:
    """From now on Ctrl-C ends the process without a traceback: the command has printed all it has to say."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Entry point."""
    plain_warnings()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name may hold what the terminal's encoding has not
            stream.reconfigure(errors="backslashreplace")
    try:
        with ended_by_sigterm():
            code = _run()
    except UserError as error:
        code = refuse(error)
    except Stopped as stopped:  # the command has said what is saved
        code = stopped.exit_code
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader of our output has gone
        sys.stdout = io.TextIOWrapper(io.BytesIO())
        code = 0
    except OSError as error:
        if error.errno not in _FILE_ERRORS and not isinstance(error, RefusedFileError):
            raise
        code = refuse(file_error(error))
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = io.TextIOWrapper(io.BytesIO())  # Python would complain of it once more at its end
    except OSError as error:
        code = refuse(file_error(error))
        sys.stdout = io.TextIOWrapper(io.BytesIO())
    atexit.unregister(_end_at_once)
    atexit.register(_end_at_once)  # the last to be registered is the first to be called
    sys.exit(code)


if __name__ == "__main__":
    main()
