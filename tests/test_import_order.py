"""Imports point one way, files stay short, and the cheap entrances stay cheap."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import langevin_dqn

ROOT = Path(langevin_dqn.__file__).parent
MOST_LINES = 350

# A folder, or a module, may import from its own line and from the lines above it.
ORDER = [
    {
        "errors",
        "field_docs",
        "files",
        "machine",
        "version",
        "stopping",
        "compile_time",
        "runs",
        "runs.metrics",
        "synonyms",
    },
    {"extras", "ids", "prng", "pytrees", "array_files", "runs.folders", "runs.metric_log", "runs.parquet_footer"},
    {"config", "keys"},
    {"presets"},
    {"environments"},
    {"runs.result", "runs.progress_file"},
    {"networks", "optimizers", "torch"},
    {"agents"},
    {"loops"},
    {"runs.checkpoint"},
    {"runs.resuming", "runs.saver"},
    {"runs.training_run"},
    {"training"},
    {"runs.checksum", "runs.identity", "runs.index", "runs.packs", "runs.run_files"},
    {"saved_agent", "runs.store"},
    {"runs.runners", "runs.repeating", "runs.stored_jobs"},
    {"insight"},
    {"analysis"},
    {"comparison"},
    {"seeds"},
    {"plots"},
    {"paper"},
    {"deeper"},
    {"report"},
    {"bench"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}

#: These know nothing of the package but what is named with them.
LEAVES = {
    "errors": set(),
    "field_docs": set(),
    "files": set(),
    "machine": set(),
    "runs.metrics": set(),
    "version": set(),
    "extras": {"errors"},
    "ids": {"errors"},
    "prng": set(),
    "pytrees": {"machine"},
    "stopping": set(),
    "compile_time": set(),
    "array_files": {"files", "machine"},
    "runs.folders": {"errors"},
    "runs.metric_log": {"errors", "extras", "files", "runs.folders"},
    "runs.parquet_footer": set(),
    "synonyms": set(),
    "config": {"errors", "field_docs", "synonyms"},
    "keys": {"prng"},
}


def module_name(path):
    parts = ("langevin_dqn", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports_of(name):
    """Modules of this package that ``name`` imports anywhere in its file, for annotations alone too."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    return imported_by(path.read_text(encoding="utf-8"), package) - {name}


def imported_by(source, package):
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [base])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                found.add(inner if inner in MODULES else base)
    return {module for module in found if module.split(".")[0] == "langevin_dqn"}


def part(name):
    """The folder or module that has a line in ORDER."""
    first, *rest = name.split(".")[1:]
    return f"{first}.{rest[0]}" if rest and f"{first}.{rest[0]}" in RANK else first


INNER = [name for name in MODULES if name != "langevin_dqn"]


def test_the_parser_sees_imports():
    assert "langevin_dqn.agents.registry" in imports_of("langevin_dqn.training")
    assert "langevin_dqn.prng" in imports_of("langevin_dqn.agents.replay")
    assert len(MODULES) > 15
    for source in (
        "from langevin_dqn.agents import base",
        "from langevin_dqn.agents.base import Agent",
        "import langevin_dqn.agents.base",
        "def f():\n    from langevin_dqn.agents.base import Agent",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from langevin_dqn.agents.base import Agent",
        "from .base import Agent",
        "from . import base",
    ):
        assert imported_by(source, "langevin_dqn.agents") == {"langevin_dqn.agents.base"}, source


@pytest.mark.parametrize("name", INNER)
def test_imports_point_one_way(name):
    assert part(name) in RANK, f"give {part(name)} a line in ORDER"
    for imported in imports_of(name) - {"langevin_dqn"}:
        assert RANK[part(imported)] <= RANK[part(name)], f"{name} imports {imported}"


@pytest.mark.parametrize("name", [n for n in INNER if part(n) in LEAVES])
def test_leaves_know_nothing_of_the_rest(name):
    assert {part(imported) for imported in imports_of(name)} <= LEAVES[part(name)]


def test_loops_know_agents_by_their_protocol_only():
    """Nothing of the value agent, its learners or its configuration is imported by a loop."""
    allowed = {"langevin_dqn.agents.base", "langevin_dqn.agents.episode"}
    for name in INNER:
        if part(name) == "loops":
            found = {module for module in imports_of(name) if part(module) in ("agents", "config", "presets")}
            assert found - {"langevin_dqn.agents"} <= allowed, name


def test_only_the_version_is_taken_from_the_front():
    """The front page loads everything lazily; from inside it would hide a dependency."""
    for name in INNER:
        for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "langevin_dqn" and not node.level:
                taken = {alias.name for alias in node.names}
                assert all(f"langevin_dqn.{t}" in MODULES or t == "__version__" for t in taken), (name, taken)


def test_no_cycles():
    """Not even through names that are imported for annotations alone."""
    graph = {name: imports_of(name) - {"langevin_dqn"} for name in INNER}
    TopologicalSorter(graph).prepare()
    graph["langevin_dqn.errors"] = {"langevin_dqn.training"}
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("name", MODULES)
def test_files_are_short(name):
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= MOST_LINES


def loaded_after(statement):
    code = f"import sys\n{statement}\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


HEAVY = {"jax", "jaxlib", "optax", "matplotlib", "tyro", "rich", "scipy", "polars"}
HELP = "import sys, langevin_dqn.cli.main as m\nsys.argv[1:] = ['--help']\ntry: m.main()\nexcept SystemExit: pass"


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import langevin_dqn", HEAVY),
        ("import langevin_dqn; langevin_dqn.preset('dqn'); langevin_dqn.UserError", HEAVY),
        (HELP, HEAVY),
        ("import langevin_dqn.cli.run", HEAVY - {"tyro", "rich"}),
        ("import langevin_dqn.cli.evaluate", HEAVY - {"tyro", "rich"}),
        ("import langevin_dqn.cli.bsuite", HEAVY - {"tyro", "rich"}),
        ("import langevin_dqn.cli.compare", HEAVY - {"tyro", "rich"}),
        ("import langevin_dqn.cli.report", HEAVY - {"tyro"}),
        ("import langevin_dqn.report.page", {"jinja2", "matplotlib", "tyro", "rich"}),
        (
            "import langevin_dqn.runs.store, langevin_dqn.analysis.bsuite_summary",
            {"polars", "matplotlib", "tyro", "rich"},
        ),
    ],
)
def test_cheap_entrances(statement, heavy):
    assert loaded_after(statement) & heavy == set()


def test_every_public_name_loads():
    for name in langevin_dqn.__all__:
        assert getattr(langevin_dqn, name) is not None
    with pytest.raises(AttributeError):
        _ = langevin_dqn.no_such_name
