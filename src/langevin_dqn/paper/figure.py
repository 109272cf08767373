"""A figure: what to run, what should come out, and how it is drawn."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from langevin_dqn.errors import UserError
from langevin_dqn.paper.claims import Claim, Finding
from langevin_dqn.paper.jobs import NO_RUNS, SCALES
from langevin_dqn.paper.protocol_text import protocol_of
from langevin_dqn.plots.maps import Maps
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Job

#: An id is also the name of a picture's file and of a place on the page.
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Figure:
    """One figure.

    Examples:
        >>> from langevin_dqn.paper.claims import HOLDS, Finding
        >>> from langevin_dqn.paper.jobs import at_every_scale
        >>> learns = Claim("learns", "DQN learns depth 4.", lambda runs: Finding(HOLDS, f"{len(runs)} runs"))
        >>> runs = at_every_scale([Job("dqn", "deep_sea:depth=4", 0, 100)])
        >>> figure = Figure("shallow", "DQN at depth 4", runs, (learns,))
        >>> len(figure.jobs["quick"]), figure.label
        (1, 'shallow')

    Attributes:
        id: its name on the command line and in files: letters, digits, ``_``, ``-`` and ``.``.
        title: what it shows.
        jobs: its runs at each scale; none for what is computed without training. ``at_every_scale([...])`` gives every
            scale the same runs.
        claims: what is said about it, each with a test.
        note: which variant of the agents it uses, and why.
        draw: draws a report to a .png, .pdf or .svg file, with a caption below; returns the path, or None where there
            are too few runs. Matplotlib is imported inside it.
        describe: what the picture shows, in words, for readers who do not see it.
        interactive: maps for the page's slider, or None where there are none yet.
        label: its name in prose, such as "Figure 5"; the id by default.
    """

    id: str
    title: str
    jobs: Mapping[str, tuple[Job, ...]] = field(default_factory=NO_RUNS.copy)
    claims: tuple[Claim, ...] = ()
    note: str = ""
    draw: "Callable[[FigureReport, Path, str], Path | None] | None" = None
    describe: "Callable[[FigureReport], str] | None" = None
    interactive: "Callable[[FigureReport], Maps | None] | None" = None
    label: str = ""

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id) or self.id == "all":
            raise UserError(
                f"{self.id!r} cannot be a figure's id",
                "begin with a letter or digit and use letters, digits, '_', '-' and '.'; 'all' stands for every figure",
            )
        if not isinstance(self.jobs, Mapping) or set(self.jobs) != set(SCALES):
            raise UserError(
                f"figure {self.id!r} does not define what to run at each scale",
                f"define jobs for {', '.join(SCALES)}, or at_every_scale(jobs)",
            )
        for kind in ("id", "words"):
            names = [getattr(claim, kind) for claim in self.claims]
            if len(set(names)) < len(names):
                raise UserError(f"two claims of figure {self.id!r} have the same {kind}", "give each its own")
        if not self.label:
            object.__setattr__(self, "label", self.id)


@dataclass(frozen=True)
class FigureReport:
    """A figure as far as a store has its runs.

    Attributes:
        figure: what it is about.
        scale: the scale whose runs were looked at.
        results: its runs that are in the store.
        planned: how many runs the scale has.
        findings: the verdict on each of its claims.
    """

    figure: Figure
    scale: str
    results: tuple[Result, ...]
    planned: int
    findings: tuple[tuple[Claim, Finding], ...]

    @property
    def has_scales(self) -> bool:
        """Whether the figure has other runs at another scale."""
        return any(jobs != self.figure.jobs[self.scale] for jobs in self.figure.jobs.values())

    @property
    def budget(self) -> int | None:
        """Episodes that its longest run may take; None without runs."""
        return max((job.episodes or 0 for job in self.figure.jobs[self.scale]), default=None)

    @property
    def seconds(self) -> float:
        """Run time, summed over runs."""
        return sum(result.seconds for result in self.results)

    @property
    def protocol(self) -> str:
        """What was run, in a line."""
        return protocol_of(self.results, self.budget)
