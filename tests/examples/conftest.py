"""What the tests of the examples share; ``examples`` is on the Python path."""

import pytest


@pytest.fixture
def command(langevin_dqn_command):
    """The command line in this process: (exit code, stdout, stderr)."""
    return langevin_dqn_command
