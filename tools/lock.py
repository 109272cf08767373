"""Write ``requirements/*.txt``: every package that the make targets install,
with its version and hashes.

    pip install uv
    python tools/lock.py

Versions are those of ``constraints.txt``, for Linux and macOS, and Python
3.11.5 to 3.13. torch is left out: its builds for CPU and CUDA have the same
version, but different hashes.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: By file: the extras whose packages it lists.
LOCKS = {"base": "report", "dev": "dev", "bench": "bench"}
HEADER = "# Made by tools/lock.py from pyproject.toml and constraints.txt.\n"


def compile_lock(name: str) -> str:
    options = (
        "--universal --python-version 3.11.5 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet "
        f"--extra {LOCKS[name]} --constraints constraints.txt"
    )
    command = ["uv", "pip", "compile", "pyproject.toml", "-", *options.split()]
    try:
        done = subprocess.run(command, cwd=ROOT, input="setuptools>=77\n", capture_output=True, text=True)
    except FileNotFoundError:
        print("error: uv is not installed\nhint: pip install uv", file=sys.stderr)
        sys.exit(2)
    if done.returncode:
        sys.exit(done.stderr)
    return HEADER + done.stdout


def main() -> None:
    for name in LOCKS:
        (ROOT / "requirements" / f"{name}.txt").write_text(compile_lock(name))


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
