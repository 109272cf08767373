"""Figures of one's own beside the paper's: what is accepted, in which order, and what is refused."""

import sys

import pytest

import langevin_dqn
from langevin_dqn import UserError
from langevin_dqn.paper import registry
from langevin_dqn.paper.claims import HOLDS, Claim, Finding
from langevin_dqn.paper.figure import Figure
from langevin_dqn.paper.jobs import at_every_scale
from langevin_dqn.paper.registry import PAPER, choose, figures
from langevin_dqn.runs.runners import Job

JOBS = at_every_scale([Job("dqn", "deep_sea:depth=4", 0, 5, preset="paper")])


@pytest.fixture(autouse=True)
def only_the_papers(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "_imported", {})


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of a user's own, by name; its text is given."""

    def write(text):
        name = f"own_figures_{abs(hash(text))}"
        (tmp_path / f"{name}.py").write_text(f"from langevin_dqn.paper.figure import Figure\n{text}")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


def claim(name="seen", words="It was run."):
    return Claim(name, words, lambda runs: Finding(HOLDS, "seen"))


def test_the_papers_come_first_and_the_others_as_registered():
    for name in ("zebra", "a-study.v2", "2nd_look"):
        assert langevin_dqn.register_figure(Figure(name, "A study", JOBS)).id == name
    assert list(figures()) == [*PAPER, "zebra", "a-study.v2", "2nd_look"]
    assert [figure.id for figure in choose(["zebra", "fig2"])] == ["zebra", "fig2"]
    assert [figure.id for figure in choose(["all"])] == list(figures())


def test_each_of_the_papers_is_its_own_file():
    assert list(figures()) == [f"fig{number}" for number in range(1, 14)]
    for name, figure in figures().items():
        assert figure.id == name
        assert figure.label == f"Figure {name.removeprefix('fig')}"
        assert figure.draw is not None
        assert figure.describe is not None


@pytest.mark.parametrize("name", ["fig5", "mine"])
def test_a_taken_id_is_refused(name):
    langevin_dqn.register_figure(Figure("mine", "A study", JOBS))
    with pytest.raises(UserError, match=f"already exists with the id '{name}'"):
        langevin_dqn.register_figure(Figure(name, "Another study", JOBS))


@pytest.mark.parametrize("name", ["", "a b", "a/b", "../a", "-a", ".a", "a:b", "ä", "all"])
def test_ids_that_no_file_could_have(name):
    with pytest.raises(UserError, match="cannot be a figure's id"):
        Figure(name, "A study", JOBS)


def test_figures_that_do_not_hold_together():
    with pytest.raises(UserError, match="what to run at each scale"):
        Figure("mine", "A study", {"quick": ()})
    with pytest.raises(UserError, match="what to run at each scale"):
        Figure("mine", "A study", JOBS["quick"])
    with pytest.raises(UserError, match="same id"):
        Figure("mine", "A study", JOBS, (claim(), claim(words="Otherwise.")))
    with pytest.raises(UserError, match="same words"):
        Figure("mine", "A study", JOBS, (claim(), claim("again")))
    with pytest.raises(UserError, match="not a Figure"):
        langevin_dqn.register_figure("fig1")


OBJECT = 'figure = Figure("mine", "A study")'
FUNCTION = 'def figure():\n    return Figure("mine", "A study")'


@pytest.mark.parametrize("text", [OBJECT, FUNCTION])
def test_a_figure_by_its_python_name(module, text):
    word = f"python:{module(text)}:figure"
    (first,) = choose([word])
    assert list(figures()) == [*PAPER, "mine"]
    assert choose([word, "mine", word]) == [first]  # named again: the same one
    assert choose(["all", word])[-1] is first


def test_a_module_may_register_its_figure_itself(module):
    text = 'from langevin_dqn import register_figure\nfigure = register_figure(Figure("mine", "A study"))'
    assert [figure.id for figure in choose([f"python:{module(text)}:figure"])] == ["mine"]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("figure = 3", "figure", "is not a figure but int"),
        ("def figure():\n    return None", "figure", "is not a figure but NoneType"),
        ('figure = Figure("fig1", "x")', "figure", "already exists with the id 'fig1'"),
        ('figure = Figure("a b", "x")', "figure", "cannot import"),
        ("figure = 3", "figur", "has no 'figur'"),
    ],
)
def test_what_is_no_figure(module, text, name, message):
    with pytest.raises(UserError, match=message):
        choose([f"python:{module(text)}:{name}"])
    assert list(figures()) == list(PAPER)
