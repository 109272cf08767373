"""What a run needs in memory is known before it starts, and refused with the figure and the setting to lower."""

import importlib.util
from pathlib import Path

import pytest

from langevin_dqn import UserError, machine, make_env, train
from langevin_dqn.agents.registry import resolve_agent
from langevin_dqn.loops import memory

SEA = "deep_sea:depth=4"


def need(env=SEA, episodes=10, **changes):
    environment = make_env(env)
    return memory.estimate(
        resolve_agent("boot_dqn", environment, preset="paper", changes=changes).agent, environment, episodes, None
    )


def test_the_parts_of_the_estimate():
    small = need(members=2, buffer_size=1000, hidden=(4,))
    assert need(members=4, buffer_size=1000, hidden=(4,)).replay == 2 * small.replay  # a buffer per member
    assert need(members=2, buffer_size=2000, hidden=(4,)).replay > 1.9 * small.replay
    assert need(members=2, buffer_size=1000, hidden=(40,)).agent > 8 * small.agent
    assert need(members=2, buffer_size=1000, hidden=(4,), episodes=2**20).results == 2**10 * small.results
    assert small.total == sum(small)


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"buffer_size": 2_000_000, "members": 1000}, "set buffer_size="),
        ({"hidden": (10_000,) * 20, "members": 1000}, "use fewer members, or smaller hidden layers"),
        ({"episodes": 2**31 - 1, "buffer_size": 1000}, "use fewer episodes or steps"),
    ],
)
def test_more_than_there_is(monkeypatch, changes, hint):
    monkeypatch.setattr(machine, "available_memory", lambda: 10**9)
    with pytest.raises(UserError, match=r"the run needs about [\d,.]+ GB of memory, and 1\.0 GB are") as error:
        train("boot_dqn", SEA, preset="paper", **{"episodes": 10**6} | changes)
    assert error.value.hint.startswith(hint)
    assert "replay" in error.value.hint


def test_several_at_once(langevin_dqn_command, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    one = need(members=2, episodes=10).total
    monkeypatch.setattr(machine, "available_memory", lambda: int(1.5 * one))
    words = ["run", "--agent", "boot_dqn", "--preset", "paper", "--members", 2, "--env", SEA, "--episodes", 10]
    code, out, err = langevin_dqn_command(*words, "--seeds", "0-3", "--workers", 4)
    assert (code, out) == (2, "")
    assert "4 runs at once need about" in err
    assert "hint: use --workers 1, or fewer" in err


def test_what_is_available(tmp_path):
    assert 0 < machine.available_memory() <= machine.memory()
    for name, text in {
        "memory.max": "1000\n",
        "memory.current": "700\n",
        "memory.stat": "anon 5\ninactive_file 100\n",
    }.items():
        (tmp_path / name).write_text(text)
    assert machine._free_in_container(str(tmp_path)) == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert machine._free_in_container(str(tmp_path)) is None


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
def test_the_estimate_is_within_a_factor_of_two():
    script = Path(__file__).parents[2] / "tools" / "memory_estimate.py"
    spec = importlib.util.spec_from_file_location(script.stem, script)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    for name in tool.SETTINGS:
        found = tool.measure(name)
        assert 0.5 < found["estimate"] / found["growth"] < 2, (name, found)
