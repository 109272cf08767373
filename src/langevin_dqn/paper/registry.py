"""What to run, as data: the paper's figures and bsuite's protocol."""

import functools
from importlib import import_module

from langevin_dqn.errors import UserError, nearest
from langevin_dqn.paper.figure import Figure

_FILES = ("fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig8", "fig9", "fig11", "fig12")


@functools.cache
def figures() -> dict[str, Figure]:
    """Every figure, in the paper's order."""
    found = []
    for name in _FILES:
        module = import_module(f"langevin_dqn.paper.{name}")
        found += [module.FIGURE, *filter(None, [getattr(module, "BY_EXPERIMENT", None)])]
    return {figure.id: figure for figure in sorted(found, key=lambda figure: int(figure.id.removeprefix("fig")))}


def choose(words: list[str] | tuple[str, ...]) -> list[Figure]:
    """Figures by name; ``all`` is all of them."""
    known = figures()
    for word in words:
        if word != "all" and word not in known:
            raise UserError(f"unknown figure {word!r}", nearest(word, [*known, "all"]))
    return list(known.values()) if "all" in words else [known[word] for word in dict.fromkeys(words)]
