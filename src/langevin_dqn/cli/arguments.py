"""From words to a dataclass: tyro reads them, and its complaints become a line and a hint."""

import contextlib
import dataclasses
import inspect
import io
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO, TypeVar, get_args, get_origin, get_type_hints

from langevin_dqn.errors import MOST_INT, MOST_SEED, UserError, nearest_or, option_in_range, visible
from langevin_dqn.field_docs import descriptions, without_marks

T = TypeVar("T")


def parse(kind: type[T], argv: Sequence[str], prog: str, about: str = "") -> T:
    """Read ``argv`` as the dataclass ``kind``; ``about`` is the description in its help, or else its docstring."""
    import tyro

    argv = _one_value_each(argv, _repeatable(kind))
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    options = {"--" + field.name.replace("_", "-") for field in fields}
    options |= {"--no-" + field.name.replace("_", "-") for field in fields if field.default is True}
    for word in argv:
        name = word.partition("=")[0].replace("_", "-")
        if word.startswith("--") and name not in options | {"--help"}:
            raise UserError(f"unknown option {word}", nearest_or(name, sorted(options), f"see {prog} --help"))
    complaints, said = io.StringIO(), _Captured(sys.stdout)
    try:
        with contextlib.redirect_stderr(complaints), contextlib.redirect_stdout(said):
            args: Any = tyro.cli(
                _described(kind),
                args=list(argv),
                prog=prog,
                description=_ABOUT,
            )
        return kind(**{field.name: _checked(field, getattr(args, field.name)) for field in fields})
    except SystemExit as stop:
        if stop.code == 0:  # --help
            print(_drawable(_fitted(said.getvalue(), kind, about), sys.stdout), end="")
            raise
        raise _no_number(complaints.getvalue()) or UserError(
            _first_sentence(complaints.getvalue()), f"see {prog} --help"
        ) from None


def script_options(kind: type[T], about: str | None) -> T:
    """The options of a script, as those of a command: a mistake ends it with a line, a hint and exit code 2.

    Args:
        kind: a dataclass with a text below each field.
        about: the script's docstring, which its help shows.
    """
    try:
        return parse(kind, sys.argv[1:], sys.argv[0], about or "")
    except UserError as error:
        sys.exit(refuse(error))


def refuse(error: UserError) -> int:
    """Print a mistake as one line and one hint; returns the exit code for it."""
    print(f"error: {visible(error.message)}\nhint: {visible(error.hint)}", file=sys.stderr)
    return 2


def _described(kind: type) -> type:
    """``kind`` for tyro's help: optional values are shown by their type, and only defaults that say something."""
    import tyro

    about, hints = descriptions(kind), get_type_hints(kind, include_extras=True)
    fields: list[Any] = []
    for field in dataclasses.fields(kind):
        shown: dict[str, Any] = {"help": _INNER_COMMA.sub(_COMMA, about[field.name])} if field.name in about else {}
        if _is_positional(field) or field.default is False or field.default in (None, "", ()):
            shown["help_behavior_hint"] = ""
        elif field.default is True:
            shown["help_behavior_hint"] = f"(default: --{field.name.replace('_', '-')})"
        elif isinstance(field.default, str):
            shown["help_behavior_hint"] = _INNER_COMMA.sub(_COMMA, f"(default: {field.default})")
        types = [one for one in get_args(hints[field.name]) if one in (int, float, str, Path)]
        if _is_positional(field):
            shown["metavar"] = _metavar(field, hints[field.name])
        elif field.default is None and types:
            shown["metavar"] = types[0].__name__.upper()
        elif get_origin(hints[field.name]) is tuple:
            shown["metavar"] = f"{types[0].__name__.upper()} ..."
        marks = [tyro.conf.arg(**shown), *([tyro.conf.FlagCreatePairsOff] if field.default is False else [])]
        fields.append((field.name, Annotated[hints[field.name], *marks], field))
    return dataclasses.make_dataclass(kind.__name__, fields)


#: A comma inside a word, such as an id, and what stands for it while tyro breaks lines, which it does after commas.
_INNER_COMMA, _COMMA = re.compile(r",(?=\S)"), "\ue000"
#: What stands for the description until then: tyro would join its lines.
_ABOUT = "\ue001"
#: Columns of a terminal for which help is written.
_COLUMNS = 80


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


def _fitted(text: str, kind: type, about: str) -> str:
    """The help of tyro with the commas inside words, the description, and a line of usage that fits."""
    usage, _, rest = text.replace(_COMMA, ",").partition("\n")
    rest = rest.replace(_ABOUT, filled(about or kind.__doc__))
    plain = re.sub(r"\x1b\[[\d;]*m", "", usage)
    if len(plain) > _COLUMNS:
        hints = get_type_hints(kind, include_extras=True)
        places = [_metavar(field, hints[field.name]) for field in dataclasses.fields(kind) if _is_positional(field)]
        usage = " ".join([plain.partition(" [-h]")[0], "[-h]", "[OPTIONS]", *places])
    return f"{usage}\n{rest}"


def filled(text: str | None) -> str:
    """A docstring in lines that fit; commands, which are indented in it, stay as they are."""
    return "\n\n".join(map(_filled_paragraph, re.split(r"\n\n+", inspect.cleandoc(text or ""))))


def _filled_paragraph(text: str) -> str:
    if text.startswith(" "):
        return text
    items = re.split(r"\n(?=- )", text)
    return "\n".join(
        textwrap.fill(
            without_marks(item), _COLUMNS, subsequent_indent="  " * item.startswith("- "), break_on_hyphens=False
        )
        for item in items
    )


def _is_positional(field: dataclasses.Field[Any]) -> bool:
    return "Positional" in str(field.type)


def _metavar(field: dataclasses.Field[Any], hint: Any) -> str:
    """How a positional argument is shown: the only word it can be, its name, or its name with dots for several."""
    plain = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    if get_origin(plain) is Literal:
        return "|".join(map(str, get_args(plain)))
    name = field.name.upper()
    if get_origin(plain) is not tuple:
        return name
    return f"{name} ..." if field.default is dataclasses.MISSING else f"[{name} ...]"


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
