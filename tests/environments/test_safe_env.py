"""An id that was read from a file never imports or runs code."""

import sys

import pytest

from langevin_dqn import UserError
from langevin_dqn.environments import safe_env

EVIL = [
    "dm:subprocess:getoutput:cmd=touch {target}",
    "dm:evil:factory",
    "gym:evil:Foo-v0",
    "gym:evil:Foo-v0:size=3",
    "gym:GymV26Environment-v0:env_id=evil:Foo-v0",
    "gym:GymV26Environment-v0:env_id=evil",
    "gym:langevin_dqn.environments.adapters.as_gymnasium:langevin_dqn/DeepSea-v0:env=dm:subprocess:getoutput",
    "jax:evil:factory",
    "jax:subprocess:getoutput:cmd=touch {target}",
    "python:evil:factory",
]


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """A file that exists once the module ``evil`` was imported or a command was run."""
    path = tmp_path / "trace"
    (tmp_path / "evil.py").write_text(f"open({str(path)!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield path
    sys.modules.pop("evil", None)


@pytest.mark.parametrize("env_id", EVIL)
def test_nothing_is_imported_and_nothing_runs(trace, env_id):
    with pytest.raises(UserError) as error:
        safe_env(env_id.format(target=trace), "agent.npz")
    assert not trace.exists()
    assert "evil" not in sys.modules
    assert error.value.message.startswith("agent.npz names ")
    assert "--env" in error.value.hint


@pytest.mark.parametrize("env_id", [env_id for env_id in EVIL if env_id.startswith(("dm:", "gym:evil", "jax:"))])
def test_the_same_ids_leave_a_trace_when_the_user_names_them(trace, env_id):
    """So the test above would notice."""
    env_id = env_id.format(target=trace)
    with pytest.raises(UserError, match=r"evil|getoutput"):
        safe_env(env_id, "agent.npz", named=[env_id])
    assert trace.exists()


@pytest.mark.parametrize("env_id", ["deep_sea/0", "catch:rows=4", "gym:CartPole-v1"])
def test_other_ids_are_made(env_id):
    env = safe_env(env_id, "agent.npz")
    assert env.num_actions in (2, 3)


def test_the_user_may_name_the_same_id():
    env_id = "dm:bsuite.environments.deep_sea:DeepSea:size=5"
    assert safe_env(env_id, "agent.npz", named=[env_id]).num_actions == 2
    with pytest.raises(UserError):
        safe_env(env_id, "agent.npz", named=["dm:bsuite.environments.deep_sea:DeepSea:size=6"])


def test_the_hint_can_be_the_callers():
    with pytest.raises(UserError, match="say --trust"):
        safe_env("jax:evil:factory", "store", hint="say --trust")
