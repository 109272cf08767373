"""What works with the base installation alone, and what is said where an extra is missing."""

import subprocess
import sys

import pytest

from langevin_dqn import extras
from langevin_dqn.errors import UserError

#: Everything that an extra installs; SciPy is needed by JAX itself.
BLOCKED = sorted({*extras.EXTRAS, "pandas"} - {"scipy"})
BLOCK = f"""
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())
"""
COMMAND = "import langevin_dqn.cli.main as m\nm.main()"


def base_python(code, *argv):
    done = subprocess.run([sys.executable, "-c", BLOCK + code, *argv], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_the_optimizer_needs_only_the_base():
    code = "import langevin_dqn; print(langevin_dqn.langevin_adam(1e-3, 1e-4).init(1.0) is not None)"
    assert base_python(code)[:2] == (0, "True\n")


def test_run_needs_only_the_base():
    run = ["run", "--agent", "dqn", "--env", "probe_value", "--episodes", "5"]
    code, out, err = base_python(COMMAND, *run)
    assert (code, "probe_value" in out) == (0, True), err


@pytest.mark.parametrize(
    ("argv", "package", "extra"),
    [
        (["run", "--agent", "dqn", "--episodes", "1000000", "--plot", "a.png"], "matplotlib", "plots"),
        (["run", "--agent", "dqn", "--env", "catch/0", "--bsuite-csv", "a"], "polars", "report"),
        (["report", "--store", "."], "polars", "report"),
        (["bsuite", "--store", "a"], "polars", "report"),
        (["run", "--agent", "dqn", "--env", "gym:CartPole-v1"], "gymnasium", "gym"),
    ],
)
def test_a_missing_extra_is_named_before_anything_runs(argv, package, extra, tmp_path):
    code, out, err = base_python(f"import os; os.chdir({str(tmp_path)!r})\n" + COMMAND, *argv)
    assert (code, out) == (2, "")
    assert err == f"error: {package} is not installed\nhint: pip install 'langevin-dqn[{extra}]'\n"
    assert list(tmp_path.iterdir()) == []


def test_what_is_installed_is_not_refused():
    extras.require("polars", "matplotlib")
    with pytest.raises(UserError, match=r"pip install 'langevin-dqn\[ray\]'"):
        raise extras.missing("ray")


def test_status_loads_no_jax(tmp_path):
    """It reads names of files, and takes half a second less without."""
    code = f"""
import sys
from langevin_dqn.cli import status
status.main(status.Args(store={str(tmp_path)!r}))
sys.exit("jax" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
