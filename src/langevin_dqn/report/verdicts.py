"""Verdicts as people read them, as files keep them, and whether a file still agrees with the runs."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from langevin_dqn import files
from langevin_dqn.errors import UserError, brief
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, NOT_ENOUGH, Verdict
from langevin_dqn.paper.figure import ID, FigureReport
from langevin_dqn.report.summary import to_dicts

#: A symbol for each verdict, so that none depends on a colour.
SYMBOLS: dict[Verdict, str] = {HOLDS: "✓", FAILS: "✗", INCONCLUSIVE: "?", NOT_ENOUGH: "…"}

#: Undecided. Earlier versions wrote one of these words, or the other, whether or not runs were missing.
_UNDECIDED = {INCONCLUSIVE, NOT_ENOUGH}

#: By figure, and by the claim's id or words.
Verdicts = dict[tuple[str, str], str]


def format_verdict(verdict: Verdict) -> str:
    """A verdict with its symbol."""
    return f"{SYMBOLS[verdict]} {verdict}"


def as_json_lines(reports: Sequence[FigureReport]) -> str:
    """An object per claim and line, as ``langevin-dqn report --json`` prints them."""
    return "".join(json.dumps(claim, allow_nan=False) + "\n" for claim in to_dicts(reports))


class Written(NamedTuple):
    """The verdicts of a file, and by which part of a claim they are named there."""

    named_by: str
    verdicts: Verdicts


def read(path: str | Path) -> Written:
    """The verdicts in a file written by ``report --json`` or ``--markdown``."""
    path = Path(path)
    try:
        text = files.read_text(path, links=True)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or brief(error)
        raise UserError(f"cannot read {path}: {reason}", "pass a file written by report --json or --markdown") from None
    verdicts = _from_markdown(text) if path.suffix == ".md" else _from_json(text, path)
    if not verdicts:
        raise UserError(f"{path} has no verdicts", "write it with report --json or --markdown")
    return Written("words" if path.suffix == ".md" else "claim", verdicts)


def differences(reports: Sequence[FigureReport], written: Written) -> list[str]:
    """Where written verdicts and the runs disagree, a line each."""
    found = {(claim["figure"], _one_line(claim[written.named_by])): claim["verdict"] for claim in to_dicts(reports)}
    lines = []
    for key in {**found, **written.verdicts}:
        says, is_now = written.verdicts.get(key), found.get(key)
        if says != is_now and not {says, is_now} <= _UNDECIDED:
            lines.append(f"{': '.join(key)}: the file has {says or 'nothing'!r}, the runs give {is_now or 'nothing'!r}")
    return lines


def _from_json(text: str, path: Path) -> Verdicts:
    try:
        claims = [json.loads(line) for line in text.splitlines() if line.strip()]
        verdicts = {(claim["figure"], _one_line(claim["claim"])): claim["verdict"] for claim in claims}
        if not all(isinstance(word, str) for key, verdict in verdicts.items() for word in (*key, verdict)):
            raise TypeError
        return verdicts
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{path} is not a file with one claim per line", "write it with report --json") from None


def _from_markdown(text: str) -> Verdicts:
    """The rows of the table of claims, whatever else is in the file: a figure, a claim, a verdict."""
    verdicts: Verdicts = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) < 3:
            continue
        figure = re.sub(r"^\[(.*?)\]\(.*\)$", r"\1", cells[0])  # the id may be a link
        verdict = cells[2].lstrip("".join(SYMBOLS.values()) + " ")
        if ID.fullmatch(figure) and verdict in SYMBOLS:
            verdicts[figure, _one_line(cells[1].replace(r"\|", "|"))] = verdict
    return verdicts


def _one_line(text: str) -> str:
    """As a cell of a table has it."""
    return " ".join(text.split())
