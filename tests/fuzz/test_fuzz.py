"""Bad input by the hundred: every case ends as documented. ``python tools/fuzz.py`` does it by the thousand."""

import harness
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from kinds import KINDS

#: Cases in all.
CASES = 300


def check(kind, cases, **options):
    """Run so many cases of a kind."""
    strategy, case = KINDS[kind]

    @settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck), **options)
    @given(strategy)
    def each(value):
        harness.run(lambda folder: case(folder, value))

    with harness.without_training():
        each()


@pytest.mark.parametrize("kind", KINDS)
def test_every_case_ends_as_documented(kind):
    check(kind, CASES // len(KINDS), derandomize=True, phases=(Phase.generate,))
