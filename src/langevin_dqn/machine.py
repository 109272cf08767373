"""This machine: settings that must be made before JAX starts, and what it is."""

import os
import platform
from importlib import metadata
from pathlib import Path


def cache_dir() -> Path:
    """Where compiled programs are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "langevin_dqn"


def prepare() -> None:
    """One thread per program, and a cache of compiled programs, before JAX starts.

    The networks are too small to share between threads: a second core serves a second seed
    better. Anything the user has set stays. Only programs (the command line, the examples)
    call this; a library must not.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if "xla_cpu_multi_thread_eigen" not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false").strip()
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_dir() / "xla"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def describe() -> dict[str, str]:
    """What a result was made with."""
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "jax": metadata.version("jax"),
    }


def memory() -> int | None:
    """Bytes of memory that this machine has; None if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None
