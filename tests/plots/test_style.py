"""Styles: the same for an agent everywhere, and one for agents that have none."""

import pytest

from langevin_dqn import UserError
from langevin_dqn.plots.style import STYLES, check_path, label, styles_of, wrapped


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


@pytest.mark.parametrize(("name", "message"), [("a.docx", "cannot write"), ("none/a.png", "does not exist")])
def test_files_that_no_picture_can_be(tmp_path, name, message):
    with pytest.raises(UserError, match=message):
        check_path(tmp_path / name)
