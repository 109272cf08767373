"""Mutation testing: break the code at random places, one at a time, and count how often a test fails.

    python tools/mutate.py --count 120      # about an hour of one core
    python tools/mutate.py --match store --count 20

The places are found in the syntax tree, so they follow the code: operators, comparisons, conditions, numbers, minimum
and maximum. They are drawn with a fixed seed, as many from each module as it has a share of all. A mutant counts as
killed when a test of its module fails, or does not end within five minutes of processor time. The outcome is written
after each one; a repeated command goes on from there. ``mutants.py`` breaks chosen places in chosen ways.
"""

import ast
import json
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from mutants import ROOT, passes
from scipy import stats

from langevin_dqn.cli.arguments import script_options

PACKAGE = ROOT / "src" / "langevin_dqn"
AGENTS, LEARNERS, OPTIMIZERS, RUNS = "tests/agents/", "tests/agents/learners/", "tests/optimizers/", "tests/runs/"
#: Modules, and the tests that must notice, the fastest first.
TESTED: dict[str, tuple[str, ...]] = {
    "optimizers/langevin.py": (OPTIMIZERS + "test_langevin_optimizers.py", OPTIMIZERS + "test_keyed_and_schedules.py"),
    "optimizers/own_key.py": (OPTIMIZERS + "test_keyed_and_schedules.py",),
    "optimizers/lazy_rows.py": (OPTIMIZERS + "test_lazy_rows.py", LEARNERS + "test_lazy.py"),
    "optimizers/distinct.py": (OPTIMIZERS + "test_distinct.py",),
    "agents/update.py": (
        AGENTS + "test_update.py",
        LEARNERS + "test_dense.py",
        AGENTS + "test_value_agent.py",
        AGENTS + "test_prior.py",
    ),
    "agents/replay.py": (AGENTS + "test_replay.py", AGENTS + "test_value_agent.py"),
    "agents/value_agent.py": (
        AGENTS + "test_value_agent.py",
        AGENTS + "test_own_agent_identity.py",
        AGENTS + "test_value_scale.py",
        AGENTS + "test_prior.py",
    ),
    "agents/prior.py": (AGENTS + "test_prior.py",),
    "agents/value_scale.py": (AGENTS + "test_value_scale.py",),
    "agents/episode.py": (
        AGENTS + "test_episode.py",
        AGENTS + "test_base.py",
        "tests/loops/test_recording.py",
        "tests/test_recorded_runs.py",
    ),
    "agents/learners/dense.py": (LEARNERS + "test_dense.py", AGENTS + "test_update.py"),
    "agents/learners/lazy.py": (LEARNERS + "test_lazy.py",),
    "agents/learners/lazy_blocks.py": (LEARNERS + "test_lazy.py",),
    "runs/metrics.py": (RUNS + "test_metrics_spec.py",),
    "runs/result.py": (
        RUNS + "test_result.py",
        RUNS + "test_store.py",
        RUNS + "test_metrics_spec.py",
        "tests/test_training.py",
    ),
    "runs/store.py": (
        RUNS + "test_run_files.py",
        RUNS + "test_store.py",
        RUNS + "test_packs.py",
        RUNS + "test_index.py",
        RUNS + "test_stored_jobs.py",
    ),
    "runs/packs.py": (RUNS + "test_packs.py",),
    "runs/run_files.py": (RUNS + "test_run_files.py", RUNS + "test_store.py", RUNS + "test_packs.py"),
    "runs/checksum.py": (RUNS + "test_run_files.py", RUNS + "test_store.py"),
    "runs/stored_jobs.py": (RUNS + "test_stored_jobs.py", "tests/cli/test_verify_command.py"),
    "keys.py": ("tests/test_keys.py",),
}

_SWAPS: dict[type, str] = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.Mod: "*", ast.Pow: "*", ast.FloorDiv: "*",
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in", ast.And: "or", ast.Or: "and", ast.BitAnd: "|", ast.BitOr: "&",
}  # fmt: skip
_NAMES = {"minimum": "maximum", "maximum": "minimum", "max": "min", "min": "max", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """A piece of a file, and what to put there."""

    file: str
    line: int
    start: int
    end: int
    new: str

    def name(self, text: str) -> str:
        old = " ".join(text[self.start : self.end].split())
        column = self.start - text.rfind("\n", 0, self.start)
        return f"{self.file}:{self.line}:{column}: {old} -> {self.new}"


class _Finder(ast.NodeVisitor):
    """Places of one file that can be broken; annotations, documentation and messages are left alone."""

    def __init__(self, file: str, text: str):
        self.file, self.text, self.found = file, text, []
        lengths = [len(line) for line in text.splitlines(keepends=True)]
        self._starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        self._bytes = [line.encode() for line in text.splitlines(keepends=True)]

    def _place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._bytes[line - 1][:column].decode())

    def _add(self, node: ast.AST, new: str) -> None:
        start, end = (self._place(*at) for at in _ends(node))
        self.found.append(Mutant(self.file, node.lineno, start, end, new))  # type: ignore[attr-defined]

    def _between(self, left: ast.AST, right: ast.AST, new: str) -> None:
        """Replace the operator between two operands; parentheses around them stay."""
        start, end = self._place(*_ends(left)[1]), self._place(*_ends(right)[0])
        gap = self.text[start:end]
        old = gap.strip("() \n\t\\")
        if old and "#" not in gap:
            at = start + gap.index(old)
            self.found.append(Mutant(self.file, left.lineno, at, at + len(old), new))  # type: ignore[attr-defined]

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in _SWAPS:
            self._between(node.left, node.right, _SWAPS[type(node.op)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._between(node.values[0], node.values[1], _SWAPS[type(node.op)])
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        self._between(node.left, node.comparators[0], _SWAPS[type(node.ops[0])])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            self._add(node, self.text[self._place(*_ends(node.operand)[0]) : self._place(*_ends(node.operand)[1])])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self._add(node, str(not value))
        elif isinstance(value, int):
            self._add(node, str(value + 1))
        elif isinstance(value, float):
            self._add(node, repr(2 * value if value else 1.0))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in _NAMES:
            end = self._place(*_ends(node)[1])
            self.found.append(Mutant(self.file, node.lineno, end - len(node.attr), end, _NAMES[node.attr]))
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in node.body:
            self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for part in node.body:
            self.visit(part)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.dump(node.test):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages are left alone."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts are left alone."""


def _ends(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def mutants_of(file: str) -> list[Mutant]:
    """Every mutant of a module that still parses."""
    text = (PACKAGE / file).read_text(encoding="utf-8")
    finder = _Finder(file, text)
    finder.visit(ast.parse(text))
    return [mutant for mutant in finder.found if _parses(text[: mutant.start] + mutant.new + text[mutant.end :])]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def sample(files: list[str], count: int, seed: int) -> Iterator[Mutant]:
    """So many mutants, spread over the modules by their number of places, in a mixed order."""
    places = {file: mutants_of(file) for file in files}
    total, rng, chosen = sum(map(len, places.values())), random.Random(seed), []
    for own in places.values():
        share = max(round(count * len(own) / total), 1)
        chosen += rng.sample(own, min(share, len(own)))
    rng.shuffle(chosen)
    yield from chosen


@dataclass
class Args:
    """Mutation testing."""

    count: int = 120
    """Number of mutants, shared among the modules: at least one for each."""
    match: str = ""
    """Only the modules whose path contains this text."""
    seed: int = 0
    """Random seed of the draw."""
    workers: int = 1
    """Number of mutants tried at the same time."""
    out: Path = Path("out/mutate.json")
    """File for the outcome."""


def main(args: Args) -> int:
    files = [file for file in TESTED if args.match in file]
    if not files:
        print(f"error: no module matches {args.match!r}\nhint: there are {', '.join(TESTED)}", file=sys.stderr)
        return 2
    args.out.parent.mkdir(parents=True, exist_ok=True)
    outcome: dict[str, str] = json.loads(args.out.read_text()) if args.out.exists() else {}
    texts = {file: (PACKAGE / file).read_text(encoding="utf-8") for file in files}
    mutants = {mutant.name(texts[mutant.file]): mutant for mutant in sample(files, args.count, args.seed)}
    with ThreadPoolExecutor(args.workers) as pool:
        trials = {pool.submit(survives, mutants[name], texts): name for name in mutants if name not in outcome}
        for trial in as_completed(trials):
            name = trials[trial]
            outcome[name] = "survived" if trial.result() else "killed"
            args.out.write_text(json.dumps(outcome, indent=1))
            print(f"{outcome[name]:9} {name}", flush=True)
    killed = [outcome[name] for name in mutants].count("killed")
    interval = stats.binomtest(killed, len(mutants)).proportion_ci(method="wilson")
    share = f"{killed / len(mutants):.0%}, 95% interval {interval.low:.0%} to {interval.high:.0%}"
    print(f"{killed} of {len(mutants)} killed ({share})")
    return 0


def survives(mutant: Mutant, texts: dict[str, str]) -> bool:
    """True if no test of its module notices the mutant."""
    text = texts[mutant.file]
    new = text[: mutant.start] + mutant.new + text[mutant.end :]
    return all(passes(mutant.file, new, test, cpu_seconds=300) for test in TESTED[mutant.file])


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
