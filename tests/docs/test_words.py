"""The text of the documentation: links, markup that would not render, and words that the style guide replaces."""

import re
import tomllib
from itertools import pairwise

import pages
import pytest

import langevin_dqn
from langevin_dqn import extras

SOURCES = sorted((pages.ROOT / "src").rglob("*.py"))
ROLES = re.compile(r":(math|class|func|meth|mod|attr|data|obj|exc):`|^\s*\.\. \w+::", re.MULTILINE)


def test_no_sphinx_markup_in_docstrings():
    assert ROLES.search("see :func:`train`")
    assert ROLES.search("    .. math:: x")
    assert [str(path) for path in SOURCES if ROLES.search(path.read_text(encoding="utf-8"))] == []


def test_examples_are_a_section_that_renders():
    alone = re.compile(r"^ +Example:$", re.MULTILINE)
    assert [str(path) for path in SOURCES if alone.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "tools/README.md"])
def test_links_of_files_at_the_root(page):
    """MkDocs checks those of the pages."""
    path = pages.ROOT / page
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        assert link.startswith("http") or (path.parent / link).exists(), link


TABLE_RULE = re.compile(r"\|[-:| ]*-[-:| ]*\|")


def outside_blocks(text):
    """The lines of a page, without its fenced blocks."""
    return re.sub(r"^ *```.*?^ *```$", "```", text, flags=re.MULTILINE | re.DOTALL).splitlines()


def broken_layout(text):
    """Lines that a blank line spoils: the rule of a table, which belongs below its header, and a second blank line."""
    lines = ["x", *outside_blocks(text)]
    rules = [line for above, line in pairwise(lines) if TABLE_RULE.fullmatch(line) and not above.startswith("|")]
    torn = [
        f"two blank lines above {line!r}"
        for line, *above in zip(lines[2:], lines[1:], lines, strict=False)
        if line and not any(above)
    ]
    return [*rules, *torn]


def test_tables_and_paragraphs_are_not_torn_apart():
    assert broken_layout("| a |\n|---|\n| 1 |\n\ntext\n```\n\n\n```") == []
    assert broken_layout("| a |\n\n|---|\n") == ["|---|"]
    assert broken_layout("a\n\n\nb") == ["two blank lines above 'b'"]
    files = pages.PAGES | {name: pages.ROOT / name for name in ("CHANGELOG.md", "SECURITY.md", "tools/README.md")}
    found = {name: broken_layout(path.read_text(encoding="utf-8")) for name, path in files.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


IDS = re.compile(r"(?<![\w`/.:-])(fig\d+|alg\d|table\d)(?![\w`.-])")


@pytest.mark.parametrize("page", [page for page in pages.PAGES if not page.endswith("going_deeper.md")])
def test_figures_and_algorithms_have_their_names_in_prose(page):
    prose = re.sub(r"^ *```.*?^ *```|`[^`]*`|\]\([^)]*\)|<!--.*?-->", "", pages.text_of(page), flags=re.M | re.DOTALL)
    assert IDS.findall(prose) == []


def test_extras_are_documented_and_declared():
    declared = tomllib.loads((pages.ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = (pages.ROOT / "docs/guide/install.md").read_text(encoding="utf-8")
    assert [extra for extra in declared if f"`{extra}`" not in table] == []
    for package, extra in extras.EXTRAS.items():
        brings = [requirement.partition(">")[0].replace("-", "_") for requirement in declared[extra]]
        assert package in brings


def test_versions_agree():
    version = langevin_dqn.__version__
    assert f"version: {version}\n" in (pages.ROOT / "CITATION.cff").read_text()
    assert f"## {version} " in (pages.ROOT / "CHANGELOG.md").read_text()
    assert f"version = {{{version}}}" in (pages.ROOT / "docs/project/cite.md").read_text()


def test_every_field_has_a_place_in_the_reference():
    from langevin_dqn.config import FIELD_TYPES

    page = (pages.ROOT / "docs/reference/configuration.md").read_text()
    groups = re.findall(r"<!-- fields: (.*?) -->", page, re.DOTALL)
    named = [name for group in groups for name in group.split()]
    assert len(named) == len(set(named))
    assert set(named) <= set(FIELD_TYPES)
    assert "<!-- other fields -->" in page
