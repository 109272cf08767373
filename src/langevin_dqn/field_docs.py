"""What the fields of a dataclass are for: the texts below them in its source, for ``help`` and for the terminal."""

import ast
import dataclasses
import inspect
import re
import textwrap
from itertools import pairwise
from typing import Any

#: Columns of a line: ``help`` indents it by four, and a terminal has 80.
_WIDTH = 76


def descriptions(cls: type) -> dict[str, str]:
    """By field, the text below it in the source of its class, in one line; nothing where there is no source."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError):
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    found = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                found[name] = without_marks(words)
    return found


def without_marks(text: str) -> str:
    """Text of a docstring as a terminal shows it: in one line, without backticks."""
    return re.sub(r"`+", "", " ".join(text.split()))


class DocWithFields:
    """The docstring of a dataclass, with a list of its fields, put together when somebody asks for it.

    ``help`` shows no texts below fields. After ``Config.__doc__ = DocWithFields(Config.__doc__)`` it does.
    """

    def __init__(self, text: str | None):
        paragraphs = inspect.cleandoc(text or "").split("\n\n")
        self._text = "\n\n".join(textwrap.fill(paragraph, _WIDTH) for paragraph in paragraphs)

    def __get__(self, instance: Any, owner: type) -> str:
        lines = [self._text, "", "Attributes:"]
        about = descriptions(owner)
        for field in dataclasses.fields(owner):
            default = "" if field.default is dataclasses.MISSING else f" Default: {field.default!r}."
            words = f"{field.name}: {about.get(field.name, '')}{default}"
            lines += textwrap.wrap(words, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
        return "\n".join(lines)
