"""Stop runs at random moments, resume them, and compare every array with that of an uninterrupted run.

For each training loop (compiled, host) and each learner (table, dense, lazy) a run is stopped at random moments, once
each: between two episodes, or on the host also within one. It then goes on from its checkpoint. Compared are returns,
lengths, measures, updates, steps, and every array of the state that the run ends with, replay included. Prints a table.

With ``--kills`` a training process with a checkpoint every 0.2 s is killed (SIGKILL) that many times at random moments
and started again until it ends; it must end as the run left alone did.

    python tools/resume_at_random.py
    python tools/resume_at_random.py --stops 0 --kills 10 --cases lazy
"""

import contextlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options

SMALL = {"hidden": (8, 8), "batch_size": 16}
CASES = {
    "compiled, table": ("langevin_dqn", "deep_sea:depth=5", 60, {"updates_per_step": 2}),
    "compiled, dense": ("boot_dqn", "catch/0", 60, {"members": 3, "insertion": "buffers"}),
    "compiled, lazy": ("ensemble_langevin_dqn", "deep_sea:depth=6", 60, {"members": 2, "row_updates": "lazy"}),
    "host, table": ("langevin_dqn", "gym:FrozenLake-v1", 40, {"updates_per_step": 2}),
    "host, dense": ("dqn", "gym:CartPole-v1", 12, {"update_timing": "within", "epsilon": 0.2}),
    "host, lazy": ("ensemble_langevin_dqn", "gym:FrozenLake-v1", 40, {"members": 2, "row_updates": "lazy"}),
}  # fmt: skip


@dataclass
class Args:
    """Stop runs at random, and compare."""

    stops: int = 20
    """Stops for each loop and learner."""
    kills: int = 0
    """Kills of a separate training process."""
    cases: str = ""
    """Only the cases whose name contains this text."""
    seed: int = 0
    """Random seed, which decides the moments."""


#: A run that is killed is that many times longer, so that it does not end before.
LONGER = 25


def run(case: str, longer: int = 1, **more):
    from langevin_dqn import train

    agent, env, episodes, changes = CASES[case]
    return train(agent, env, seed=1, episodes=longer * episodes, buffer_size=20_000, **SMALL, **changes, **more)


def ended_with(folder: Path) -> dict:
    """All that the last checkpoint in a folder holds, but for what the clock says."""
    from langevin_dqn.runs.checkpoint import Checkpoints

    file = Checkpoints(folder).open()
    arrays = {name: array.tobytes() for name, array in file.load().items()}
    return arrays | {name: x for name, x in file.about.items() if not name.endswith("seconds")}


class StopAt:
    """Asks for a stop at one of the moments at which a run can stop."""

    def __init__(self, moment: int | None):
        self.moment, self.seen, self.where = moment, 0, None

    def __call__(self, result) -> None:
        from langevin_dqn import stopping

        if self.seen == self.moment:
            self.where = (result.episodes, result.steps)
            stopping.request(signal.SIGINT)
        self.seen += 1


def stopped_and_gone_on_with(case: str, folder: Path, moment: int) -> tuple[int, int]:
    from langevin_dqn.runs.checkpoint import Checkpoints

    stop = StopAt(moment)
    with contextlib.suppress(KeyboardInterrupt):
        run(case, checkpoint=Checkpoints(folder, every=None), progress=stop)
    run(case, resume=folder)
    return stop.where


def check(case: str, args: Args, root: Path) -> dict:
    from langevin_dqn.runs import training_run

    training_run._CHUNK_SECONDS = 0.0  # so that a run may stop after any episode, and on the host after any step
    count = StopAt(None)
    run(case, checkpoint=root / "alone", progress=count)
    expected, rng = ended_with(root / "alone"), random.Random(f"{args.seed} {case}")
    moments = rng.sample(range(count.seen - 1), min(args.stops, count.seen - 1))
    places, equal = [], 0
    for number, moment in enumerate(moments):
        places.append(stopped_and_gone_on_with(case, root / str(number), moment))
        equal += ended_with(root / str(number)) == expected
    steps = [steps for _, steps in places]
    return {"stops": len(moments), "equal": equal, "first_step": min(steps), "last_step": max(steps)}


def worker(case: str, folder: str) -> None:
    """A training process: goes on if there is something to go on from."""
    run(case, LONGER, checkpoint=folder, resume=folder, checkpoint_every=0.2)


def check_kills(case: str, args: Args, root: Path) -> dict:
    run(case, LONGER, checkpoint=root / "alone")
    rng, folder, kills, moments = random.Random(args.seed), root / "killed", 0, []
    words = [sys.executable, __file__, "--worker", case, str(folder)]
    while True:
        process = subprocess.Popen(words)
        files = sorted(folder.glob("checkpoint_*"))
        if kills < args.kills:
            while sorted(folder.glob("checkpoint_*")) == files and process.poll() is None:
                time.sleep(0.005)  # until it has written one, so that it gets on
            time.sleep(rng.uniform(0, 0.6))
            if process.poll() is None:
                process.kill()
                kills += 1
                moments.append(int(sorted(folder.glob("checkpoint_*.npz"))[-1].stem.rpartition("_")[2]))
        if process.wait() == 0:
            break
    same = ended_with(folder) == ended_with(root / "alone")
    left = len(list(folder.glob(".*.tmp")))
    return {"kills": kills, "equal": same, "checkpoints_at": moments, "unfinished_files": left}


def main(args: Args) -> int:
    machine.prepare()
    failed = False
    chosen = [case for case in CASES if args.cases in case]
    if args.stops:
        print("| loop, learner | stops | at steps | equal to the bit |\n|---|---|---|---|")
    for case in chosen if args.stops else []:
        with tempfile.TemporaryDirectory() as root:
            found = check(case, args, Path(root))
        failed |= found["equal"] != found["stops"]
        span = f"{found['first_step']} to {found['last_step']}"
        print(f"| {case} | {found['stops']} | {span} | {found['equal']} of {found['stops']} |", flush=True)
    for case in chosen if args.kills else []:
        with tempfile.TemporaryDirectory() as root:
            found = check_kills(case, args, Path(root))
        failed |= not found["equal"]
        print(json.dumps({"case": case, **found}), flush=True)
    return int(failed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        machine.prepare()
        worker(*sys.argv[2:])
    else:
        sys.exit(main(script_options(Args, __doc__)))
