"""This machine: settings that must be made before JAX starts, and what it is."""

import functools
import os
import platform
from importlib import metadata
from pathlib import Path

#: An environment variable: ``off`` keeps no compiled programs between runs.
CACHE_VARIABLE = "LANGEVIN_DQN_CACHE"


#: XLA's option for the width of vectors, in bits.
_WIDTH = "xla_cpu_prefer_vector_width"

#: Seconds of compiling from which a program of a Python process is kept.
_SLOW = 0.2


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
    if keeps_programs():
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache_dir() / "xla"))
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def compiler_options() -> dict[str, str]:
    """Options of the compiler that this package's programs are faster with; what the user has set stays.

    XLA uses half of AVX-512's width unless told otherwise. The option has no effect where vectors are narrower.
    """
    return {} if _WIDTH in os.environ.get("XLA_FLAGS", "") else {_WIDTH: "512"}


def keeps_programs() -> bool:
    """False if the user has switched the cache of compiled programs off."""
    return os.environ.get(CACHE_VARIABLE, "").lower() not in ("off", "0", "no", "false")


def keep_programs() -> None:
    """Keep compiled programs between runs, as the command line does, in a process where JAX may have started.

    Training from Python calls this. A cache that the user has set up stays as it is, and ``LANGEVIN_DQN_CACHE=off``
    leaves JAX alone. JAX has one cache for the whole process, so that slow programs of the caller's own are kept, too.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    its_own = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if its_own is not None or not keeps_programs():
        return
    folder = cache_dir() / "xla"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # nowhere to keep them
        return
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", _SLOW)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    compilation_cache.reset_cache()  # JAX decides once, at the first program that it compiles


def describe() -> dict[str, str]:
    """What a result was made with. Runs with equal ``processor``, ``jax`` and ``jaxlib`` round alike."""
    return {
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "processor": processor(),
        "python": platform.python_version(),
        "jax": metadata.version("jax"),
        "jaxlib": metadata.version("jaxlib"),
    }


#: Vector instructions, the widest first: XLA compiles for the widest that a processor has.
_VECTORS = ("avx512f", "avx2", "avx", "sve", "asimd")


@functools.cache
def processor() -> str:
    """The kind of processor, and its widest vector instructions; as much as decides how a program rounds."""
    every_core = _lines("/proc/cpuinfo")
    lines = every_core[: every_core.index("")] if "" in every_core else every_core
    told = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = told.get("flags", told.get("Features", "")).split()
    numbers = [
        f"{name} {told[field]}" for name, field in (("family", "cpu family"), ("model", "model")) if field in told
    ]
    vectors = [name for name in _VECTORS if name in flags][:1]
    if vectors == ["avx512f"] and compiler_options():
        vectors = ["avx512f in full width"]
    return ", ".join([told.get("model name") or platform.processor() or platform.machine(), *numbers, *vectors])


def memory() -> int | None:
    """Bytes of memory that this machine has; None if it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def available_memory() -> int | None:
    """Bytes of memory that a program can still get: of this machine, or of its container; None if neither says so."""
    found = [size for size in (_free_on_machine(), _free_in_container()) if size is not None]
    return min(found, default=memory())


def _free_on_machine() -> int | None:
    """What Linux estimates can be had without swapping."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    return None


def _free_in_container(folder: str = "/sys/fs/cgroup") -> int | None:
    """The limit of a control group minus what it uses; file caches, which the system can drop, do not count."""
    try:
        limit = int("".join(_lines(f"{folder}/memory.max")))
        used = int("".join(_lines(f"{folder}/memory.current")))
    except ValueError:  # no such files, or no limit: max
        return None
    cached = [int(line.split()[1]) for line in _lines(f"{folder}/memory.stat") if line.startswith("inactive_file ")]
    return max(limit - used + sum(cached), 0)


def _lines(path: str) -> list[str]:
    """A file of the operating system's."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
