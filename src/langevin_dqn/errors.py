"""Mistakes a user can make, each with a hint towards the right call."""

import difflib
import numbers
from collections.abc import Iterable


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


#: The largest whole number that a compiled program can hold.
MOST_INT = 2**31 - 1

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


def option_in_range(option: str, value: int | None, least: int = 1, most: int = MOST_INT) -> None:
    """Refuse an option of the command line whose number is out of range; None is an option that was not given."""
    if value is not None and not least <= value <= most:
        hint = f"{option} must be {_limits(value, least, most)}"
        raise UserError(f"{option} {shown_number(value)} is out of range", hint)


def shown_number(value: int) -> str:
    """A whole number for a message, short if it is very large."""
    return str(value) if abs(value) < 10**20 else "(more than 20 digits)"


def _limits(value: int, least: int, most: int) -> str:
    return f"at most {most}" if value > most else f"at least {least}"


def nearest(word: str, choices: Iterable[str]) -> str:
    """A hint naming the closest valid choice, or all of them when none is close."""
    names = list(choices)
    return nearest_or(word, names, f"choose one of {', '.join(names)}")


def nearest_or(word: str, choices: Iterable[str], otherwise: str) -> str:
    """A hint naming the closest valid choice, or another hint when none is close: for choices too many to name."""
    close = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else otherwise


def unknown(kind: str, word: str, choices: Iterable[str]) -> UserError:
    """The error for a name that is not among ``choices``."""
    return UserError(f"unknown {kind} {word!r}", nearest(word, choices))


def brief(value: object) -> str:
    """The type of an exception or another object and its text, in one short line."""
    text = " ".join(str(value).split("\n", 1)[0].split())
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    return f"{type(value).__name__}: {shown}" if shown else type(value).__name__
