"""A sweep killed again and again ends as one left alone; the benchmark with 20 kills, in small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "tools" / "kill_sweep.py"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_a_sweep_survives_kills(compiled):
    words = [sys.executable, BENCHMARK, "--kills=3", "--runs=8", "--episodes=40"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    report = json.loads(done.stdout)
    assert report["runs"] == 8
    assert sum(report["kills"].values()) == 3
