"""The installed script finds modules of the working directory, whose folder Python does not look in by itself."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import langevin_dqn
from langevin_dqn.cli import main

ROOT = Path(__file__).parents[2]
SCRIPT = "from langevin_dqn.cli.main import main\nmain()\n"


def test_an_agent_beside_the_user(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "project" / "mine").mkdir(parents=True)
    script = tmp_path / "bin" / "langevin-dqn"
    script.write_text(SCRIPT)
    shutil.copy(ROOT / "examples" / "random_walk.py", tmp_path / "project" / "mine" / "walk.py")
    package = str(Path(langevin_dqn.__file__).parents[1])
    done = subprocess.run(
        [
            *(sys.executable, script, "run", "--agent=python:mine.walk:RandomWalk", "--env", "deep_sea:depth=2"),
            *("--episodes", "3", "--json"),
        ],
        cwd=tmp_path / "project",
        env=os.environ | {"PYTHONPATH": package, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["agent"] == "python:mine.walk:RandomWalk"


@pytest.mark.parametrize(
    ("argv", "looks"),
    [
        (["run", "--agent", "python:mine:make"], True),
        (["run", "--agent", "dqn", "--env=jax:mine:make:size=3"], True),
        (["run", "--agent", "dqn", "--env", "jax:mine:make:size=3"], True),
        (["run", "--agent", "dqn", "--network", "python:mine:Net"], True),
        (["run", "--agent", "dqn", "--env", "deep_sea:depth=4", "--set", "members=3"], False),
        (["evaluate", "agents"], False),
    ],
)
def test_only_where_an_id_imports(argv, looks, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["/elsewhere"])
    main.find_own_modules(argv)
    main.find_own_modules(argv)
    assert sys.path == ([str(tmp_path)] if looks else []) + ["/elsewhere"]
