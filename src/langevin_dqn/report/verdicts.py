"""Verdicts as people read them, as files keep them, and whether a file still agrees with the runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langevin_dqn import files
from langevin_dqn.errors import UserError, brief
from langevin_dqn.paper.claims import FAILS, HOLDS, INCONCLUSIVE, NOT_ENOUGH, Verdict
from langevin_dqn.paper.figure import FigureReport
from langevin_dqn.report.summary import to_dicts

#: A symbol for each verdict, so that none depends on a colour.
SYMBOLS: dict[Verdict, str] = {HOLDS: "✓", FAILS: "✗", INCONCLUSIVE: "?", NOT_ENOUGH: "…"}

#: Undecided. Earlier versions wrote one of these words, or the other, whether or not runs were missing.
_UNDECIDED = {INCONCLUSIVE, NOT_ENOUGH}

_ADJUSTED = "verdict_adjusted"
_KINDS = ("verdict", _ADJUSTED)

#: By figure and claim: the verdict, and the one after the correction for the number of tests.
Verdicts = dict[tuple[str, str], dict[str, str]]


def format_verdict(verdict: Verdict) -> str:
    """A verdict with its symbol."""
    return f"{SYMBOLS[verdict]} {verdict}"


def as_json_lines(reports: Sequence[FigureReport]) -> str:
    """An object per claim and line, as ``langevin-dqn report --json`` prints them."""
    return "".join(json.dumps(claim, allow_nan=False) + "\n" for claim in to_dicts(reports))


def read(path: str | Path) -> Verdicts:
    """The verdicts in a file written by ``report --json``."""
    path = Path(path)
    try:
        text = files.read_text(path, links=True)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or brief(error)
        raise UserError(f"cannot read {path}: {reason}", "pass a file written by report --json") from None
    try:
        verdicts = _verdicts([json.loads(line) for line in text.splitlines() if line.strip()])
        if not all(isinstance(word, str) for key, kinds in verdicts.items() for word in (*key, *kinds.values())):
            raise TypeError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{path} is not a file with one claim per line", "write it with report --json") from None
    if not verdicts:
        raise UserError(f"{path} has no verdicts", "write it with report --json")
    return verdicts


def differences(reports: Sequence[FigureReport], written: Verdicts) -> list[str]:
    """Where written verdicts and the runs disagree, a line each."""
    found = _verdicts(to_dicts(reports))
    lines = []
    for key in {**found, **written}:
        for kind in _KINDS if _ADJUSTED in written.get(key, {}) else _KINDS[:1]:
            says, is_now = written.get(key, {}).get(kind), found.get(key, {}).get(kind)
            if says != is_now and not {says, is_now} <= _UNDECIDED:
                name = ": ".join(key) + (" after the correction" if kind == _ADJUSTED else "")
                lines.append(f"{name}: the file has {says or 'nothing'!r}, the runs give {is_now or 'nothing'!r}")
    return lines


def _verdicts(claims: Sequence[dict[str, Any]]) -> Verdicts:
    """By figure and claim; files of earlier versions have no verdict after the correction."""
    return {
        (claim["figure"], claim["claim"]): {kind: claim[kind] for kind in _KINDS if kind in claim or kind == "verdict"}
        for claim in claims
    }
