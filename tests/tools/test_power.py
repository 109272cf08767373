"""Numbers of runs that tests need, against cases with a closed form."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, nct, t

SCRIPT = Path(__file__).parents[2] / "tools" / "power.py"
SIMULATIONS = 4000
#: Five standard errors of a share, at most.
NEAR = 5 * 0.5 / math.sqrt(SIMULATIONS)


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_sign_test_with_a_known_chance_to_win(tool):
    """Three of four pairs are won: the binomial gives the power."""
    power = tool.sign_power([(np.array([1.0, 1.0, 1.0, 3.0]), np.array([2.0]))], SIMULATIONS)
    for pairs in (5, 20, 40):
        critical = next(k for k in range(pairs + 2) if binom.sf(k - 1, pairs, 0.5) <= 0.05)
        assert power(pairs, 0.05) == pytest.approx(binom.sf(critical - 1, pairs, 0.75), abs=NEAR)


def test_runs_that_never_learn_are_ties(tool):
    never = np.array([math.inf])
    assert tool.sooner_power([never], 0.5, SIMULATIONS)(50, 0.05) == 0.0
    always = tool.sooner_power([np.array([100.0]), never], 0.5, SIMULATIONS)
    assert [always(n, 0.05) for n in (4, 5)] == [0.0, 1.0]  # 2^-5 is the first below 0.05


def test_without_an_effect_the_power_is_the_level(tool):
    data = np.random.default_rng(1).exponential(size=200)
    assert tool.sign_power([(data, data)], SIMULATIONS)(40, 0.05) <= 0.05 + NEAR
    assert tool.student_power([(data, 1)], 0.0, 0.0, SIMULATIONS)(40, 0.05) <= 0.05 + NEAR
    assert tool.trend_power(data, [1, 5, 25], 1.0, 400)(5, 0.05) <= 0.05 + 5 * math.sqrt(0.05 / 400)


def test_students_test_of_normal_values(tool):
    """The noncentral t distribution gives the power."""
    values = np.random.default_rng(2).normal(size=20_000)
    power = tool.student_power([((values - values.mean()) / values.std(), 2)], -0.5, 0.0, SIMULATIONS)
    for units in (3, 10):
        n = 2 * units
        exact = nct.sf(t.isf(0.05, n - 1), n - 1, 0.5 * math.sqrt(n))
        assert power(units, 0.05) == pytest.approx(exact, abs=NEAR)


def test_every_cell_has_to_pass_and_equal_values_take_the_sign_test(tool):
    equal = (np.zeros(4), 1)
    power = tool.student_power([equal], -0.1, 0.0, 10)
    assert [power(n, 0.05) for n in (4, 5)] == [0.0, 1.0]
    wide = (np.array([-100.0, 100.0]), 1)
    assert tool.student_power([equal, wide], -0.1, 0.0, SIMULATIONS)(10, 0.05) < 0.1


def test_a_trend_is_seen_sooner_the_steeper_it_is(tool):
    residuals = np.random.default_rng(3).normal(size=100)
    gentle, steep = (tool.trend_power(residuals, [1, 5, 25], fall, 200)(5, 0.05) for fall in (0.5, 0.1))
    assert gentle + 0.2 < steep


def test_the_number_that_is_needed(tool):
    assert tool.needed(lambda n, level: float(n >= 37), 0.05) == 37
    assert tool.needed(lambda n, level: 0.5, 0.05) is None
    case = tool.Case("a test", "a claim", "an effect", "seeds", 5, lambda n, level: float(n >= 2 / level), 10)
    assert tool.table([case]).splitlines()[2] == "| a test | a claim | an effect | seeds | 5 | 0% | 40 | 400 |"


def test_categories_without_stored_differences_are_left_out(tool, capsys):
    """As at scale quick, where no experiment of generalization is run."""
    cells = tool.bsuite_cells({"noise": [0.1, 0.2, 0.3, 0.4], "generalization": [], "scale": [0.1]}, passes=2)
    assert [(tag, len(values), each) for tag, (values, each) in cells.items()] == [("noise", 4, 2)]
    assert capsys.readouterr().err.endswith("stored: generalization, scale\n")
