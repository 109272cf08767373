"""What the tests of the documentation share: its pages, their code and their commands."""

import re
import shlex
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: README and the pages; what ``report`` writes has no code of its own.
PAGES = {
    str(path.relative_to(ROOT)): path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if path.name not in ("results.md", "deeper_results.md")
}
PROGRAMS = ("langevin-dqn", "python", "make", "pip")


def text_of(page):
    return PAGES[page].read_text(encoding="utf-8")


def fences(page):
    """The fenced blocks of a page: language and code. Blocks in tabs are indented."""
    language, lines = None, []
    for line in text_of(page).splitlines():
        fence = re.fullmatch(r" *```(\w*)", line)
        if fence and language is None:
            language, lines = fence[1], []
        elif fence:
            yield language, textwrap.dedent("\n".join(lines))
            language = None
        elif language is not None:
            lines.append(line)
    assert language is None, f"{page} has a block without an end"


def blocks(page, language):
    """The blocks of a page in one language, in order."""
    return [code for found, code in fences(page) if found == language]


def in_blocks(page):
    """Every command in the shell blocks of a page, up to a redirection; a block without a language may be one."""
    for language, block in fences(page):
        is_shell = language == "bash" or (language == "" and block.lstrip().startswith(PROGRAMS))
        for line in block.replace("\\\n", " ").splitlines() if is_shell else []:
            words = shlex.split(line, comments=True)
            if words:
                yield words[: words.index(">")] if ">" in words else words


def inline(page):
    """Every code span of a page that is a command."""
    prose = re.sub(r"^ *```.*?^ *```", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose):
        if span.startswith(tuple(f"{program} " for program in PROGRAMS)) and "…" not in span and "..." not in span:
            yield shlex.split(span)


def commands():
    """Every command of the documentation: the page, and its words; each once for a page."""
    found = {}
    for page in PAGES:
        for words in [*in_blocks(page), *inline(page)]:
            found[page, tuple(words)] = None
    return list(found)
