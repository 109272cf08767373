"""The notebooks run, and print what is stored in them; their pages show it."""

import importlib.util
import json
import sys

import pages
import pytest

FOLDER = pages.ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def load(name):
    spec = importlib.util.spec_from_file_location(name, pages.ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_there_are_two():
    assert [path.stem for path in NOTEBOOKS] == ["langevin_in_your_own_agent", "seeing_uncertainty_move"]


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_is_stored_in_it(path):
    import nbformat

    tool = load("run_notebooks")
    stored = tool.printed(nbformat.read(path, as_version=4))
    assert any(stored), "run python tools/run_notebooks.py --write"
    assert tool.printed(tool.run(path)) == stored


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_its_page_has_its_outputs(path):
    assert path.stat().st_size < 250_000
    notebook = json.loads(path.read_text(encoding="utf-8"))
    text, pictures = load("docs_hooks").notebook_page(notebook, path.stem)
    shown = sum(
        "image/png" in output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", [])
    )
    assert len(pictures) == shown == text.count("![")
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            assert "".join(output.get("text", "")).strip() in text
            assert output["output_type"] != "error"
