"""requirements/*.txt lists what pyproject.toml asks for, in versions that it allows, with hashes."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCKS = {"base": "report", "dev": "dev", "bench": "bench"}


def wanted(extra: str) -> list[Requirement]:
    """The packages of an extra, those of the extras that it names among them, and of the base."""
    found = [Requirement(line) for line in PROJECT["dependencies"]]
    for requirement in map(Requirement, PROJECT["optional-dependencies"][extra]):
        if canonicalize_name(requirement.name) == "langevin-dqn":
            found += [r for inner in requirement.extras for r in wanted(inner)]
        else:
            found.append(requirement)
    return found


def entries(name: str) -> dict[str, list[tuple[str, list[str]]]]:
    """By package: its versions, each with its hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for line in filter(lambda line: line and not line.startswith("#"), text.splitlines()):
        package, version = re.match(r"([\w.-]+)(?:\[[^]]*])?==([^\s;]+)", line).groups()
        hashes = re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line)
        found.setdefault(canonicalize_name(package), []).append((version, hashes))
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_everything_that_is_asked_for_is_locked_in_a_version_that_fits(name):
    locked = entries(name)
    for requirement in wanted(LOCKS[name]):
        versions = [version for version, _ in locked[canonicalize_name(requirement.name)]]
        assert all(requirement.specifier.contains(version) for version in versions), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_every_entry_has_a_hash_and_no_package_comes_by_another_way(name):
    assert all(hashes for versions in entries(name).values() for _, hashes in versions)
    assert "torch" not in entries(name)
    assert "://" not in (ROOT / "requirements" / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", LOCKS)
def test_locked_versions_are_those_of_the_constraints(name):
    pinned = {}
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if "==" in line:
            package, version = line.partition("#")[0].strip().split("==")
            pinned[canonicalize_name(package)] = version
    differ = {
        package: version
        for package, versions in entries(name).items()
        for version, _ in versions
        if pinned.get(package, version) != version
    }
    assert not differ
