"""The look into a search that docs/notes/depth_50.md rests on, against the rules of the sea written out."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "where_search_stops.py"
DEPTH, MEMBERS = 6, 3


@pytest.fixture(scope="module")
def look():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def search():
    """Values, the action that goes right, and the cells of a few random episodes."""
    rng = np.random.default_rng(0)
    q = rng.normal(size=(DEPTH**2, MEMBERS, 2))
    right = rng.integers(0, 2, (DEPTH, DEPTH))
    visited = np.zeros((DEPTH, DEPTH), bool)
    for _ in range(4):
        column = 0
        for row in range(DEPTH):
            visited[row, column] = True
            column = max(column + rng.choice([-1, 1]), 0)
    return q, right, visited


def test_the_frontier_is_the_actions_to_cells_never_visited(look, search):
    q, right, visited = search
    expected = []
    for row, column in np.argwhere(visited[:-1]):
        for action in (0, 1):
            step = 1 if action == right[row, column] else -1
            if not visited[row + 1, max(column + step, 0)]:
                values = q[row * DEPTH + column]
                expected.append(values[:, action] - values[:, 1 - action])
    found = look.gains_at_frontier(q, visited, right)
    assert len(expected) > 3
    np.testing.assert_allclose(np.sort(found, axis=0), np.sort(expected, axis=0))


def test_the_action_that_continues_the_diagonal(look, search):
    q, right, _ = search
    values, action = q[2 * DEPTH + 2], right[2, 2]
    np.testing.assert_array_equal(look.gain_on_diagonal(q, 3, right), values[:, action] - values[:, 1 - action])


def test_error_of_moves_is_the_bellman_error_and_the_last_row_leads_nowhere(look):
    """Cell 0 leads to cell 1 and that to the end, which is any number that is no cell."""
    q = np.array([[[1.0, 0.0]], [[0.5, 2.0]]])
    moves = look.Moves(np.array([0, 1]), np.array([0, 1]), np.array([0.25, 1.0]), np.array([1, 2]))
    wrong = np.array([0.25 + 2.0 - 1.0, 1.0 + 0.0 - 2.0])
    assert moves.error(q) == pytest.approx(np.sqrt((wrong**2).mean()))


@pytest.mark.slow
def test_the_command_reports_how_far_the_search_got():
    words = [sys.executable, SCRIPT, "--depth=5", "--episodes=400", "--every=100"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    cells = [float(share) for share in re.findall(r"cells (\d\.\d\d)", done.stdout)]
    assert cells == sorted(cells)
    assert re.search(r"diagonal  5 .* treasure \d+ times", done.stdout)
    assert "learned at" in done.stdout


def test_a_buffer_that_forgets_is_refused():
    words = [sys.executable, SCRIPT, "--depth=5", "--every=100", "--set", "buffer_size=300"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the buffer must take every step" in done.stderr
