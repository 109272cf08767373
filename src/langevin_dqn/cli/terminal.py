"""What the commands print: tables, lines and JSON, in which names from files and from the user are shown as they are.

Square brackets in a name are no markup, control characters and escape sequences are shown and not sent to the terminal,
and JSON has null where a number is not finite.
"""

import json
import math
import sys
from collections.abc import Mapping
from typing import Any

from langevin_dqn.errors import visible


def console(**options: Any) -> Any:
    """Rich's console, for text that may hold anything; ``options`` are rich's."""
    from rich.console import Console

    class PlainConsole(Console):
        def render_str(self, text: str, **more: Any) -> Any:
            return super().render_str(visible(text, keep="\n"), **more)

        def on_broken_pipe(self) -> None:  # rich would exit with code 1
            raise BrokenPipeError

    return PlainConsole(highlight=False, markup=False, emoji=False, **options)


def say(words: str) -> None:
    """Print one line to stderr."""
    print(visible(words), file=sys.stderr, flush=True)


def print_json(content: Any) -> None:
    """Print one line of JSON to stdout; what is not a finite number is null."""
    print(json.dumps(_finite(content), allow_nan=False), flush=True)


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {key: _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return content
