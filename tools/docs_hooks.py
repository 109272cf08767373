"""What MkDocs does for the documentation beside its plugins: mathematics, notebooks and pages made from the code.

- ``$…$`` and ``$$…$$`` become MathML when the site is built, so that pages load no script for it.
- ``docs/notebooks/*.ipynb`` become pages, with the outputs that are stored in them.
- ``<!-- fields: … -->`` and ``<!-- commands -->`` become tables of settings and options, read from the code.
- CHANGELOG, CONTRIBUTING and SECURITY, which are kept at the root of the repository, become pages.
"""

import ast
import base64
import dataclasses
import html
import importlib
import inspect
import itertools
import json
import logging
import re
import textwrap
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LOG = logging.getLogger("mkdocs.hooks.langevin_dqn")  # a warning stops a strict build

#: Files at the root of the repository, and the pages that they become.
ROOT_PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are no Markdown files of ``docs/``."""
    for name, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, content=moved((ROOT / name).read_text(encoding="utf-8"))))
    for path in sorted((Path(config.docs_dir) / "notebooks").glob("*.ipynb")):
        text, pictures = notebook_page(json.loads(path.read_text(encoding="utf-8")), path.stem)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, data in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=data))
    return files


#: Pages whose table of claims needs the room of the table of contents.
WIDE_PAGES = ("results.md", "deeper_results.md")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in the tables that are read from the code."""
    if page.file.src_uri in WIDE_PAGES:
        page.meta["hide"] = ["toc"]
    markdown = re.sub(r"<!-- fields: (.*?) -->", lambda m: fields_table(m[1].split()), markdown, flags=re.DOTALL)
    markdown = re.sub(r"<!-- other fields -->", lambda _: other_fields(markdown_of_configuration()), markdown)
    return re.sub(r"<!-- commands -->", lambda _: commands(), markdown)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Turn the mathematics that ``pymdownx.arithmatex`` has marked into MathML, and mark what must stay on one line."""
    content = re.sub(r"(?<=, )(p = [\d.e+-]+)(?=</td>)", r'<span class="p-value">\1</span>', content)
    # mkdocstrings leaves a space between a default and the parenthesis after it.
    content = re.sub(r"(default:\s*<code>[^()]*?</code>)\s+\)", r"\1)", content)
    return to_mathml(content, page.file.src_uri)


# -- mathematics -------------------------------------------------------------------

_MATH = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<block>.*?)\\\])</(?P=tag)>', re.DOTALL
)


def to_mathml(content: str, place: str) -> str:
    """HTML with MathML in place of the LaTeX in it."""
    from latex2mathml.converter import convert

    def one(match: re.Match) -> str:
        latex = html.unescape(match["inline"] if match["block"] is None else match["block"]).strip()
        display = "inline" if match["block"] is None else "block"
        found = convert(latex.replace("{aligned}", "{align*}"), display=display)
        # TeX sets no space around these two, MathML does.
        found = re.sub(
            r"<mo[^>]*>(&#x0007C;|&#x0002F;)</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', found
        )
        if "\\" in found or "<mi>&</mi>" in found:
            LOG.warning("%s: LaTeX that cannot be shown: %s", place, latex)
        return found if display == "inline" else f'<div class="math-block">{found}</div>'

    content = _MATH.sub(one, content)
    inline = r'(<math[^>]*display="inline"[^>]*>(?:(?!</math>).)*</math>[.,;:)]+)'
    return re.sub(inline, r'<span class="no-break">\1</span>', content, flags=re.DOTALL)


# -- pages from files elsewhere ------------------------------------------------------


def moved(text: str) -> str:
    """A page of the root of the repository, with its links as seen from ``docs/project``."""
    for name, page in ROOT_PAGES.items():
        text = text.replace(f"]({name}", f"](docs/{page}")
    return text.replace("](docs/", "](../")


def notebook_page(notebook: dict[str, Any], name: str) -> tuple[str, dict[str, bytes]]:
    """A notebook as Markdown, and the pictures that it shows, by file name."""
    parts, pictures = [], {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"]).strip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source:
            parts.append(f"```python\n{source}\n```")
            for output in cell["outputs"]:
                data = output.get("data", {})
                if "image/png" in data:
                    file = f"{name}_{len(pictures)}.png"
                    pictures[file] = base64.b64decode(data["image/png"])
                    parts.append(f"![{output['metadata'].get('alt', 'The plot that the cell draws')}]({file})")
                elif text := "".join(output.get("text", data.get("text/plain", ""))).strip():
                    parts.append(f"```text\n{text}\n```")
    parts.append(f"*This page is the notebook `docs/notebooks/{name}.ipynb`; CI runs it and compares what it prints.*")
    return "\n\n".join(parts) + "\n", pictures


# -- tables from the code ------------------------------------------------------------


def docstrings_of_fields(cls: type) -> dict[str, str]:
    """What the strings below the fields of a dataclass say, by field."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # type: ignore[attr-defined]
    found = {}
    for field, text in itertools.pairwise(body):
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and is_text:
            found[field.target.id] = " ".join(text.value.value.split())  # type: ignore[union-attr,attr-defined]
    return found


def shown(value: Any) -> str:
    """A setting's value, as one writes it on the command line."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(str, value)) or "(none)"
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def settings(rows: list[str]) -> str:
    """A table that becomes a list on small screens."""
    return "\n".join(['<div class="settings" markdown>', "", *rows, "", "</div>"])


def fields_table(names: list[str]) -> str:
    """Settings with their defaults, ranges and meaning, and what the recommended presets make of them."""
    from langevin_dqn.config import SETTINGS, AgentConfig
    from langevin_dqn.presets import AGENTS, preset

    about, defaults = docstrings_of_fields(AgentConfig), AgentConfig()
    rows = ["| field | default | recommended | what it is |", "|---|---|---|---|"]
    for name in names:
        setting, default = SETTINGS.get(name), getattr(defaults, name)
        values = {agent: getattr(preset(agent), name) for agent in AGENTS}
        if len(set(values.values())) == 1:
            recommended = "" if values["dqn"] == default else f"`{shown(values['dqn'])}`"
        else:
            recommended = "<br>".join(f"{agent}: `{shown(value)}`" for agent, value in values.items())
        words = about[name]
        if setting is not None and not setting.choices and type(default) in (int, float):
            words += f" {setting.range[0].upper()}{setting.range[1:]}."
        rows.append(f"| `{name}` | `{shown(default)}` | {recommended} | {cell(words)} |")
    return settings(rows)


def markdown_of_configuration() -> str:
    return (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")


def other_fields(page: str) -> str:
    """A last table with the settings that no group of the page names."""
    from langevin_dqn.config import FIELD_TYPES

    named = {name for group in re.findall(r"<!-- fields: (.*?) -->", page, re.DOTALL) for name in group.split()}
    others = [name for name in FIELD_TYPES if name not in named]
    return f"## Others\n\n{fields_table(others)}" if others else ""


def commands() -> str:
    """Every command of ``langevin-dqn`` with its options."""
    from langevin_dqn.cli.main import COMMANDS

    parts = []
    for name, (module, about) in COMMANDS.items():
        options = importlib.import_module(module).Args
        # A dataclass without a docstring of its own gets its signature as one.
        own = inspect.cleandoc(options.__doc__ or "")
        words = about[0].upper() + about[1:] + "." if own.startswith("Args(") else own
        parts += [f"## {name}", words, options_table(options)]
    return "\n\n".join(parts)


def options_table(options: type) -> str:
    rows = ["| option | default | what it does |", "|---|---|---|"]
    about = docstrings_of_fields(options)
    for field in dataclasses.fields(options):
        positional = "Positional" in str(field.type)
        name = field.name.upper() if positional else "--" + field.name.replace("_", "-")
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        value = "required" if required else _default(field.default)
        rows.append(f"| `{name}` | {value} | {cell(about[field.name])} |")
    return settings(rows)


def _default(value: Any) -> str:
    return "" if value in (None, (), False, "") or value is dataclasses.MISSING else f"`{shown(value)}`"
