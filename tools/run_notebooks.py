"""Run the notebooks of the documentation, and compare what they print with what is stored in them.

    python tools/run_notebooks.py
    python tools/run_notebooks.py --write   # store the new outputs

The exit code is 1 if an output differs from the stored one.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import nbformat
import tyro
from nbclient import NotebookClient

from langevin_dqn.cli.arguments import refuse, script_options
from langevin_dqn.errors import UserError

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"


@dataclass
class Args:
    """Run notebooks and compare their outputs."""

    notebooks: Annotated[tuple[Path, ...], tyro.conf.Positional] = ()
    """Notebooks to run. Default: those in docs/notebooks."""
    write: bool = False
    """Store the new outputs in the notebooks."""


def run(path: Path) -> Any:
    """The notebook with the outputs of a run of now, without times and counters."""
    notebook = nbformat.read(path, as_version=4)
    # As the command line does it: one thread, and nothing from the folder of the notebook.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
    client = NotebookClient(notebook, timeout=900, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}})
    client.create_kernel_manager()
    client.km.transport = "ipc"  # the kernel warns of TCP, where other users of the machine could listen
    client.execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            for output in cell.outputs:
                output.pop("execution_count", None)
                if output.output_type == "execute_result":
                    output.execution_count = None
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def printed(notebook: Any) -> list[str]:
    """What each code cell prints or returns, as text; pictures are left out."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            texts = []
            for output in cell.outputs:
                data = output.get("data", {})
                if "image/png" not in data:
                    texts.append("".join(output.get("text", data.get("text/plain", ""))))
            found.append("".join(texts).strip())
    return found


def main(args: Args) -> int:
    different = 0
    for path in args.notebooks:
        if not path.is_file():
            return refuse(UserError(f"there is no notebook {path}", "pass .ipynb files, or none to run all"))
    for path in args.notebooks or sorted(FOLDER.glob("*.ipynb")):
        stored, now = nbformat.read(path, as_version=4), run(path)
        if args.write:
            nbformat.write(now, path)
            print(f"wrote {path}")
        if not args.write and printed(stored) == printed(now):
            print(f"{path}: the same outputs as stored")
        for before, after in zip(printed(stored), printed(now), strict=True):
            if before != after and not args.write:
                different += 1
                print(f"{path}: a cell printed\n{after}\ninstead of\n{before}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
