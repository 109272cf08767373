"""Documented places that have moved still work, and say where to."""

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "name"),
    [("gymnasium", "GymnasiumEnvironment"), ("dm_env", "DmEnvironment"), ("as_gymnasium", "GymnasiumEnv")],
)
def test_the_old_place_is_an_alias(module, name, monkeypatch):
    old, new = f"langevin_dqn.environments.{module}", f"langevin_dqn.environments.adapters.{module}"
    monkeypatch.delitem(sys.modules, old, raising=False)
    with pytest.warns(DeprecationWarning, match=new):
        moved = importlib.import_module(old)
    assert getattr(moved, name) is getattr(importlib.import_module(new), name)
