"""Every Python block in README and the pages runs; the blocks of a page are one program, on a small budget."""

import functools
import re
from pathlib import Path

import pages
import pytest

import langevin_dqn.training as training

WITH_CODE = [page for page in pages.PAGES if pages.blocks(page, "python")]
#: What is written smaller than on the page, so that it takes seconds.
SMALLER = {
    "docs/guide/bsuite.md": [("out/bsuite", "store")],
    "docs/guide/first_run.md": [("arange(8)", "arange(2)")],
    "docs/guide/parallel.md": [("range(20)", "range(2)"), ("episodes=500", "episodes=5"), ("out/runs", "store")],
    "docs/notes/posterior.md": [
        ("num_samples=1000", "num_samples=50"), ("num_samples=500", "num_samples=50"), ("burn_in=1000", "burn_in=10"),
    ],
}  # fmt: skip
#: Pages whose code takes a second; the others run in ``make test-all``.
FAST = ("docs/reference/api/index.md",)


def test_the_reader_of_pages_sees_code():
    assert len(WITH_CODE) >= 8
    assert all(page in pages.PAGES for page in SMALLER)


@pytest.fixture
def small_budgets(monkeypatch):
    """``train`` and ``make_train`` with at most a few episodes."""
    for name in ("train", "make_train"):
        real = getattr(training, name)

        def short(*args, real=real, **kwargs):
            limits = {"episodes": 12, "steps": 200}
            return real(*args, **kwargs | {k: min(kwargs[k], limits[k]) for k in limits if kwargs.get(k)})

        monkeypatch.setattr(training, name, functools.wraps(real)(short))


@pytest.mark.parametrize(
    "page", [page if page in FAST else pytest.param(page, marks=pytest.mark.slow) for page in WITH_CODE]
)
def test_the_code_of_a_page_runs(page, small_budgets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "import torch" in pages.text_of(page):
        pytest.importorskip("torch")
    prepare(page)
    names = {"__name__": "__main__"}
    for number, code in enumerate(pages.blocks(page, "python")):
        for there, here in SMALLER.get(page, []):
            code = code.replace(there, here)
        exec(compile(code, f"{page}, block {number}", "exec"), names)


def prepare(page):
    """What a page's commands leave for its code: agents that were saved, a store of runs."""
    from langevin_dqn import save_agent, train
    from langevin_dqn.runs.runners import Job
    from langevin_dqn.runs.store import Store

    saved = re.search(r"--env (\S+)[^`]*--save (out/\w+)", pages.text_of(page))
    if saved:
        Path(saved[2]).mkdir(parents=True)
        save_agent(train("dqn", saved[1], episodes=2, keep_agent=True), f"{saved[2]}/seed_0.npz")
    if page == "docs/guide/bsuite.md":
        job = Job("dqn", "catch/0", 0, 2)
        Store("store").put(job, train("dqn", "catch/0", episodes=2))


def test_smaller_numbers_are_those_of_the_page():
    for page, changes in SMALLER.items():
        for there, _ in changes:
            assert there in pages.text_of(page), (page, there)
