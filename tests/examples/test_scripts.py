"""Every example runs from the command line, at its smallest, and writes what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Arguments that make each example short, and the files it then writes.
SHORT = {
    "bandits.py": (["--quick", "--plot", "regret.png"], ["regret.png"]),
    "cartpole_gymnasium.py": (["--agents", "dqn", "--seeds", "1", "--steps", "300"], []),
    "compare_agents.py": (["--depth", "4", "--seeds", "2", "--episodes", "30", "--plot", "curves.png"], ["curves.png"]),
    "deep_exploration.py": (["--quick", "--plot", "depths.png"], ["depths.png"]),
    "four_states.py": (["--quick", "--plot", "triangles.png"], ["triangles.png"]),
    "layer_norm.py": ([], []),
    "noisy_dqn.py": (["--depth", "3", "--seeds", "1", "--episodes", "30"], []),
    "own_environment.py": (["--episodes", "20", "--seeds", "1"], []),
    "posterior.py": (["--plot", "posterior.png"], ["posterior.png"]),
    "random_walk.py": ([], []),
    "tabular_rlsvi.py": ([], []),
    "uncertainty_map.py": (
        ["--depth", "4", "--episodes", "40", "--updates-per-step", "5", "--out", "map"],
        ["map.png", "map.gif"],
    ),
}


def test_no_example_is_left_out():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SHORT)


#: Those that take a second or two; what the others show is tested elsewhere, too.
FAST = ("random_walk.py", "tabular_rlsvi.py")


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in SHORT]
)
def test_example(name, tmp_path):
    arguments, files = SHORT[name]
    former_names = ["-W", "error:langevin_dqn:DeprecationWarning"]
    command = [sys.executable, *former_names, str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    for file in files:
        assert (tmp_path / file).stat().st_size > 1000
