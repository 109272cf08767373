"""``--checkpoint``, ``--resume`` and ``--log`` of ``langevin-dqn run``: folders, and what a stopped command says."""

import dataclasses
import json
import math
import os
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langevin_dqn import files
from langevin_dqn.cli.terminal import say
from langevin_dqn.errors import UserError, counted, option_in_range
from langevin_dqn.ids import refuse_import
from langevin_dqn.runs.folders import check_no_link, file_error
from langevin_dqn.runs.metric_log import check_folder, check_writers
from langevin_dqn.runs.runners.outputs import Outputs
from langevin_dqn.stopping import Stopped

#: In the folder that ``--checkpoint`` names: what was asked for.
REQUEST = "run.json"
#: Where runs that are stopped go without ``--checkpoint``.
STOPPED = Path("out/stopped")

#: Options that ``--resume`` takes from the request, unless they are given again.
_REMEMBERED = (
    "agent", "env", "seeds", "episodes", "steps", "updates_per_step", "preset", "network", "members", "set",
    "stop_when_solved", "record",
)  # fmt: skip
#: Options that it does not remember, because they name files.
_TO_REPEAT = ("json", "returns", "plot", "maps", "mnist_dir", "bsuite_csv", "save", "log", "log_to", "metrics_every")


def remembered(args: Any) -> Any:
    """``args`` with what the request in the folder of ``--resume`` says, where an option was not given."""
    path = Path(args.resume) / REQUEST
    try:
        request = json.loads(files.read_text(path))
        defaults = {field.name: field.default for field in dataclasses.fields(args)}
        told = {name: request[name] for name in _REMEMBERED}
        told["set"] = tuple(told["set"])
        texts = ("agent", "env", "seeds", "preset", "network", "record", *told["set"])
        if not all(isinstance(told.get(name, name), str | None) for name in texts):
            raise TypeError
        counts = (told[name] for name in ("episodes", "steps", "updates_per_step", "members"))
        if not all(count is None or type(count) is int for count in counts):
            raise TypeError
        if type(told["stop_when_solved"]) is not bool:
            raise TypeError
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror or error}", "pass the folder that was given to --checkpoint"
        ) from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UserError(
            f"{path} is damaged", "repeat the first command with --resume in place of --checkpoint"
        ) from None
    given = {name: getattr(args, name) for name in _REMEMBERED if getattr(args, name) != defaults[name]}
    for name in ("agent", "env", "network"):
        if name not in given and told[name] is not None:
            refuse_import(told[name], str(path), f"if you trust it, pass it explicitly: --{name} {told[name]}")
    # What the seeds that have ended wrote is written again, the same.
    return dataclasses.replace(args, **told | given, overwrite=True)


class Kept:
    """What the seeds of one command leave beside their results.

    Args:
        args: the command's.
        seeds: its seeds.
    """

    def __init__(self, args: Any, seeds: Sequence[int]):
        self._args, self._seeds = args, seeds
        asked = args.resume or args.checkpoint
        name = f"{time.strftime('%Y%m%d_%H%M%S')}_{os.getpid()}"
        self.folder, self._asked = Path(asked) if asked else STOPPED / name, asked is not None
        if not 0 < args.checkpoint_every < math.inf:
            raise UserError(f"--checkpoint-every {args.checkpoint_every:g} is out of range", "it must be above 0")
        option_in_range("--metrics-every", args.metrics_every)
        self._check_checkpoints()
        self._check_log()

    def _check_checkpoints(self) -> None:
        from langevin_dqn.runs.checkpoint import Checkpoints

        args = self._args
        if args.resume and args.checkpoint not in (None, args.resume):
            raise UserError("--resume and --checkpoint are different folders", "leave out --checkpoint")
        if not self._asked:
            return
        saved = any(Checkpoints(self._of(seed)).files() for seed in self._seeds)
        if args.resume and not saved:
            raise UserError(f"{self.folder} contains no checkpoint", "pass the folder that was given to --checkpoint")
        if not args.resume and saved:
            raise UserError(f"{self.folder} already contains a checkpoint", f"resume with --resume {self.folder}")
        Checkpoints(self.folder).prepare()
        for seed in self._seeds:
            check_no_link(self._of(seed))
        if not args.resume:
            self._write_request(self._seeds)

    def remember(self) -> None:
        """Store what ``--resume`` asked for, once no run has refused it."""
        if self._args.resume:
            self._write_request(self._seeds)

    def _check_log(self) -> None:
        if self._args.log is None:
            return
        check_writers(self._writers)
        for seed in self._seeds:
            check_no_link(self._log_of(seed))
            check_folder(self._log_of(seed), self._writers, self._args.overwrite)

    @property
    def _writers(self) -> tuple[str, ...]:
        return tuple(filter(None, self._args.log_to.split(",")))

    def _of(self, seed: int) -> Path:
        return self.folder / f"seed_{seed}"

    def _log_of(self, seed: int) -> Path:
        return Path(self._args.log) / f"seed_{seed}"

    def outputs(self, seed: int) -> Outputs:
        """Those of one seed. Without ``--checkpoint`` a run is saved only if it is stopped."""
        return Outputs(
            checkpoint=str(self._of(seed)),
            checkpoint_every=self._args.checkpoint_every if self._asked else None,
            checkpoint_at_end=self._asked,
            log=None if self._args.log is None else str(self._log_of(seed)),
            log_to=self._writers,
            metrics_every=self._args.metrics_every,
        )

    def explain(self, stopped: Stopped, ended: Sequence[int]) -> int:
        """Print what is saved and how to continue; returns the exit code."""
        left = [seed for seed in self._seeds if self._asked or seed not in ended]
        for reason in stopped.failed:
            say(f"a seed could not be saved: {reason}")
        if not (stopped.saved or self._asked):
            say("stopped; nothing was saved")
            return stopped.exit_code
        if not self._asked:
            self._write_request(left)
        done = f"; {counted(len(ended), 'seed')} had finished" if ended else ""
        say(f"stopped; {len(stopped.saved)} of {counted(len(self._seeds), 'seed')} saved in {self.folder}{done}")
        say(f"hint: continue with langevin-dqn run --resume {shlex.quote(str(self.folder))}{self._repeated()}")
        return stopped.exit_code

    def _repeated(self) -> str:
        """The options that have to be given again."""
        defaults = {field.name: field.default for field in dataclasses.fields(self._args)}
        words = ""
        for name in _TO_REPEAT:
            value = getattr(self._args, name)
            if value != defaults[name]:
                words += f" --{name.replace('_', '-')}" + ("" if value is True else f" {shlex.quote(str(value))}")
        return words

    def _write_request(self, seeds: Sequence[int]) -> None:
        request = {name: getattr(self._args, name) for name in _REMEMBERED}
        path = self.folder / REQUEST
        try:
            files.write_text(path, json.dumps(request | {"seeds": ",".join(map(str, seeds))}))
        except OSError as error:
            raise file_error(error, path) from None
