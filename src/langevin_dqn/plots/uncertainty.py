"""Maps of the uncertainty of the states of Deep Sea through training: some side by side, or a film."""

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from langevin_dqn import files
from langevin_dqn.analysis.uncertainty import CLIP, grid, learned_map, nearest_map, reachable, uncertainty
from langevin_dqn.errors import UserError
from langevin_dqn.ids import refuse_import
from langevin_dqn.plots.style import check_path, label, wrapped, write
from langevin_dqn.runs.folders import check_file
from langevin_dqn.runs.result import Result, UncertaintyMaps

#: Where the colours begin; smaller values look the same. The scale is logarithmic: the uncertainty of known and
#: unknown states differs by a factor of hundreds.
LEAST = 0.01
#: Where they end in every picture, so that pictures can be compared: two actions, each clipped.
MOST = 2 * CLIP
#: Those of the paper's text, and two more; the learning time and the end are added.
EPISODES = (10, 40, 70, 100)


def chosen(record: UncertaintyMaps, learning_time: int | None, episodes: Sequence[int] = EPISODES) -> list[int]:
    """Maps to show: those nearest to ``episodes``, the first since the run had learned, and the last."""
    last = len(record.episodes) - 1
    places = {nearest_map(record, episode) for episode in episodes if episode <= record.episodes[last]}
    learned = learned_map(record, learning_time)
    return sorted({*places, last if learned is None else learned, last})


def check(path: str | Path, env: str, environment: object) -> Path:
    """Refuse a file that no picture can be written to, and an environment that has no map."""
    from langevin_dqn.environments.bsuite.deep_sea import DeepSea  # here, because it loads JAX

    if not isinstance(environment, DeepSea):
        raise UserError(f"{env} has no grid to draw", "maps can be drawn for Deep Sea only")
    path = Path(path)
    if path.suffix == ".gif":
        check_path(path.with_suffix(".png"))  # the same folder
        check_file(path)
        return path
    return check_path(path)


def draw(result: Result, path: str | Path) -> Path:
    """A film if the file's name ends in .gif, else maps side by side."""
    return animate(result, path) if Path(path).suffix == ".gif" else draw_maps(result, path)


def draw_maps(result: Result, path: str | Path, episodes: Sequence[int] = EPISODES, caption: str | None = None) -> Path:
    """Maps of one seed, with one scale for all.

    Args:
        result: a run of Deep Sea that recorded Q.
        path: a .png, .pdf or .svg file.
        episodes: which to show, besides the learning time and the end.
        caption: the protocol, written below; by default that of the run.
    """
    path, record, depth = _ready(result, path)
    shown = chosen(record, result.learning_time, episodes)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = 1 if len(shown) < 4 else 2
    columns = -(-len(shown) // rows)
    protocol = _caption(result) if caption is None else caption
    words = wrapped(f"{protocol.removesuffix('.')}. {_KEY}" if protocol else _KEY, 5.5)
    with plt.rc_context({"font.size": 8}):
        size = (5.5, 1.75 * rows + 0.2 + 0.13 * len(words.splitlines()))
        figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
        for axis in axes.flat[len(shown) :]:
            axis.set_visible(False)
        for place, axis in zip(shown, axes.flat, strict=False):
            image = _draw(axis, record, depth, place)
            axis.set_title(_title(result, record, place), size=8)
            axis.set_xlabel("column")
            axis.label_outer()
        for axis in axes[:, 0]:
            axis.set_ylabel("row = time step")
        _scale(figure, image, axes.ravel().tolist(), shrink=0.7)
        figure.supxlabel(words, size=7, color="0.35")
        write(figure, path, dpi=300)
        plt.close(figure)
    return path


def animate(result: Result, path: str | Path, per_second: int = 4) -> Path:
    """Every map of one seed, one after the other, as a .gif."""
    if Path(path).suffix != ".gif":
        raise UserError(f"cannot write an animation to {path}", "use a file name that ends in .gif")
    path, record, depth = _ready(result, path)
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.animation import FuncAnimation, PillowWriter

    places = range(len(record.episodes))
    with plt.rc_context({"font.size": 8}):
        figure, axis = plt.subplots(figsize=(3.6, 3.2))

        def frame(place: int):
            axis.clear()
            image = _draw(axis, record, depth, place)
            axis.set_title(_title(result, record, place))
            axis.set(xlabel="column", ylabel="row = time step")
            return (image,)

        _scale(figure, frame(0)[0], [axis], shrink=1)
        with tempfile.TemporaryDirectory() as scratch, files.replacing(path) as file:
            film = Path(scratch) / "film.gif"  # its writer takes a name only
            FuncAnimation(figure, frame, frames=places).save(film, writer=PillowWriter(fps=per_second), dpi=110)
            with film.open("rb") as drawn:
                shutil.copyfileobj(drawn, file)
        plt.close(figure)
    return path


def _ready(result: Result, path: str | Path) -> tuple[Path, UncertaintyMaps, int]:
    """Where to draw, the record and the depth; or what is missing. The result may come from a file."""
    from langevin_dqn.environments import make_env
    from langevin_dqn.environments.bsuite.deep_sea import DeepSea

    refuse_import(result.env, "the result", "maps can be drawn for Deep Sea only")
    environment = make_env(result.env)
    path = check(path, result.env, environment)
    if result.record is None or not len(result.record.episodes):
        raise UserError("there is no map to draw", "record Q (record=q) over at least 10 episodes")
    assert isinstance(environment, DeepSea)
    return path, result.record, environment.depth


def _draw(axis, record: UncertaintyMaps, depth: int, place: int):
    """One map: cells out of reach hatched, visited ones with a dot."""
    from matplotlib.colors import LogNorm
    from matplotlib.patches import Rectangle

    axis.add_patch(Rectangle((-0.5, -0.5), depth, depth, hatch="//////", fc="0.95", ec="0.75", lw=0, zorder=0))
    values = np.ma.masked_where(~reachable(depth), grid(uncertainty(record)[place], depth))
    image = axis.imshow(values, cmap="viridis", norm=LogNorm(LEAST, MOST, clip=True), zorder=1)
    rows, columns = np.nonzero(grid(record.visits[place], depth))
    axis.plot(columns, rows, ".", color="white", mec="black", mew=0.3, ms=2.5, zorder=2)
    for ends in (axis.xaxis, axis.yaxis):
        ends.set_ticks([0, depth - 1], ["1", str(depth)])  # counted from 1, as in the drawing of Deep Sea
    axis.tick_params(length=2)
    return image


def _scale(figure, image, axes, shrink: float) -> None:
    bar = figure.colorbar(image, ax=axes, shrink=shrink, pad=0.02)
    bar.set_label("uncertainty of Q")
    bar.outline.set_linewidth(0.5)


def _title(result: Result, record: UncertaintyMaps, place: int) -> str:
    """The episode, and on the first map since the run had learned, when that was."""
    words = f"episode {record.episodes[place]}"
    learned = place == learned_map(record, result.learning_time)
    return f"{words} (learned at {result.learning_time})" if learned else words


#: How to read a map.
_KEY = "White dot: visited before. Hatched: out of reach."


def _caption(result: Result) -> str:
    learned = f"learned at episode {result.learning_time}" if result.solved else "not learned"
    updates = result.setting("updates_per_step", 1)
    return (
        f"{label(result.agent)}, {result.preset} preset, {result.env}, {updates} updates per step, "
        f"seed {result.seed}, {learned}. Standard deviation of Q over 10 episodes, clipped at {CLIP:g}, summed over "
        "actions."
    )
