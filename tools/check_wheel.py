"""Build wheel and sdist, install the wheel into an empty environment and use it
there.

    python tools/check_wheel.py   # writes to out/dist; needs the package build

With the base installation, the command, a run and the optimizer must work.
The packages of the extras must be absent, and a command that needs one must
name it.
"""

import argparse
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "out" / "dist"
#: Files besides modules that must be in both archives.
DATA = ["langevin_dqn/py.typed", *(f"langevin_dqn/report/templates/{p.name}" for p in
        (ROOT / "src/langevin_dqn/report/templates").iterdir())]  # fmt: skip


def call(*command: object, code: int = 0, cwd: Path = ROOT) -> tuple[str, str]:
    """Run a command; anything but the expected exit code ends the check."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=cwd)
    if done.returncode != code:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def build() -> tuple[Path, Path]:
    """Wheel and sdist of a copy of the repository, so that nothing is left in it."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        files = ["pyproject.toml", "README.md", "LICENSE", "CITATION.cff"]
        source.mkdir()
        for name in files:
            shutil.copy(ROOT / name, source)
        shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
        call(sys.executable, "-m", "build", "--outdir", DIST, source)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def check_contents(wheel: Path, sdist: Path) -> None:
    modules = [str(p.relative_to(ROOT / "src")) for p in sorted((ROOT / "src/langevin_dqn").rglob("*.py"))]
    with zipfile.ZipFile(wheel) as archive:
        packed = set(archive.namelist())
    with tarfile.open(sdist) as archive:
        sources = {name.partition("/src/")[2] for name in archive.getnames()}
    for name in [*modules, *DATA]:
        for where, names in ((wheel, packed), (sdist, sources)):
            if name not in names:
                sys.exit(f"{where.name} lacks {name}")


def check_installed(wheel: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        venv.create(home / "venv", with_pip=True)
        python, command = home / "venv/bin/python", home / "venv/bin/langevin-dqn"
        install = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "-c",
            ROOT / "constraints.txt",
        ]
        call(*install, wheel)
        for package in ("matplotlib", "polars", "jinja2"):
            call(python, "-c", f"import {package}", code=1)
        version, _ = call(command, "--version", cwd=home)
        print(f"{wheel.name} installed: version {version.strip()}")
        call(python, "-c", "import langevin_dqn; langevin_dqn.langevin_adam(1e-3, 1e-4)", cwd=home)
        out, _ = call(command, "run", "--agent", "dqn", "--env", "deep_sea:depth=4", "--episodes", 20, cwd=home)
        print(out)
        _, err = call(command, "report", "--store", ".", code=2, cwd=home)
        print(err)
        call(*install, "langevin-dqn[report]")  # the line that the message names
        call(command, "reproduce", "fig1", "--store", "store", cwd=home)
        if not (home / "store" / "report.html").stat().st_size:
            sys.exit("reproduce wrote no page")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    wheel, sdist = build()
    check_contents(wheel, sdist)
    check_installed(wheel)
    print(f"{wheel.name} and {sdist.name} are complete, and the wheel works in an empty environment")
