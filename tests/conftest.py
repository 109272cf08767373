"""What several tests share."""

import jax
import pytest


@pytest.fixture
def quick_compilation():
    """For programs that take longer to compile than to run."""
    name = "jax_disable_most_optimizations"
    before = jax.config.read(name)
    jax.config.update(name, True)
    yield
    jax.config.update(name, before)
