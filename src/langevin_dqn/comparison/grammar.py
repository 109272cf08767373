"""What a user writes on the command line: lists of agents and environments, grids and seeds.

Names and ids may have settings after a colon, ``dqn:members=2,epsilon=0.1`` or ``deep_sea:depth=20,mapping_seed=7``,
and a list of them is separated by commas too. A comma separates two entries unless what follows it

- is ``setting=value``: one more setting of the entry before it,
- is a number: one more number of the value before it, as in ``hidden=50,50``,
- or is inside brackets or quotes, as in ``sizes=(3,4)``.
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from langevin_dqn.errors import MOST_SEED, UserError, whole_number

#: Seeds of one command, at most.
MOST_SEEDS = 100_000

_SETTING = re.compile(r"[A-Za-z_]\w*=")
_FIRST_SETTING = re.compile(r":(?=[A-Za-z_]\w*=)")
_NUMBER = re.compile(r"[-+.\d][-+.\deE_]*")
_BRACKETS = {")": "(", "]": "[", "}": "{"}


class Words(NamedTuple):
    """A name and its settings, as they were written."""

    name: str
    settings: dict[str, str]


def split_commas(text: str) -> list[str]:
    """The parts of ``text`` between commas that are not inside brackets or quotes."""
    parts, opened, quote = [""], "", ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in _BRACKETS.values():
            opened += character
        elif character in _BRACKETS and opened.endswith(_BRACKETS[character]):
            opened = opened[:-1]
        elif character == "," and not opened:
            parts.append("")
            continue
        parts[-1] += character
    if quote or opened:
        raise UserError(f"{text!r} has a {quote or opened[-1]} that is not closed", "close it, or leave it out")
    return parts


def split_list(texts: Iterable[str], option: str) -> list[str]:
    """Entries of one or more lists, each entry with its settings.

    Args:
        texts: the lists.
        option: how the user gave them, for messages.
    """
    entries: list[str] = []
    for text in texts:
        own: list[str] = []
        for part in filter(None, map(str.strip, split_commas(text))):
            is_setting, is_number = _SETTING.match(part), _NUMBER.fullmatch(part)
            if not (is_setting or is_number):
                own.append(part)
            elif own and _FIRST_SETTING.search(own[-1]):
                own[-1] += f",{part}"
            elif own:
                raise UserError(f"{part!r} follows {own[-1]!r}, which has no settings", f"write {own[-1]}:{part}")
            else:
                raise UserError(f"{option} begins with {part!r}", f"write a name first, as in {option} NAME:{part}")
        entries += own
    return entries


def split_name(text: str) -> Words:
    """``NAME:setting=value,…`` as the name and its settings; a name may itself have colons."""
    found = _FIRST_SETTING.search(text)
    if found is None:
        return Words(text, {})
    settings: dict[str, str] = {}
    last = ""
    for part in filter(None, split_commas(text[found.end() :])):
        if _SETTING.match(part):
            last, _, value = part.partition("=")
            if last in settings:
                raise UserError(f"{text} sets {last} twice", "leave out one of them")
            settings[last] = value
        else:
            settings[last] += f",{part}"
    return Words(text[: found.start()], settings)


class GridWords(NamedTuple):
    """Values of one setting to cross with everything else; ``agent`` is the only one to cross, where it is given."""

    agent: str | None
    setting: str
    values: list[str]


def parse_grid(text: str) -> GridWords:
    """``noise_variance=1e-5,1e-4``; for one agent alone, ``langevin_dqn:noise_variance=1e-5,1e-4``.

    Where a value has commas itself, semicolons separate values: ``hidden=50,50;100,100``.
    """
    example = "for example, --grid noise_variance=1e-5,1e-4"
    found = _FIRST_SETTING.search(text)
    agent, assignment = (text[: found.start()], text[found.end() :]) if found else (None, text)
    if not _SETTING.match(assignment):
        raise UserError(f"--grid {text!r} is not of the form setting=value,value", example)
    setting, _, values = assignment.partition("=")
    if not values:
        raise UserError(f"the grid of {setting} is empty", example)
    separated = values.split(";") if ";" in values else split_commas(values)
    if ";" not in values and not all(separated):
        raise UserError(f"--grid {text!r} has an empty value", example)
    return GridWords(agent, setting, [value.strip() for value in separated])


def grid_of(texts: Iterable[str]) -> dict[str, list[str]]:
    """Several ``--grid`` options as ``langevin_dqn.sweep`` takes them."""
    grid: dict[str, list[str]] = {}
    for agent, setting, values in map(parse_grid, texts):
        name = setting if agent is None else f"{agent}:{setting}"
        if name in grid:
            raise UserError(f"--grid names {name} twice", f"write --grid {name}=… once, with all its values")
        grid[name] = values
    return grid


def parse_seeds(text: str) -> list[int]:
    """``3``, ``0-4`` or ``0,2,7`` as a list without repeats."""
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise UserError(f"seeds {text!r} cannot be read", "write 3, 0-4 or 0,2,7")
        low, high = (_seed(number) for number in (first, last if dash else first))
        if high < low:
            raise UserError(f"seed range {part!r} is empty", f"did you mean {last}-{first}?")
        if len(seeds) + high - low >= MOST_SEEDS:
            raise UserError(f"too many seeds in {text!r}", f"at most {MOST_SEEDS:,} seeds can be run at once")
        seeds += range(low, high + 1)
    return list(dict.fromkeys(seeds))


def _seed(digits: str) -> int:
    return whole_number("seed", int(digits) if len(digits) <= 20 else 10**20, least=0, most=MOST_SEED)


def seeds_of(seeds: Any) -> list[int]:
    """Whole numbers, or a text such as ``"0-4"``, as a list without repeats."""
    if isinstance(seeds, str):
        return parse_seeds(seeds)
    if isinstance(seeds, int):
        raise UserError(
            f"seeds={seeds} is ambiguous: one seed, or {seeds} seeds", f"write seeds=range({seeds}) or seeds=[{seeds}]"
        )
    if not isinstance(seeds, Iterable):
        raise UserError(f"seeds={seeds!r} cannot be read", "write seeds=range(5) or seeds='0-4'")
    found = [whole_number("seed", seed, least=0, most=MOST_SEED) for seed in seeds]
    if not found:
        raise UserError("no seeds to run", "for example, seeds=range(5)")
    return list(dict.fromkeys(found))


def parse_reference(texts: Iterable[str]) -> Mapping[str, tuple[float, float]]:
    """``ENV=LOW,HIGH`` as the scores that count as 0 and 1 in an environment."""
    found: dict[str, tuple[float, float]] = {}
    for text in texts:
        env, _, bounds = text.rpartition("=")
        try:
            low, high = map(float, bounds.split(","))
        except ValueError:
            env = ""
        if not env:
            raise UserError(
                f"--reference {text!r} is not of the form ENV=LOW,HIGH", "write --reference gym:CartPole-v1=20,500"
            )
        if not -math.inf < low < high < math.inf:
            raise UserError(f"--reference {text!r} is not a range", "give the lower score first")
        found[env] = (low, high)
    return found
