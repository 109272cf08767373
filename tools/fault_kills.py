"""kill -9 at random moments: over training with checkpoints, a sweep, packing, exports, and writing reports.

``faults.py`` calls these and prints their rows. As a script, this is the process that is killed: it writes files
again and again, so that most kills fall into writing.
"""

import itertools
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import kill_sweep

RESULTS = Path(__file__).parents[1] / "results"
#: As in ``langevin-dqn run``; two sizes, so that a file of one is never a part of the other.
EPISODES = (40, 60)
#: Runs of the store that is packed.
PACKED = 40


class Row(NamedTuple):
    """A line of the table: what was done, how often, what came of it, and whether that is all right."""

    fault: str
    times: int
    outcome: str
    good: bool


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "langevin_dqn.cli.main", *map(str, words)]


# -- training -------------------------------------------------------------------------


def training(root: Path, kills: int, seed: int) -> Row:
    """A run that saves itself five times a second is killed, and resumed by the next command."""
    words = ["run", "--agent", "langevin_dqn", "--env", "deep_sea:depth=5", "--episodes", max(600 * kills, 6000)]
    words += ["--set", "hidden=8,8", "--set", "batch_size=8", "--set", "buffer_size=1000", "--checkpoint-every", 0.2]
    words += ["--json", "--returns"]
    alone = _run(command(*words, "--checkpoint", root / "alone"))
    rng, done, code = random.Random(seed), 0, None
    output, begun = root / "output", root / "killed" / "seed_0"
    while code != 0:
        files = sorted(begun.glob("checkpoint_*.npz"))
        again = ["run", "--resume", root / "killed", "--json", "--returns", "--checkpoint-every", 0.2]
        first = [*words, "--checkpoint", root / "killed"]
        with output.open("w") as file:
            process = subprocess.Popen(command(*(again if files else first)), stdout=file, stderr=subprocess.DEVNULL)
        if done < kills:
            wait_until(lambda before=files: sorted(begun.glob("checkpoint_*.npz")) != before, process)
            time.sleep(rng.uniform(0, 0.3))
            if process.poll() is None:
                process.kill()
                done += 1
        code = process.wait()
    same = [json.loads(text)["returns"] for text in (alone, output.read_text())]
    good = same[0] == same[1] and done > 0
    return Row("kill -9, training with checkpoints", done, f"returns {'equal' if good else 'DIFFER'}", good)


def _run(words: list[str]) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def wait_until(done: Callable[[], bool], process: subprocess.Popen, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not done() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.002)


# -- a sweep --------------------------------------------------------------------------


def sweep(root: Path, kills: int, seed: int) -> Row:
    """Driver, workers and the driver while it writes, as ``kill_sweep.py`` does."""
    args = kill_sweep.Args(kills=kills, runs=max(24, 4 * kills), episodes=100, seed=seed)
    report = kill_sweep.checked(args, root)
    words = ", ".join(
        f"{report[name]} {name.replace('_', ' ')}" for name in ("lost", "foreign", "stored_twice", "damaged")
    )
    return Row("kill -9, sweep in processes", kills, f"{words}, returns {'equal' if report['same'] else 'DIFFER'}",
               report["same"] and report["exit_code"] == 0)  # fmt: skip


# -- packing, exports and reports -------------------------------------------------------


def writers(kind: str, root: Path, kills: int, seed: int) -> Row:
    """A process that writes files over and over is killed; what is there must be whole each time."""
    rng, broken, left = random.Random(seed), [], 0
    for number in range(kills):
        words = [sys.executable, __file__, kind, str(root)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()  # it has written once
        time.sleep(rng.uniform(0, 0.5))
        process.kill()
        process.wait()
        process.stdout.close()
        broken += [f"{number}: {words}" for words in CHECKS[kind](root)]
        left = sum(1 for path in root.rglob("*.tmp"))
    words = f"{len(broken)} files broken, {left} unfinished files under other names"
    return Row(f"kill -9, {kind}", kills, "; ".join([words, *broken[:3]]), not broken)


def _results():
    from langevin_dqn import train

    small = {"hidden": (4, 4), "batch_size": 4, "buffer_size": 100}
    return [train("dqn", "bandit/0", seed=1, episodes=count, keep_agent=True, **small) for count in EPISODES]


def write_exports(root: Path) -> None:
    """CSV for bsuite, a trained agent, a stored run, in two versions that take turns."""
    from langevin_dqn.analysis.bsuite_log import write_csv
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.runs.store import Store
    from langevin_dqn.saved_agent import save_agent

    store, job = Store(root / "store"), Job("dqn", "bandit/0", 1, 40)
    for number, result in enumerate(itertools.cycle(_results())):
        write_csv(result, root / "csv")
        save_agent(result, root / "agent.npz")
        store.put(job, result)
        if number == 1:
            print("written", flush=True)


def check_exports(root: Path) -> list[str]:
    import polars as pl

    from langevin_dqn.analysis.bsuite_log import csv_path
    from langevin_dqn.environments.bsuite.sweeps import logged_episodes
    from langevin_dqn.errors import UserError
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.runs.store import Store
    from langevin_dqn.saved_agent import load_agent

    broken = []
    rows = pl.read_csv(csv_path(root / "csv", "bandit/0"))
    if rows["episode"].to_list() not in [logged_episodes(count).tolist() for count in EPISODES]:
        broken.append("the CSV file is cut short")
    try:
        load_agent(root / "agent.npz")
    except UserError as error:
        broken.append(error.message)
    result = Store(root / "store").get(Job("dqn", "bandit/0", 1, 40))
    if result is None or result.episodes not in EPISODES:
        broken.append("the stored run cannot be read")
    return broken


def write_reports(root: Path) -> None:
    """The page, the text and the pictures of a figure from the committed runs."""
    from langevin_dqn.cli import report
    from langevin_dqn.paper.registry import choose
    from langevin_dqn.report.summary import summarise
    from langevin_dqn.runs.store import Store

    store = Store(RESULTS)
    reports = summarise(store, choose(("fig2",)), "quick")
    for number in itertools.count():
        report.write(store, reports, out=root / "report.html", markdown=root / "report.md", figures=root / "figures")
        if number == 0:
            print("written", flush=True)


def check_reports(root: Path) -> list[str]:
    ends = {"report.html": b"</html>", "figures/fig2.png": b"IEND\xaeB`\x82", "figures/fig2.pdf": b"%%EOF"}
    broken = [name for name, end in ends.items() if not (root / name).read_bytes().rstrip(b"\n").endswith(end)]
    text = (root / "report.md").read_text()
    return broken + ([] if text.count("fig2.png") == 1 and text.endswith("\n") else ["report.md"])


def write_packs(root: Path) -> None:
    """A store is packed, over and over; before each time, half of its runs are single files again."""
    from langevin_dqn import files, train
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.runs.store import Store

    small, source, store = (
        {"hidden": (4, 4), "batch_size": 4, "buffer_size": 100},
        Store(root / "source"),
        root / "store",
    )
    for seed in range(PACKED):
        job = Job("dqn", "bandit/0", seed, 10, changes=small)
        if not source.has(job):
            source.put(job, train("dqn", "bandit/0", seed=seed, episodes=10, **small))
    singles = sorted((root / "source").glob("v*/*.parquet"))
    home = store / singles[0].parent.name
    home.mkdir(parents=True, exist_ok=True)
    for number in itertools.count():
        for path in singles if number == 0 else singles[number % 2 :: 2]:
            with files.replacing(home / path.name) as file:
                file.write(path.read_bytes())
        if number == 0:
            print("written", flush=True)
        Store(store).pack()


def check_packs(root: Path) -> list[str]:
    from langevin_dqn.runs.store import Store

    expected, store = Store(root / "source").load(afresh=True), Store(root / "store")
    found = store.load(afresh=True)
    broken = [f"{path.name} is damaged" for path in store.damaged]
    columns = ["key", "returns", "lengths"]
    return broken if found.select(columns).equals(expected.select(columns)) else [*broken, "runs lost, double or other"]


WRITERS = {"packing": write_packs, "exports": write_exports, "report writing": write_reports}
CHECKS = {"packing": check_packs, "exports": check_exports, "report writing": check_reports}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in WRITERS:
        print("error: this script is started by another one\nhint: python tools/faults.py --help", file=sys.stderr)
        sys.exit(2)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from langevin_dqn import machine

    machine.prepare()
    WRITERS[sys.argv[1]](Path(sys.argv[2]))
