"""From words to a dataclass: tyro reads them, and its complaints become a line and a hint."""

import contextlib
import dataclasses
import inspect
import io
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TextIO, TypeVar, get_args, get_origin, get_type_hints

from langevin_dqn.errors import MOST_INT, MOST_SEED, UserError, nearest, option_in_range
from langevin_dqn.field_docs import descriptions

T = TypeVar("T")


def parse(kind: type[T], argv: Sequence[str], prog: str) -> T:
    """Read ``argv`` as the dataclass ``kind``."""
    import tyro

    argv = _one_value_each(argv, _repeatable(kind))
    options = {"--" + f.name.replace("_", "-") for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for word in argv:
        name = word.partition("=")[0].replace("_", "-")
        if word.startswith("--") and name not in options | {"--help"}:
            raise UserError(f"unknown option {word}", nearest(name, sorted(options)))
    complaints, said = io.StringIO(), _Captured(sys.stdout)
    try:
        with contextlib.redirect_stderr(complaints), contextlib.redirect_stdout(said):
            args: Any = tyro.cli(
                _described(kind),
                args=list(argv),
                prog=prog,
                description=inspect.cleandoc(kind.__doc__ or ""),
                config=(tyro.conf.FlagCreatePairsOff,),
            )
        return kind(**{field.name: _checked(field, getattr(args, field.name)) for field in dataclasses.fields(kind)})  # type: ignore[arg-type]
    except SystemExit as stop:
        if stop.code == 0:  # --help
            print(_drawable(_fitted(said.getvalue(), kind), sys.stdout), end="")
            raise
        raise _no_number(complaints.getvalue()) or UserError(
            _first_sentence(complaints.getvalue()), f"see {prog} --help"
        ) from None


def _described(kind: type) -> type:
    """``kind`` for tyro's help: optional values are shown by their type, and only defaults that say something."""
    import tyro

    about, hints = descriptions(kind), get_type_hints(kind, include_extras=True)
    fields: list[Any] = []
    for field in dataclasses.fields(kind):
        shown: dict[str, Any] = {"help": _INNER_COMMA.sub(_COMMA, about[field.name])} if field.name in about else {}
        if _is_positional(field) or field.default is False or field.default in (None, "", ()):
            shown["help_behavior_hint"] = ""
        elif isinstance(field.default, str):
            shown["help_behavior_hint"] = _INNER_COMMA.sub(_COMMA, f"(default: {field.default})")
        types = [one for one in get_args(hints[field.name]) if one in (int, float, str)]
        if _is_positional(field):
            shown["metavar"] = _metavar(field, hints[field.name])
        elif field.default is None and types:
            shown["metavar"] = types[0].__name__.upper()
        fields.append((field.name, Annotated[hints[field.name], tyro.conf.arg(**shown)], field))
    return dataclasses.make_dataclass(kind.__name__, fields)


#: A comma inside a word, such as an id, and what stands for it while tyro breaks lines, which it does after commas.
_INNER_COMMA, _COMMA = re.compile(r",(?=\S)"), "\ue000"
#: Columns of a terminal for which help is written.
_COLUMNS = 80
#: How the lines of tyro's tables begin; colours come first on a terminal.
_FRAME = ("│", "╭", "╰", " ", "\x1b")


class _Captured(io.StringIO):
    """Keeps what is printed; it is coloured if ``stream`` is a terminal."""

    def __init__(self, stream: TextIO):
        super().__init__()
        self._stream = stream

    def isatty(self) -> bool:
        return self._stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The one for which tyro draws its tables, and its complaints, in one way."""
        return "utf-8"


def _drawable(text: str, stream: TextIO) -> str:
    """``text`` with the lines of tables that ``stream`` can show."""
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return text.translate(str.maketrans("╭╮╰╯─│", "++++-|"))
    return text


def _fitted(text: str, kind: type) -> str:
    """The help of tyro with the commas inside words, and a line of usage and a description that fit."""
    usage, *rest = text.replace(_COMMA, ",").split("\n")
    rest = [line if line.startswith(_FRAME) else textwrap.fill(line, _COLUMNS) for line in rest]
    plain = re.sub(r"\x1b\[[\d;]*m", "", usage)
    if len(plain) > _COLUMNS:
        hints = get_type_hints(kind, include_extras=True)
        places = [_metavar(field, hints[field.name]) for field in dataclasses.fields(kind) if _is_positional(field)]
        usage = " ".join([plain.partition(" [-h]")[0], "[-h]", "[OPTIONS]", *places])
    return "\n".join([usage, *rest])


def _is_positional(field: dataclasses.Field[Any]) -> bool:
    return "Positional" in str(field.type)


def _metavar(field: dataclasses.Field[Any], hint: Any) -> str:
    """How a positional argument is shown: the only word it can be, its name, or its name with dots for several."""
    plain = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    if get_origin(plain) is Literal:
        return "|".join(map(str, get_args(plain)))
    name = field.name.upper()
    return f"{name} ..." if get_origin(plain) is tuple else name


def _checked(field: dataclasses.Field[Any], value: Any) -> Any:
    """The value of an option; refused if it is a number that no program can hold, or a text without content."""
    option = "--" + field.name.replace("_", "-")
    if isinstance(value, int):
        option_in_range(option, value, least=-MOST_INT, most=MOST_SEED if field.name == "seed" else MOST_INT)
    if isinstance(value, str) and ((value == "" != field.default) or any(ord(letter) < 32 for letter in value)):
        raise UserError(f"{option} {value!r} cannot be used", f"give {option} a value, or leave it out")
    return value


def _repeatable(kind: type) -> set[str]:
    """The options that may be given several times."""
    import tyro

    hints = get_type_hints(kind, include_extras=True)
    return {
        "--" + name.replace("_", "-")
        for name, hint in hints.items()
        if tyro.conf.UseAppendAction in getattr(hint, "__metadata__", ())
    }


def _one_value_each(argv: Sequence[str], repeatable: set[str]) -> list[str]:
    """Let ``--set a=1 b=2`` mean ``--set a=1 --set b=2``."""
    words: list[str] = []
    option = waiting = ""
    for word in argv:
        if word.startswith("-"):
            if waiting:
                break
            option = waiting = word if word in repeatable else ""
            words += [] if option else [word]
        else:
            words += [option, word] if option else [word]
            waiting = ""
    if waiting:
        raise UserError(f"{waiting} has no value", f"write {waiting} VALUE, or leave it out")
    return words


def _no_number(complaint: str) -> UserError | None:
    """The error for a value that is no number, if that is what tyro complains of."""
    option = re.search(r"Error parsing (--[\w-]+):", complaint)
    value = re.search(r"(?:from \[|with base 10:|to float:)\s*'([^']*)'", complaint)
    if option is None or value is None:
        return None
    kind = "whole number" if "int()" in complaint else "number"
    return UserError(f"{option[1]} {value[1]} is not a {kind}", f"for example, {option[1]} 100")


def _first_sentence(complaint: str) -> str:
    """The gist of tyro's box: its first lines without the frame."""
    lines = [line.strip("│ ") for line in complaint.splitlines() if line.startswith("│")]
    lines = [line for line in lines if line and not set(line) <= set("─ ")]
    if not lines:
        return "cannot parse the arguments"
    text = lines[0]
    if text.endswith(":") and len(lines) > 1:
        text = f"{text} {lines[1]}"
    text = re.sub(r"^Missing from [^:]*:", "missing", text)
    text = re.sub(r"^missing (--)?", lambda found: "missing option --" if found[1] else "missing argument ", text)
    text = re.sub(r"^Unrecognized options:", "unknown argument", text)
    text = re.sub(r"^Missing value for argument '([\w-]*)'.*", r"missing value for \1", text)
    return re.sub(r"^invalid choice (.*) for argument '[\w-]*'\. .*", r"unknown action \1", text)
