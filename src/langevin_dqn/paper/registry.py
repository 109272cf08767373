"""The figures there are: the paper's, those about the recommended presets, and those that users register."""

import functools
from collections.abc import Sequence
from importlib import import_module

from langevin_dqn.errors import UserError, nearest
from langevin_dqn.ids import import_object
from langevin_dqn.paper.figure import Figure

#: The paper's figures, in its order; each is the file of its name.
PAPER = tuple(f"fig{number}" for number in range(1, 14))

#: About the recommended presets; ``deeper`` stands for all of them, and ``all`` for none.
DEEPER = ("deeper_depths", "deeper_ablation", "deeper_chain", "deeper_bsuite")

_registered: dict[str, Figure] = {}
_imported: dict[str, Figure] = {}  # by the id that was typed


@functools.cache
def _paper_figures() -> dict[str, Figure]:
    return {name: import_module(f"langevin_dqn.paper.{name}").FIGURE for name in PAPER}


@functools.cache
def _deeper_figures() -> dict[str, Figure]:
    home = "langevin_dqn.deeper."
    return {name: import_module(home + name.removeprefix("deeper_")).FIGURE for name in DEEPER}


def figures() -> dict[str, Figure]:
    """Every figure by id: the paper's in its order, then the others in the order they were registered."""
    return _paper_figures() | _registered


def family_of(figure: str) -> str:
    """Figures whose claims are corrected together for their number: the paper's, the deeper ones, or a figure alone."""
    return "paper" if figure in PAPER else "deeper" if figure in DEEPER else figure


def register_figure(figure: Figure) -> Figure:
    """Add a figure to those that ``reproduce`` runs and ``report`` draws.

    Args:
        figure: its runs, its claims and its drawing. Its id must not be taken.

    Returns:
        The figure itself, so that ``FIGURE = register_figure(Figure(...))`` works.
    """
    if not isinstance(figure, Figure):
        raise UserError(f"{figure!r} is not a Figure", "pass a langevin_dqn.paper.figure.Figure")
    if figure.id in (*PAPER, *DEEPER) or figure.id in _registered:
        raise UserError(f"a figure already exists with the id {figure.id!r}", "use another id")
    _registered[figure.id] = figure
    return figure


def choose(words: Sequence[str]) -> list[Figure]:
    """Figures by id, in the order they are named; ``all`` is every figure of the paper and of the user's.

    ``deeper`` is every figure about the recommended presets.
    ``python:package.module:name`` imports a ``Figure``, or a function that returns one, and registers it.
    """
    words = [name for word in words for name in (DEEPER if word == "deeper" else (word,))]
    named = {word: _import_figure(word).id if word.startswith("python:") else word for word in words}
    known = figures()
    if any(word.startswith("deeper") for word in words):
        known = known | _deeper_figures()
    for word, name in named.items():
        if name != "all" and name not in known:
            raise UserError(f"unknown figure {word!r}", nearest(word, [*known, *DEEPER, "deeper", "all"]))
    return list(figures().values()) if "all" in words else [known[name] for name in dict.fromkeys(named.values())]


def _import_figure(word: str) -> Figure:
    """Import a figure once, and register it unless its module did so itself."""
    if word not in _imported:
        found = import_object(word.removeprefix("python:"), "python")
        figure = found() if callable(found) and not isinstance(found, Figure) else found
        if not isinstance(figure, Figure):
            raise UserError(
                f"{word} is not a figure but {type(figure).__name__}",
                "it must be a Figure or a function that returns one",
            )
        if _registered.get(figure.id) is not figure:
            register_figure(figure)
        _imported[word] = figure
    return _imported[word]
