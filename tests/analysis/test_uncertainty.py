"""The numbers of Figure 5, on records made up so that the answer is known."""

import numpy as np
import pytest

from langevin_dqn.analysis.uncertainty import learned_map, nearest_map, reachable, summarise, uncertainty
from langevin_dqn.runs.result import UncertaintyMaps

DEPTH = 6


def record_of(values, visits, episodes=None):
    """``values``: each state's uncertainty by map, shared by two actions as 1 to 3."""
    values = np.asarray(values, np.float32).reshape(len(values), DEPTH**2)
    spread = np.stack([values / 4, 3 * values / 4], -1)
    episodes = 10 * np.arange(1, len(values) + 1) if episodes is None else episodes
    return UncertaintyMaps(np.asarray(episodes, np.int32), spread, np.asarray(visits, np.int32).reshape(values.shape))


def test_uncertainty_is_summed_over_actions_and_clipped_for_each():
    spread = np.array([[[1.0, 2.0], [60.0, 3.0], [70.0, 80.0]]])
    record = UncertaintyMaps(np.array([10]), spread, np.zeros((1, 3), int))
    assert uncertainty(record).tolist() == [[3, 53, 100]]
    assert uncertainty(record, clip=65).tolist() == [[3, 63, 130]]


def test_reachable_cells():
    assert reachable(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_which_map():
    record = record_of(np.zeros((4, DEPTH, DEPTH)), np.zeros((4, DEPTH, DEPTH)), episodes=[20, 40, 60, 80])
    assert [nearest_map(record, e) for e in (1, 49, 51, 999)] == [0, 1, 2, 3]
    assert [learned_map(record, e) for e in (1, 40, 41, 80, 81, None)] == [0, 1, 2, 3, None, None]


def test_the_summary_of_a_made_up_record():
    """Top 8 until map 5, then 1; bottom left 2; 30 where nobody was; out of reach a 1000 that must not count."""
    maps, columns = 12, np.arange(DEPTH)
    values = np.full((maps, DEPTH, DEPTH), 30.0)
    values[:, columns[:, None] < columns] = 1000
    values[:5, :3][:, np.tri(3, DEPTH, dtype=bool)] = 8
    values[5:, :3][:, np.tri(3, DEPTH, dtype=bool)] = 4
    values[7:, :3][:, np.tri(3, DEPTH, dtype=bool)] = 1
    values[:, 3:, :3] = 2
    visits = np.zeros((maps, DEPTH, DEPTH))
    visits[:, :3] = np.tri(3, DEPTH)
    visits[:, 3:, :3] = 5
    found = summarise(record_of(values, visits), DEPTH, learning_time=51)
    assert found.early_episode == 40
    assert found.early_top == pytest.approx(8)
    assert found.early_bottom_left == pytest.approx(2)
    assert found.early_visited == pytest.approx((6 * 8 + 9 * 2) / 15)
    assert found.early_unvisited == pytest.approx(30)
    assert found.top_to_bottom_left == pytest.approx(4)
    assert found.top_before == pytest.approx(8)
    assert found.top_after == pytest.approx(1)  # the last five maps, not the two that still say 4
    assert summarise(record_of(values, visits), DEPTH, 51, early=71).early_top == pytest.approx(4)


def test_what_there_is_none_of_is_not_a_number():
    values, visits = np.ones((3, DEPTH, DEPTH)), np.ones((3, DEPTH, DEPTH))
    never = summarise(record_of(values, visits), DEPTH, learning_time=None)
    assert np.isnan(never.top_after)
    assert np.isnan(never.early_unvisited)
    assert never.top_before == pytest.approx(1)
    at_once = summarise(record_of(values, visits), DEPTH, learning_time=1)
    assert np.isnan(at_once.top_before)
    assert np.isnan(at_once.top_to_bottom_left)


def test_the_ratio_is_a_median_and_leaves_out_the_first_map():
    values = np.ones((5, DEPTH, DEPTH))
    values[:, :3] = np.array([100, 2, 3, 9, 50])[:, None, None]
    values[:, 3:, 3:] = 7  # visited, but on the right
    record = record_of(values, np.ones((5, DEPTH, DEPTH)) * np.tri(DEPTH))
    assert summarise(record, DEPTH, learning_time=41).top_to_bottom_left == pytest.approx(3)
