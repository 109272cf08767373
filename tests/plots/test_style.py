"""Styles: the same for an agent everywhere, and one for agents that have none."""

import numpy as np
import pytest

from langevin_dqn import UserError
from langevin_dqn.plots.style import STYLES, check_path, joined, label, styles_of, typeset, wrapped


def test_known_agents_keep_their_style_and_order():
    found = styles_of(["langevin_dqn", "dqn", "langevin_dqn"])
    assert list(found) == ["dqn", "langevin_dqn"]
    assert found["dqn"] == STYLES["dqn"]


def test_agents_of_ones_own_differ_from_each_other():
    names = [f"python:mine:agent_{i}" for i in range(6)]
    found = styles_of([*names, "dqn"])
    assert list(found) == ["dqn", *names]
    assert [found[name].text for name in names] == names
    assert len({found[name][:2] for name in names[:4]}) == 4
    assert label(names[0]) == names[0]


def test_captions_are_wrapped_to_the_width():
    assert max(map(len, wrapped("word " * 60, 5.5).splitlines())) <= 17.5 * 5.5


def test_no_line_of_a_caption_is_much_shorter_than_the_others():
    first, second = wrapped("word " * 20, 5.5).splitlines()
    assert abs(len(first) - len(second)) <= 5


def test_names_with_settings_are_set_as_mathematics():
    assert typeset("5 members, σ_w² = 1e-4") == r"5 members, $\sigma_w^2$ = $10^{-4}$"
    assert typeset("plain") == "plain"


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([1, 2], []),
        ([1, 2, 3], [0, 1, 2]),
        ([1, np.inf, 2, 3, 4, 5, np.nan, 6, 7], [2, 3, 4, 5]),
    ],
)
def test_no_line_joins_fewer_than_three_neighbours(values, kept):
    found = joined(values)
    assert np.flatnonzero(np.isfinite(found)).tolist() == kept
    assert found[kept].tolist() == [values[place] for place in kept]


@pytest.mark.parametrize(("name", "message"), [("a.docx", "cannot write"), ("none/a.png", "does not exist")])
def test_files_that_no_picture_can_be(tmp_path, name, message):
    with pytest.raises(UserError, match=message):
        check_path(tmp_path / name)
