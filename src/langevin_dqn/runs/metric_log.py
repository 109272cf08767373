"""Rows of metrics as files: CSV, JSON lines, TensorBoard's event files, and Weights & Biases.

The first two need nothing but Python. The others are written with ``tensorboardX`` and ``wandb``, which are loaded when
they are asked for.
"""

import contextlib
import csv
import json
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from langevin_dqn import files
from langevin_dqn.errors import UserError, brief, path_or_name, unknown
from langevin_dqn.extras import require
from langevin_dqn.runs.folders import check_writable

#: Environment steps between two rows, by default: with these, metrics cost less than 3% of the fastest runs here.
METRICS_EVERY = 2000

#: The largest log that is read when a run is resumed: bytes.
_MOST_LOG = 2**30

Row = Mapping[str, Any]


class Writer(Protocol):
    """Takes the rows of one run."""

    def write(self, row: Row) -> None: ...

    def close(self) -> None: ...


class CsvWriter:
    """``metrics.csv``: a line per row; what is not known is empty.

    Args:
        folder: where.
        steps: for a resumed run: keep the rows up to this step; None to start a new log.
        about: what defines the run; not used here.
    """

    FILES = "metrics.csv"

    def __init__(self, folder: Path, steps: int | None, about: Row):
        del about
        path = folder / self.FILES
        kept = []
        if steps is not None and path.exists():
            lines = _read(path).splitlines(keepends=True)
            with contextlib.suppress(ValueError, TypeError, KeyError, csv.Error):  # a line that was cut off
                for row in csv.DictReader(lines):
                    if int(row["steps"]) <= steps and None not in row and None not in row.values():
                        kept.append(row)
        self._columns = list(kept[0]) if kept else []
        self._file = _rewritten(path, lambda file: _write_rows(file, self._columns, kept))
        self._writer = csv.DictWriter(self._file, self._columns, extrasaction="ignore", restval="")

    def write(self, row: Row) -> None:
        if not self._columns:
            self._columns[:] = row
            self._writer.writeheader()
        self._writer.writerow(row)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _write_rows(file: IO[str], columns: list[str], rows: Sequence[Row]) -> None:
    if rows:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


class JsonLinesWriter:
    """``metrics.jsonl``: an object per row. Its arguments are those of ``CsvWriter``."""

    FILES = "metrics.jsonl"

    def __init__(self, folder: Path, steps: int | None, about: Row):
        del about
        path = folder / self.FILES
        kept = []
        if steps is not None and path.exists():
            with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):  # a line that was cut off
                for line in _read(path).splitlines(keepends=True):
                    if json.loads(line)["steps"] <= steps and line.endswith("\n"):
                        kept.append(line)
        self._file = _rewritten(path, lambda file: file.writelines(kept))

    def write(self, row: Row) -> None:
        self._file.write(json.dumps(row, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _read(path: Path) -> str:
    """What is there of a log; nothing of what cannot be read."""
    try:
        return files.read_text(path, most=_MOST_LOG)
    except (OSError, UnicodeDecodeError) as error:
        warnings.warn(f"{path} cannot be read and is replaced: {brief(error)}", RuntimeWarning, stacklevel=4)
        return ""


def _rewritten(path: Path, kept: Callable[[IO[str]], None]) -> IO[str]:
    """A new file in the place of the old one, with what is kept of it, to write more to."""
    with files.replacing(path, "w", newline="", encoding="utf-8") as file:
        kept(file)
    return path.open("a", newline="", encoding="utf-8")


class TensorboardWriter:
    """Event files, a scalar for each column, by environment steps. Its arguments are those of ``CsvWriter``."""

    FILES = "events.out.tfevents.*"
    PACKAGE = "tensorboardX"

    def __init__(self, folder: Path, steps: int | None, about: Row):
        from tensorboardX import SummaryWriter

        del about
        if steps is None:
            for old in folder.glob(self.FILES):
                old.unlink()
        resumed = {} if steps is None else {"purge_step": steps + 1, "filename_suffix": f".{steps:012d}"}
        self._writer = SummaryWriter(str(folder), flush_secs=10, **resumed)

    def write(self, row: Row) -> None:
        for name, value in row.items():
            if value is not None and name != "steps":
                self._writer.add_scalar(name, value, row["steps"])

    def close(self) -> None:
        self._writer.close()


class WandbWriter:
    """A run of Weights & Biases, by environment steps. Its arguments are those of ``CsvWriter``.

    Nothing is sent unless the environment variable ``WANDB_MODE`` is ``online``: by default the run is a folder that
    ``wandb sync`` uploads. A resumed run is a new run of the same group.
    """

    FILES = "wandb"
    PACKAGE = "wandb"

    def __init__(self, folder: Path, steps: int | None, about: Row):
        import wandb

        del steps
        name = " ".join(str(about[field]) for field in ("agent", "env") if field in about)
        mode: Any = os.environ.get("WANDB_MODE", "offline")
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", "langevin_dqn"),
            group=name,
            name=f"{name} seed {about.get('seed', 0)}",
            config=dict(about),
            dir=str(folder),
            mode=mode,
            reinit="create_new",
            settings=wandb.Settings(
                silent=True, console="off", x_disable_stats=True, x_disable_meta=True, x_save_requirements=False
            ),
        )

    def write(self, row: Row) -> None:
        self._run.log({name: value for name, value in row.items() if value is not None}, step=row["steps"])

    def close(self) -> None:
        self._run.finish()


WRITERS: dict[str, Any] = {
    "csv": CsvWriter,
    "json": JsonLinesWriter,
    "tensorboard": TensorboardWriter,
    "wandb": WandbWriter,
}
DEFAULT_WRITERS = ("csv", "json")


def check_writers(names: Sequence[str]) -> None:
    """Refuse writers that do not exist, or whose package is not installed."""
    if not names:
        raise UserError("no format is given for the metrics", f"choose from {', '.join(WRITERS)}")
    for name in names:
        if name not in WRITERS:
            raise unknown("metrics format", name, WRITERS)
        package = getattr(WRITERS[name], "PACKAGE", None)
        if package is not None:
            require(package)


def check_folder(folder: Path, names: Sequence[str], overwrite: bool) -> None:
    """Refuse a folder that cannot be written to, and one with a log in it unless that may be replaced."""
    check_writable(folder)
    for name in names:
        old = next(folder.glob(WRITERS[name].FILES), None)
        if old is not None and not overwrite:
            raise UserError(f"{old} exists already", "use another folder, or add --overwrite")


class MetricLog:
    """Writes rows of metrics to files; a context manager whose ``write`` is passed to ``train(on_metrics=…)``.

    If a writer fails, for example because the disk is full, a warning is issued and it gets no more rows; training
    continues.

    Args:
        folder: folder of the files; one per run.
        writers: formats, among ``csv``, ``json``, ``tensorboard`` and ``wandb``.
        steps: for a resumed run: keep the rows up to this step. None starts a new log.
        about: what defines the run, for writers that can show it.

    Examples:
        >>> import langevin_dqn, tempfile
        >>> with langevin_dqn.MetricLog(tempfile.mkdtemp()) as log:
        ...     result = langevin_dqn.train("dqn", "probe_action", episodes=20, on_metrics=log.write)
    """

    def __init__(
        self,
        folder: str | Path,
        writers: Sequence[str] = DEFAULT_WRITERS,
        *,
        steps: int | None = None,
        about: Row | None = None,
    ):
        folder = Path(path_or_name("folder", folder))
        check_writers(writers)
        check_writable(folder)
        self._writers: dict[str, Writer] = {name: WRITERS[name](folder, steps, about or {}) for name in writers}

    def write(self, row: Row) -> None:
        """Take one row."""
        for name in list(self._writers):
            try:
                self._writers[name].write(row)
            except OSError as error:
                self._give_up(name, error)

    def close(self) -> None:
        """Write what is left, and close all files."""
        for name in list(self._writers):
            try:
                self._writers.pop(name).close()
            except OSError as error:
                self._give_up(name, error)

    def _give_up(self, name: str, error: OSError) -> None:
        self._writers.pop(name, None)
        warnings.warn(
            f"cannot write metrics ({name}): {error.strerror or error}; training continues without this log",
            RuntimeWarning,
            stacklevel=3,
        )

    def __enter__(self) -> "MetricLog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
