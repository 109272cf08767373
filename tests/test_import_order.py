"""Imports point one way, and the cheap entrances stay cheap."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import langevin_dqn

ROOT = Path(langevin_dqn.__file__).parent

# A module may import from its own line and from the lines above it.
ORDER = [
    {"errors", "machine", "metrics"},
    {"config", "presets", "environments", "networks", "optimizers", "replay", "torch"},
    {"agent", "row_learning", "row_state"},
    {"evaluation", "schedule"},
    {"results"},
    {"compiled_training", "host_training", "recording"},
    {"training"},
    {"checkpoint", "store"},
    {"runners"},
    {"insight"},
    {"analysis"},
    {"plots"},
    {"paper"},
    {"experiments"},
    {"report"},
    {"bench"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
LEAVES = {"errors", "machine", "metrics"}


def module_name(path):
    parts = ("langevin_dqn", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def is_for_types(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def nodes_of(tree, *, types):
    """Every node, with or without what stands under ``if TYPE_CHECKING``."""
    if types or not is_for_types(tree):
        yield tree
        for child in ast.iter_child_nodes(tree):
            yield from nodes_of(child, types=types)


def imports_of(name, *, types=True):
    """Modules of this package that ``name`` imports, anywhere in its file."""
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in nodes_of(ast.parse(path.read_text(encoding="utf-8")), types=types):
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
    return {module for module in found if module.split(".")[0] == "langevin_dqn"} - {name}


def part(name):
    return name.split(".")[1]


INNER = [name for name in MODULES if name != "langevin_dqn"]


def test_the_parser_sees_imports():
    assert "langevin_dqn.agent" in imports_of("langevin_dqn.training")
    assert "langevin_dqn.prng" in imports_of("langevin_dqn.replay")
    assert len(MODULES) > 15


@pytest.mark.parametrize("name", INNER)
def test_imports_point_one_way(name):
    assert part(name) in RANK, f"give {part(name)} a line in ORDER"
    for imported in imports_of(name) - {"langevin_dqn"}:
        assert RANK[part(imported)] <= RANK[part(name)], f"{name} imports {imported}"


@pytest.mark.parametrize("name", [n for n in INNER if part(n) in LEAVES])
def test_leaves_import_nothing_of_the_package(name):
    assert imports_of(name) == set()


def test_only_the_version_is_taken_from_the_front():
    """The front page loads everything lazily; from inside it would hide a dependency."""
    for name in INNER:
        for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "langevin_dqn" and not node.level:
                taken = {alias.name for alias in node.names}
                assert all(f"langevin_dqn.{t}" in MODULES or t == "__version__" for t in taken), (name, taken)


def test_no_cycles():
    """Names imported for annotations alone may point back within a line of ORDER."""
    TopologicalSorter({name: imports_of(name, types=False) - {"langevin_dqn"} for name in INNER}).prepare()


def loaded_after(statement):
    code = f"import sys\n{statement}\nprint(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


HEAVY = {"jax", "jaxlib", "optax", "matplotlib", "tyro", "rich", "scipy", "polars"}


@pytest.mark.parametrize(
    ("statement", "heavy"),
    [
        ("import langevin_dqn", HEAVY),
        ("import langevin_dqn; langevin_dqn.preset('dqn'); langevin_dqn.UserError", HEAVY),
        ("import langevin_dqn.cli.main", HEAVY),
        ("import langevin_dqn.cli.run", HEAVY - {"tyro", "rich"}),
        ("import langevin_dqn.cli.bsuite", HEAVY - {"tyro", "rich"}),
        ("import langevin_dqn.cli.report", HEAVY - {"tyro", "rich"}),
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
