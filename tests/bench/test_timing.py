"""Contestants take turns, and what is timed is a member update."""

import pytest

from langevin_dqn.bench import timing
from langevin_dqn.bench.timing import Contestant, race


@pytest.fixture
def clock(monkeypatch):
    """A clock that only contestants move."""

    class Clock:
        now = 0.0

    monkeypatch.setattr(timing.time, "perf_counter", lambda: Clock.now)
    return Clock


def contestant(clock, turns, name, members, seconds):
    """One whose update of all members takes so many seconds."""

    def build():
        clock.now += 2.0

        def run(count):
            turns.append(name)
            clock.now += count * seconds

        return run

    return Contestant(name, 10, members, build)


def test_contestants_take_turns_and_cost_what_a_member_update_takes(clock):
    turns = []
    pair = [contestant(clock, turns, "slow", 1, 1e-3), contestant(clock, turns, "fast", 5, 5e-4)]
    said = []
    race(pair, repeats=3, seconds=0.1, say=said.append)
    assert turns == ["slow", "fast", *["slow", "fast"] * 3]  # once to find out how many updates fit
    assert [c.median for c in pair] == pytest.approx([1000.0, 100.0])
    assert [len(c.times) for c in pair] == [3, 3]
    assert [c.build_seconds for c in pair] == [2.0, 2.0]
    assert said == ["building slow, depth 10, 1 members", "building fast, depth 10, 5 members"]


def test_a_turn_takes_about_as_long_as_was_asked_and_has_at_least_16_updates(clock):
    counts = []

    def build():
        def run(count):
            counts.append(count)
            clock.now += count * 1e-3

        return run

    race([Contestant("a", 0, 1, build)], repeats=1, seconds=0.1, say=lambda _: None)
    race([Contestant("a", 0, 1, build)], repeats=1, seconds=0.001, say=lambda _: None)
    assert counts[:2] == [16, pytest.approx(100, abs=1)]
    assert counts[2:] == [16, 16]


def test_as_a_row():
    row = Contestant("a", 0, 1, lambda: lambda _: None, times=[1.0, 2.0, 4.0, 8.0, 16.0]).to_dict()
    assert (row["microseconds"], row["quartiles"]) == (4.0, [2.0, 8.0])
    assert Contestant("floor", 0, 1, lambda: lambda _: None).label == "floor"
