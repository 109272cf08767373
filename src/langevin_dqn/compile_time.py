"""How long the current thread has spent on compiling: what JAX reports, and waiting for another thread to compile.

A run is made in one thread, so the difference of two readings is what compiling cost the run.
"""

import threading
import time
from collections import defaultdict
from typing import Any

import jax

_PREFIX = "/jax/core/compile/"  # tracing, lowering, and compiling or reading the cache of compiled programs


class _Spent(threading.local):
    seconds = 0.0


_spent = _Spent()

#: Calls under way: by program, how many programs its cache had when each call began.
_under_way: dict[int, list[int]] = defaultdict(list)
_lock = threading.Lock()


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
    but one of them wait. JAX counts a program from the moment at which its compilation begins, so a call waits too
    where another call, still under way, has added one.
    """
    with _lock:
        compiled, others = program._cache_size(), _under_way[id(program)]
        waits = any(before < compiled for before in others)
        others.append(compiled)
    start, reported = time.perf_counter(), _spent.seconds
    try:
        result = program(*arguments)
    finally:
        with _lock:
            others.remove(compiled)
            if not others:
                del _under_way[id(program)]
    if waits or program._cache_size() > compiled:
        _spent.seconds = reported + max(time.perf_counter() - start, _spent.seconds - reported)
    return result
