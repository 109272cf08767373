"""Verdicts as people read them, as files keep them, and whether a file still says what the runs say."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from langevin_dqn.errors import UserError
from langevin_dqn.paper.claims import FAILS, HOLDS, UNDECIDED, Verdict
from langevin_dqn.report.summary import FigureReport, to_dicts

#: Shapes beside the words, so that no verdict hangs on a colour.
SYMBOLS: dict[Verdict, str] = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}

#: By figure, and by the claim's name or words.
Verdicts = dict[tuple[str, str], str]


def told(verdict: Verdict) -> str:
    """A verdict with its symbol."""
    return f"{SYMBOLS[verdict]} {verdict}"


def as_json_lines(reports: Sequence[FigureReport]) -> str:
    """An object per claim and line, as ``langevin-dqn report --json`` prints them."""
    return "".join(json.dumps(claim, allow_nan=False) + "\n" for claim in to_dicts(reports))


def differences(reports: Sequence[FigureReport], path: str | Path) -> list[str]:
    """Where a file written by ``--json`` or ``--markdown`` and the runs disagree, a line each."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}", "name a file that report --json or --markdown wrote") from None
    name = "words" if path.suffix == ".md" else "claim"
    written = _from_markdown(text) if path.suffix == ".md" else _from_json(text, path)
    if not written:
        raise UserError(f"{path} has no verdicts", "write it with report --json or --markdown")
    found = {(claim["figure"], claim[name]): claim["verdict"] for claim in to_dicts(reports)}
    lines = []
    for key in {**found, **written}:
        says, is_now = written.get(key), found.get(key)
        if says != is_now:
            lines.append(f"{': '.join(key)}: the file says {says or 'nothing'!r}, the runs say {is_now or 'nothing'!r}")
    return lines


def _from_json(text: str, path: Path) -> Verdicts:
    try:
        claims = [json.loads(line) for line in text.splitlines() if line.strip()]
        return {(claim["figure"], claim["claim"]): claim["verdict"] for claim in claims}
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path} is not a claim per line", "write it with report --json") from None


def _from_markdown(text: str) -> Verdicts:
    """The rows of the table of claims, whatever else is in the file."""
    verdicts: Verdicts = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) > 2 and re.fullmatch(r"(\[)?fig\d+(\]\(.*\))?", cells[0]):
            figure = re.sub(r"\[|\].*", "", cells[0])
            verdicts[figure, cells[1].replace(r"\|", "|")] = cells[2].lstrip("".join(SYMBOLS.values()) + " ")
    return verdicts
