"""How long the current thread has spent on compiling: what JAX reports, and waiting for another thread to compile.

A run is made in one thread, so the difference of two readings is what compiling cost the run.
"""

import threading
import time
from typing import Any

import jax

_PREFIX = "/jax/core/compile/"  # tracing, lowering, and compiling or reading the cache of compiled programs


class _Spent(threading.local):
    seconds = 0.0


_spent = _Spent()


def _listen(event: str, duration_secs: float, **_: Any) -> None:
    if event.startswith(_PREFIX):
        _spent.seconds += duration_secs


jax.monitoring.register_event_duration_secs_listener(_listen)


def spent() -> float:
    """Seconds of compiling in this thread, from its beginning."""
    return _spent.seconds


def call(program: Any, *arguments: Any) -> Any:
    """``program(*arguments)`` of a compiled function; if it had to be compiled first, all of the call counts as that.

    A call returns before the program has run. Threads that call the same function share one compilation, for which all
    but one of them wait.
    """
    compiled, start, reported = program._cache_size(), time.perf_counter(), _spent.seconds
    result = program(*arguments)
    if program._cache_size() > compiled:
        _spent.seconds = reported + max(time.perf_counter() - start, _spent.seconds - reported)
    return result
