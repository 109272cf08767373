"""What a command does when Ctrl-C or SIGTERM stops it."""

import contextlib
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

from langevin_dqn import stopping
from langevin_dqn.stopping import Stopped

#: What changes the colour of letters on a terminal.
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


@dataclass
class Stop:
    """Whether a signal has stopped the runs of a command."""

    stopped: Stopped | None = None


@contextlib.contextmanager
def saved_first() -> Iterator[Stop]:
    """While this lasts, the first signal makes runs save and stop, and a second one ends the command at once."""
    stop = Stop()
    with stopping.signals_caught(_announce, stopping.end_at_once):
        try:
            yield stop
        except Stopped as stopped:
            stop.stopped = stopped


def _announce(number: int) -> None:
    del number
    stopping.say("stopping after the runs are saved; press Ctrl-C again to stop without saving")


@contextlib.contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """While this lasts, SIGTERM ends a command that has nothing to save with a line and exit code 143."""

    def end(number: int, frame: FrameType | None) -> None:
        del frame
        stopping.say(f"stopped by {signal.Signals(number).name}; nothing was saved")
        raise Stopped(number)

    setattr(end, stopping.GIVES_WAY, True)
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def plain_warnings() -> None:
    """Show warnings as one line, without a place in the code and without colours, which Gymnasium's have."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {_COLOUR.sub('', str(message))}\n"
