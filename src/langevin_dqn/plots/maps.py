"""Maps of a grid, one per recorded episode, for a slider to move through."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class Frame(NamedTuple):
    """One map, ready to show: its episode, a colour and a value for each cell that can be reached, and words."""

    episode: int
    fills: list[str]
    values: list[float | None]
    words: str


@dataclass(frozen=True)
class Maps:
    """One quantity over the cells of a grid, by episode.

    Attributes:
        episodes: when each map was taken.
        values: for each of them rows of cells, from the top left; None or NaN is a cell that
            cannot be reached. A map that is None was not taken.
        title: what is shown.
        quantity: the name of the values, with their unit.
        layout: where what is on the grid.
        limit: values above it are shown as it is; by default the largest.
        least: where a logarithmic scale begins; without it the scale is linear, from 0.
        note: what a reader should know.
    """

    episodes: Sequence[int]
    values: Sequence[Any]
    title: str
    quantity: str
    layout: str = ""
    limit: float | None = None
    least: float | None = None
    note: str = ""

    def __post_init__(self) -> None:
        shapes = {np.shape(values) for values in self.values if values is not None}
        if len(self.episodes) != len(self.values) or len(shapes) != 1 or len(next(iter(shapes))) != 2:
            raise ValueError("maps are one grid per episode, all of one shape")

    @property
    def shape(self) -> tuple[int, int]:
        return next(np.shape(values) for values in self.values if values is not None)

    @property
    def reachable(self) -> np.ndarray:
        """Cells that have a value in some map."""
        return np.any([np.isfinite(self._array(values)) for values in self.values if values is not None], axis=0)

    @property
    def top(self) -> float:
        """The value at the upper end of the scale."""
        largest = max(float(np.nanmax(self._array(values))) for values in self.values if values is not None)
        return min(largest, self.limit) if self.limit is not None else largest

    def share(self, value: float) -> float:
        """Where on the scale a value is, from 0 to 1."""
        if self.least is None:
            return float(np.clip(value / (self.top or 1), 0, 1))
        return float(np.clip(np.log(max(value, self.least) / self.least) / np.log(self.top / self.least), 0, 1))

    def frames(self) -> list[Frame]:
        """The maps with their colours."""
        return [self._frame(episode, values) for episode, values in zip(self.episodes, self.values, strict=True)]

    def _frame(self, episode: int, values: Any) -> Frame:
        cells = np.argwhere(self.reachable)
        if values is None:
            return Frame(episode, ["none"] * len(cells), [None] * len(cells), f"Episode {episode}: no map")
        grid = self._array(values)
        row, column = np.unravel_index(np.nanargmax(grid), grid.shape)
        words = (
            f"Episode {episode}: mean {_short(np.nanmean(grid))}, largest {_short(grid[row, column])} "
            f"in row {row + 1}, column {column + 1}"
        )
        own = [float(grid[i, j]) for i, j in cells]
        fills = [color(self.share(value)) if np.isfinite(value) else "none" for value in own]
        return Frame(episode, fills, [float(_short(value)) if np.isfinite(value) else None for value in own], words)

    def _array(self, values: Any) -> np.ndarray:
        return np.array(values, np.float64)


def color(share: float) -> str:
    """From dark to bright as ``share`` goes from 0 to 1, as in the pictures; lightness alone distinguishes values."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return to_hex(colormaps["viridis"](share))


def _short(value: float) -> str:
    return f"{value:.3g}"
