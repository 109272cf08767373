"""What a command does when Ctrl-C or SIGTERM stops it."""

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from langevin_dqn import stopping
from langevin_dqn.stopping import Stopped


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


def plain_warnings() -> None:
    """Show warnings as one line, without a place in the code."""
    warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"
