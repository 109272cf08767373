"""Ctrl-C and SIGTERM as a request to stop, which training follows between two chunks of episodes, after saving.

Python gives signals to the main thread only, while runs may be in others; so a signal only leaves a request here, and
every run looks for it.
"""

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

#: Signals that ask a run to stop.
SIGNALS = (signal.SIGINT, signal.SIGTERM)

#: An attribute of a handler of SIGTERM that may be replaced while there are runs to save.
GIVES_WAY = "gives_way"

_SHOW_CURSOR = b"\x1b[?25h"

#: Seconds in which a signal that comes twice is the same one: some programs send it to a process and to its group.
_TWICE = 0.5


class Stopped(KeyboardInterrupt):
    """Runs have been stopped by a signal.

    Args:
        number: the signal's.
        saved: the folders of the checkpoints to resume from.
        failed: why a run could not be saved, where that was tried.
    """

    def __init__(self, number: int, saved: tuple[str, ...] = (), failed: tuple[str, ...] = ()):
        super().__init__(number, saved, failed)
        self.number, self.saved, self.failed = number, saved, failed

    @classmethod
    def together(cls, number: int, stops: Iterable["Stopped"]) -> "Stopped":
        """Several runs that the same signal stopped, as one."""
        stops = list(stops)
        saved, failed = (tuple(text for stop in stops for text in getattr(stop, n)) for n in ("saved", "failed"))
        return cls(number, saved, failed)

    def __str__(self) -> str:
        words = f"stopped by {signal.Signals(self.number).name}"
        for folder in self.saved:
            words += f"; the run is saved in {folder}: continue with resume={folder!r}"
        for reason in self.failed:
            words += f"; a run could not be saved: {reason}"
        return words

    @property
    def exit_code(self) -> int:
        """What a shell reports of a program that a signal has ended: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.number


_request: int | None = None


def request(number: int) -> None:
    """Ask all runs in this process to stop."""
    global _request
    _request = number


def requested() -> int | None:
    """The signal that asked to stop; None if none did."""
    return _request


def withdraw() -> None:
    """Withdraw the request to stop."""
    global _request
    _request = None


def raise_at_once(number: int) -> None:
    """Do what a signal does in any Python program, and stop without saving."""
    if number == signal.SIGTERM:
        raise SystemExit(128 + number)
    raise KeyboardInterrupt


def end_at_once(number: int) -> None:
    """End the process without waiting for its threads. Files are renamed when they are whole, so none is damaged."""
    if sys.stderr.isatty():
        os.write(2, _SHOW_CURSOR)  # a progress bar hides it
    say("stopped without saving")
    os._exit(128 + number)


def say(words: str) -> None:
    """Print a line to stderr from within a signal's handler, where Python's streams must not be used."""
    os.write(2, f"\n{words}\n".encode())


@contextmanager
def signals_caught(
    on_first: Callable[[int], None] | None = None, on_second: Callable[[int], None] = raise_at_once
) -> Iterator[bool]:
    """While this lasts, the first signal is a request, and another one calls ``on_second``.

    Gives False, and does nothing, outside of the main thread, where no handler can be set, and where somebody else
    handles Ctrl-C. A shell lets programs in the background ignore Ctrl-C: it stays ignored there, SIGTERM is caught.
    """
    asked = -math.inf

    def handle(number: int, frame: FrameType | None) -> None:
        del frame
        nonlocal asked
        if requested() is not None:
            if time.monotonic() - asked < _TWICE:
                return
            on_second(number)
        asked = time.monotonic()
        request(number)
        if on_first is not None:
            on_first(number)

    ctrl_c, sigterm = (signal.getsignal(number) for number in SIGNALS)
    in_background = ctrl_c is signal.SIG_IGN and (sigterm is signal.SIG_DFL or getattr(sigterm, GIVES_WAY, False))
    if threading.current_thread() is not threading.main_thread() or not (
        in_background or ctrl_c is signal.default_int_handler
    ):
        yield False
        return
    before = {number: signal.signal(number, handle) for number in (SIGNALS[1:] if in_background else SIGNALS)}
    try:
        yield True
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        withdraw()


@contextmanager
def as_python_does() -> Iterator[None]:
    """Signals caught, for a caller that knows nothing of this module.

    A run that has saved and stopped raises what a signal raises in any Python program: ``KeyboardInterrupt`` after
    Ctrl-C, ``SystemExit(143)`` after SIGTERM.
    """
    with signals_caught() as caught:
        try:
            yield
        except Stopped as stopped:
            if not caught:
                raise
            if stopped.number == signal.SIGTERM:
                raise SystemExit(stopped.exit_code) from None
            raise KeyboardInterrupt(str(stopped)) from None
