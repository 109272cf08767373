"""The places that ``tools/mutate.py`` breaks."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import mutate

SOURCE = '''"""Documentation with 1 < 2."""
@dataclass(frozen=True)
class A:
    x: Literal[3] = 4

    def f(self, y: int = 5) -> Array[6]:
        """More of it: 7."""
        if not y or y >= 8:
            raise ValueError("9 - 1")
        return jnp.maximum((self.x + y) * -1.5, f"{10}")
'''


@pytest.fixture
def found(tmp_path, monkeypatch):
    (tmp_path / "a.py").write_text(SOURCE)
    monkeypatch.setattr(mutate, "PACKAGE", tmp_path)
    return mutate.mutants_of("a.py")


def test_every_kind_of_place_is_found_and_nothing_else(found):
    changes = sorted((SOURCE[m.start : m.end], m.new) for m in found)
    assert changes == sorted(
        [
            ("4", "5"), ("5", "6"), ("not y", "y"), ("or", "and"), (">=", ">"), ("8", "9"), ("maximum", "minimum"),
            ("+", "-"), ("*", "/"), ("-1.5", "1.5"), ("1.5", "3.0"),
        ]
    )  # fmt: skip


def test_names_are_distinct(found):
    assert len({m.name(SOURCE) for m in found}) == len(found)


@pytest.mark.parametrize("file", mutate.TESTED)
def test_modules_and_their_tests_exist(file):
    assert mutate.mutants_of(file)
    assert all((mutate.ROOT / test).is_file() for test in mutate.TESTED[file])


def test_the_sample_has_every_module_and_is_the_same_every_time():
    files = list(mutate.TESTED)
    drawn = list(mutate.sample(files, 60, 0))
    assert {m.file for m in drawn} == set(files)
    assert drawn == list(mutate.sample(files, 60, 0)) != list(mutate.sample(files, 60, 1))
