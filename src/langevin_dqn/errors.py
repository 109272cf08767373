"""Mistakes a user can make, each with a hint towards the right call."""

import difflib
import numbers
import os
import unicodedata
from collections.abc import Iterable
from typing import Any


class UserError(ValueError):
    """Bad input. The command line prints it as one line and one ``hint:`` line.

    Args:
        message: what is wrong, in one line.
        hint: what to do instead, in one line.
    """

    def __init__(self, message: str, hint: str):
        super().__init__(f"{message}\nhint: {hint}")
        self.message = message
        self.hint = hint

    def __reduce__(self):  # the default would call UserError(one_string) on unpickling
        return type(self), (self.message, self.hint)


class EnvironmentFault(UserError):  # noqa: N818
    """An environment raised, or returned what no agent can learn from.

    Args:
        message: which environment, what it did, and at which step.
        hint: what to do about it.
        result: what the run had done until then, if it had begun.
    """

    def __init__(self, message: str, hint: str, result: Any = None):
        super().__init__(message, hint)
        self.result = result

    def __reduce__(self):
        return type(self), (self.message, self.hint, self.result)

    def at(self, place: str) -> "EnvironmentFault":
        """The same, with the place in the run at which it happened."""
        placed = EnvironmentFault(f"{self.message} ({place})", self.hint)
        placed.__cause__ = self.__cause__
        return placed


#: The largest whole number that a compiled program can hold.
MOST_INT = 2**31 - 1

#: The largest number that a setting may be: programs compute with 32 bits.
MOST_FLOAT = 1e38

#: The largest random seed.
MOST_SEED = 2**32 - 1


def whole_number(name: str, value: object, least: int, most: int = MOST_INT) -> int:
    """``value`` as an int; refused unless it is a whole number from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        is_whole = isinstance(value, float) and value.is_integer() and least <= value <= most
        meant = f"{value:.0f}" if is_whole else f"{max(least, 1)}"
        raise UserError(f"{name}={value!r} is not a whole number", f"for example, {name}={meant}")
    number = int(value)
    if not least <= number <= most:
        hint = f"{name} must be {_limits(number, least, most)}"
        raise UserError(f"{name}={shown_number(number)} is out of range", hint)
    return number


def true_or_false(name: str, value: object) -> bool:
    """``value`` as a bool; refused unless it is one: the text ``"false"`` would count as true."""
    if not (isinstance(value, bool) or type(value).__name__ == "bool"):  # NumPy's, too
        raise UserError(f"{name}={value!r} is not True or False", f"write {name}=True or {name}=False")
    return bool(value)


def path_or_name(name: str, value: object) -> str | os.PathLike[str]:
    """``value``, refused unless it names a file or folder."""
    if not isinstance(value, str | os.PathLike):
        raise UserError(f"{name}={value!r} is not a path", f"pass a text or a pathlib.Path: {name}='out/name'")
    return value


def option_in_range(option: str, value: int | None, least: int = 1, most: int = MOST_INT) -> None:
    """Refuse an option of the command line whose number is out of range; None is an option that was not given."""
    if value is not None and not least <= value <= most:
        hint = f"{option} must be {_limits(value, least, most)}"
        raise UserError(f"{option} {shown_number(value)} is out of range", hint)


def shown_number(value: int) -> str:
    """A whole number for a message, short if it is very large."""
    return str(value) if abs(value) < 10**20 else "(more than 20 digits)"


def counted(number: int, noun: str) -> str:
    """A number of things, with the right plural.

    Examples:
        >>> counted(1, "run"), counted(2, "run")
        ('1 run', '2 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _limits(value: int, least: int, most: int) -> str:
    return f"at most {most}" if value > most else f"at least {least}"


def nearest(word: str, choices: Iterable[str]) -> str:
    """A hint naming the closest valid choice, or all of them when none is close."""
    names = list(choices)
    return nearest_or(word, names, f"choose one of {', '.join(names)}")


def nearest_or(word: str, choices: Iterable[str], otherwise: str) -> str:
    """A hint naming the closest valid choice, or another hint when none is close: for choices too many to name.

    Examples:
        >>> nearest_or("noise", ["prior_noise", "noise_variance"], "see the list")
        "did you mean 'noise_variance'?"
        >>> nearest_or("--foo", ["--json", "--fields"], "see --help")
        'see --help'
    """
    bare = {name.lstrip("-"): name for name in choices}  # the dashes of options are alike in all
    wanted = word.lstrip("-")
    begun = [name for name in bare if wanted and name.startswith((f"{wanted}_", f"{wanted}-"))]
    close = begun if len(begun) == 1 else difflib.get_close_matches(wanted, list(bare), n=1, cutoff=0.5)
    return f"did you mean {bare[close[0]]!r}?" if close else otherwise


def unknown(kind: str, word: str, choices: Iterable[str], otherwise: str = "") -> UserError:
    """The error for a name that is not among ``choices``; ``otherwise`` is the hint where none is close."""
    hint = nearest_or(word, choices, otherwise) if otherwise else nearest(word, choices)
    return UserError(f"unknown {kind} {word!r}", hint)


def visible(text: str, keep: str = "") -> str:
    """``text`` with control characters, escape sequences and marks that turn the direction of writing made visible.

    Args:
        text: what may come from a file or from the user.
        keep: control characters to leave as they are.
    """
    return "".join(c if c in keep or not _is_hidden(c) else c.encode("unicode_escape").decode() for c in text)


def _is_hidden(character: str) -> bool:
    return not character.isprintable() and character != " " and unicodedata.category(character) != "Zs"


def brief(value: object) -> str:
    """The type of an exception or another object and its text, in one short line."""
    text = " ".join(str(value).split("\n", 1)[0].split())
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    return f"{type(value).__name__}: {shown}" if shown else type(value).__name__
