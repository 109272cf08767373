"""Fault-tolerance test: cause faults, one after the other, and print a table of the outcomes.

kill -9 at random moments (training with checkpoints, sweeps, packing, exports, report writing), a full disk, read-only
folders, two sweeps on one store at once, a clock that is set back, and workers that run out of memory. After each
fault the command is repeated. In the end, the store must have the runs and returns of an undisturbed sweep: none lost,
duplicated or damaged; and a command that fails must say what to do. Otherwise the exit code is 1.

A full disk and a read-only folder are small file systems in memory, which only root can mount. Without root, those rows
say so and count as not tried.

    python tools/faults.py             # 100 kills: half an hour on two cores
    python tools/faults.py --kills 8   # fewer kills
    python tools/faults.py --only "disk"
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import fault_kills
from fault_kills import Row, command

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

RUNS = 12
HUNGRY = '''
import multiprocessing, os, signal
from langevin_dqn import make_env

def make():
    """A bandit whose worker dies as by the system's killer of processes that take too much memory."""
    if multiprocessing.parent_process() is not None and os.path.exists(os.environ["HUNGRY"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return make_env("bandit/1")
'''
#: Python runs this first: from its third look on, the clock is a day back.
CLOCK = """
import itertools, time
now, looks = time.time, itertools.count()
time.time = lambda: now() - (86400 if next(looks) > 2 else 0)
"""


@dataclass
class Args:
    """Cause faults, and check what they leave."""

    kills: int = 100
    """Total number of kills."""
    only: str = ""
    """Only the rows whose name contains this text."""
    seed: int = 0
    """Random seed, which decides the moments."""


class Bench:
    """A folder to work in, and the store of a sweep that was left alone."""

    def __init__(self, root: Path):
        self.root = root
        self.alone = root / "alone"

    def compare(
        self, store: Path, *more: str, runs: int = RUNS, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess:
        words = self.words(store, *more, runs=runs)
        return subprocess.run(words, capture_output=True, text=True, env=env, check=False)

    def words(self, store: Path, *more: str, runs: int = RUNS) -> list[str]:
        small = [f"--set={text}" for text in ("hidden=4,4", "batch_size=4", "buffer_size=100")]
        what = ["--agents=dqn", "--env=bandit/0", f"--seeds=0-{runs - 1}", "--episodes=20", f"--store={store}"]
        return command("compare", *what, *small, "--runner=processes", "--workers=2", "--json", *more)

    def prepare(self) -> None:
        if not self.alone.is_dir():
            self.compare(self.alone).check_returncode()

    def problems(self, store: Path) -> list[str]:
        """What a store has otherwise than one that was left alone."""
        from langevin_dqn.runs.store import Store

        expected, opened = Store(self.alone).load(afresh=True), Store(store)
        found = opened.load(afresh=True)
        if found.is_empty():
            return ["no run is left"]
        columns = ["key", "returns", "lengths"]
        kept = found.filter(found["key"].is_in(expected["key"].to_list()))
        said = [f"{expected.height - kept.height} lost"] if kept.height < expected.height else []
        said += ["one is double"] if found["key"].n_unique() < found.height else []
        said += [f"{len(opened.damaged)} damaged"] if opened.damaged else []
        both = expected.filter(expected["key"].is_in(kept["key"].to_list()))
        return said + ([] if kept.select(columns).equals(both.select(columns)) else ["other returns"])


@contextlib.contextmanager
def small_disk(root: Path, size: str) -> Iterator[Path]:
    """A file system in memory; raises ``PermissionError`` where it cannot be mounted."""
    folder = root / "disk"
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode:
        raise PermissionError
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


def last_lines(done: subprocess.CompletedProcess) -> str:
    """What a command said to the user at its end."""
    lines = [line for line in done.stderr.splitlines() if line.startswith(("error:", "hint:", "warning:"))]
    return " · ".join(lines[-2:]) if lines else "nothing"


def refused(done: subprocess.CompletedProcess, *words: str) -> bool:
    """Bad input, said so with a hint, and no traceback."""
    return (
        done.returncode == 2
        and "hint:" in done.stderr
        and "Traceback" not in done.stderr
        and all(word in done.stderr for word in words)
    )


# -- disks ----------------------------------------------------------------------------


def full_disk_in_a_sweep(bench: Bench) -> Row:
    """The disk fills while runs are stored; with more room the same command goes on."""
    bench.prepare()
    with small_disk(bench.root, "164k") as disk:
        first = bench.compare(disk / "store")
        stored = len(list(disk.glob("store/v*/*.parquet")))
        damaged = [words for words in bench.problems(disk / "store") if "lost" not in words] if stored else []
        remount(disk, "size=20m")
        second = bench.compare(disk / "store")
        problems = damaged + bench.problems(disk / "store")
    good = refused(first, "make room") and 0 < stored < RUNS and second.returncode == 0 and not problems
    return Row("disk full, sweep", 1, f"{stored} of {RUNS} stored, then {last_lines(first)}; after a repeat: "
               f"{'; '.join(problems) or 'all there'}", good)  # fmt: skip


def full_disk_from_the_start(bench: Bench) -> Row:
    """Every output on a disk without room is refused before anything runs."""
    with small_disk(bench.root, "64k") as disk:
        (disk / "filler").write_bytes(bytes(56 * 1024))
        return _all_refused("disk full, outputs of run and bench", outputs(disk), "make room")


def full_disk_while_training(bench: Bench) -> Row:
    """Checkpoints cannot be written any more: a warning, and the same returns."""
    words = ["run", "--agent=dqn", "--env=deep_sea:depth=4", "--episodes=3000", "--json", "--returns"]
    words += ["--set=hidden=4,4", "--set=batch_size=4", "--set=buffer_size=100", "--checkpoint-every=0.1"]
    alone = subprocess.run(command(*words), capture_output=True, text=True, check=True)
    with small_disk(bench.root, "76k") as disk:
        done = subprocess.run(
            command(*words, f"--checkpoint={disk / 'c'}"), capture_output=True, text=True, check=False
        )
    texts = [one.stdout.partition('"returns"')[2].partition("]")[0] for one in (alone, done)]
    good = done.returncode == 0 and texts[0] == texts[1] != "" and "cannot save the run" in done.stderr
    return Row("disk full, checkpoints", 1, f"{last_lines(done)}; returns {'equal' if good else 'DIFFER'}", good)


def read_only(bench: Bench) -> list[Row]:
    """Outputs are refused before anything runs; a store can still be read."""
    bench.prepare()
    with small_disk(bench.root, "20m") as disk:
        subprocess.run(["cp", "-r", bench.alone, disk / "store"], check=True)
        remount(disk, "ro")
        written = _all_refused("read-only folder, outputs of run and bench", outputs(disk), "Read-only")
        words = {name: command(name, f"--store={disk / 'store'}") for name in ("status", "verify")}
        words["compare"] = bench.words(disk / "store")
        read = {name: subprocess.run(one, capture_output=True, text=True, check=False) for name, one in words.items()}
        said = [f"{name} exits with {done.returncode}" for name, done in read.items()]
        good = [read[name].returncode for name in ("status", "verify")] == [0, 0] and refused(read["compare"])
        return [
            written,
            Row("read-only store", len(words), ", ".join(said), good and not bench.problems(disk / "store")),
        ]


def outputs(folder: Path) -> dict[str, list[str]]:
    """Commands that write into a folder, by option."""
    run = ["run", "--agent=dqn", "--env=bandit/0", "--episodes=20"]
    cases = {name: [*run, f"--{name}={folder / name}"] for name in ("store", "bsuite-csv", "save", "checkpoint", "log")}
    return cases | {"plot": [*run, f"--plot={folder / 'a.png'}"], "bench": ["bench", f"--out={folder / 'a.json'}"]}


def _all_refused(fault: str, cases: dict[str, list[str]], *words: str) -> Row:
    wrong, last = [], ""
    for name, case in cases.items():
        done = subprocess.run(command(*case), capture_output=True, text=True, check=False)
        last = last_lines(done)
        if not refused(done, *words):
            wrong.append(f"{name}: exit code {done.returncode}, {last}")
    return Row(fault, len(cases), "; ".join(wrong) or f"all refused first: {last}", not wrong)


# -- others ---------------------------------------------------------------------------


def two_sweeps(bench: Bench) -> Row:
    """The same command twice at once, on one store."""
    bench.prepare()
    store = bench.root / "shared"
    both = [
        subprocess.Popen(bench.words(store), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in "ab"
    ]
    said = [process.communicate() for process in both]
    problems = bench.problems(store) + [f"exit code {p.returncode}" for p in both if p.returncode]
    problems += [] if said[0][0] == said[1][0] else ["other tables"]
    left = [path.name for path in store.rglob("*.tmp")]
    return Row(
        "two sweeps on one store", 1, "; ".join(problems + left) or "all there, both tables equal", not problems + left
    )


def clock_set_back(bench: Bench) -> Row:
    """Half of the runs are a day in the future, and the clock goes back while the others run."""
    bench.prepare()
    store, site = bench.root / "back", bench.root / "site"
    subprocess.run(["cp", "-r", bench.alone, store], check=True)
    for number, path in enumerate(sorted(store.glob("v*/*.parquet"))):
        path.unlink() if number % 2 else os.utime(path, (path.stat().st_mtime + 86_400,) * 2)
    (store / "v2" / ".new.tmp").write_bytes(b"another writer's")
    site.mkdir()
    (site / "sitecustomize.py").write_text(CLOCK)
    env = os.environ | {"PYTHONPATH": f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = bench.compare(store, env=env)
    status = subprocess.run(command("status", f"--store={store}"), capture_output=True, text=True, env=env, check=False)
    problems = bench.problems(store) + [f"exit code {one.returncode}" for one in (done, status) if one.returncode]
    problems += [] if (store / "v2" / ".new.tmp").exists() else ["the file of another writer was removed"]
    return Row("clock set back a day", 1, "; ".join(problems) or "all there", not problems)


def out_of_memory(bench: Bench) -> Row:
    """Workers of one environment are killed each time; the other runs are stored all the same."""
    bench.prepare()
    (bench.root / "hungry.py").write_text(HUNGRY)
    (bench.root / "hungry").touch()
    env = os.environ | {"HUNGRY": str(bench.root / "hungry")}
    env["PYTHONPATH"] = f"{bench.root}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    store, also = bench.root / "store", "--env=jax:hungry:make"
    first = bench.compare(store, also, runs=2, env=env)
    stored = len(list(store.glob("v*/*.parquet")))
    problems = [words for words in bench.problems(store) if "lost" not in words]
    (bench.root / "hungry").unlink()
    second = bench.compare(store, also, runs=2, env=env)
    after = len(list(store.glob("v*/*.parquet")))
    told = [line.partition(": ")[2] for line in first.stderr.splitlines() if line.startswith("failed:")]
    good = first.returncode == 1 and stored == 2 and len(told) == 2 and "fewer workers" in told[0] and not problems
    good = good and second.returncode == 0 and after == 4
    words = f"{stored} of 2 others stored, then {told[-1] if told else 'nothing'}; after a repeat: {after} of 4 stored"
    return Row("worker out of memory", 8, words, good)


def main(args: Args) -> int:
    machine.prepare()
    fifth = args.kills // 5
    rest = args.kills - 4 * fifth
    cases: dict[str, Callable[[Bench], Row | list[Row]]] = {
        "kill training": lambda bench: fault_kills.training(bench.root, fifth, args.seed),
        "kill sweep": lambda bench: fault_kills.sweep(bench.root, fifth, args.seed),
        "kill packing": lambda bench: fault_kills.writers("packing", bench.root, fifth, args.seed),
        "kill exports": lambda bench: fault_kills.writers("exports", bench.root, fifth, args.seed),
        "kill report writing": lambda bench: fault_kills.writers("report writing", bench.root, rest, args.seed),
        "disk full sweep": full_disk_in_a_sweep,
        "disk full outputs": full_disk_from_the_start,
        "disk full checkpoints": full_disk_while_training,
        "read-only": read_only,
        "two sweeps": two_sweeps,
        "clock": clock_set_back,
        "memory": out_of_memory,
    }
    failed = False
    print("| fault | times | what came of it | |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as root:
        for name, case in cases.items():
            if args.only not in name:
                continue
            bench = Bench(Path(root) / name.replace(" ", "_"))
            bench.root.mkdir()
            bench.alone = Path(root) / "alone"
            try:
                rows = case(bench)
            except PermissionError:
                rows = Row(name, 0, "not tried: mounting needs root", True)
            for row in rows if isinstance(rows, list) else [rows]:
                failed |= not row.good
                print(f"| {row.fault} | {row.times} | {row.outcome} | {'ok' if row.good else 'FAILED'} |", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
