"""Maps of the sea are drawn, of the right episodes."""

import numpy as np
import pytest
from matplotlib import image
from PIL import Image

from langevin_dqn import UserError
from langevin_dqn.plots import uncertainty
from langevin_dqn.presets import preset
from langevin_dqn.runs.result import Result, UncertaintyMaps


def result_of(maps=14, depth=4, env=None, learned=25, **changes):
    """A run that earns nothing until ``learned`` episodes are over, and everything from then on."""
    rng = np.random.default_rng(0)
    returns = np.where(np.arange(10 * maps) < learned, 0.0, 0.99).astype(np.float32)
    record = UncertaintyMaps(
        10 * np.arange(1, maps + 1),
        rng.exponential(size=(maps, depth**2, 2)).astype(np.float32),
        rng.integers(0, 2, (maps, depth**2)),
    )
    fields = {
        "agent": "langevin_dqn", "env": env or f"deep_sea:depth={depth}", "seed": 0, "preset": "released",
        "config": preset("langevin_dqn", "released"), "max_return": 0.99, "learned_regret": 0.8, "returns": returns,
        "updates": 0, "seconds": 1.0, "record": record,
    }  # fmt: skip
    return Result(**fields | changes)


def test_the_maps_shown():
    result = result_of()
    episodes = result.record.episodes
    assert result.learning_time == 31
    assert [episodes[i] for i in uncertainty.chosen(result.record, 31)] == [10, 40, 70, 100, 140]
    assert [episodes[i] for i in uncertainty.chosen(result.record, 51)] == [10, 40, 60, 70, 100, 140]
    assert [episodes[i] for i in uncertainty.chosen(result.record, None)] == [10, 40, 70, 100, 140]
    assert uncertainty.chosen(result_of(maps=1).record, None) == [0]


@pytest.mark.parametrize("name", ["maps.png", "maps.pdf"])
def test_a_row_of_maps_is_written(tmp_path, name):
    path = uncertainty.draw(result_of(), tmp_path / name)
    assert path.stat().st_size > 5_000
    if path.suffix == ".png":
        pixels = image.imread(path)
        assert pixels.shape[1] == 1650  # 5.5 inches
        assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50


def test_a_film_has_a_picture_for_every_map(tmp_path):
    path = uncertainty.draw(result_of(maps=3), tmp_path / "maps.gif")
    with Image.open(path) as film:
        assert film.n_frames == 3


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"env": "catch"}, "maps.png", "no grid"),
        ({"record": None}, "maps.png", "no map"),
        ({"maps": 0}, "maps.png", "no map"),
        ({}, "maps.txt", "cannot write"),
        ({}, "nowhere/maps.gif", "does not exist"),
    ],
)
def test_what_cannot_be_drawn(tmp_path, changes, name, words):
    with pytest.raises(UserError, match=words):
        uncertainty.draw(result_of(**changes), tmp_path / name)


def test_a_film_is_a_gif(tmp_path):
    with pytest.raises(UserError, match="film"):
        uncertainty.animate(result_of(), tmp_path / "maps.png")
