"""Signals as requests: the first asks, the second does not wait, and what was there before comes back."""

import os
import signal
import threading

import pytest

from langevin_dqn import stopping
from langevin_dqn.stopping import Stopped


@pytest.fixture(autouse=True)
def every_signal_counts(monkeypatch):
    """Also one that comes at once."""
    monkeypatch.setattr(stopping, "_TWICE", 0.0)


def test_a_signal_that_comes_twice_at_once_is_one(monkeypatch):
    """As from ``timeout``, which sends it to the process and to its group."""
    monkeypatch.setattr(stopping, "_TWICE", 60.0)
    seconds = []
    with stopping.signals_caught(None, seconds.append) as caught:
        assert caught
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert stopping.requested() == signal.SIGINT
        assert not seconds
        monkeypatch.setattr(stopping, "_TWICE", 0.0)
        os.kill(os.getpid(), signal.SIGINT)
        assert seconds == [signal.SIGINT]


def test_the_first_signal_asks_and_the_second_does_not_wait():
    firsts, seconds = [], []
    with stopping.signals_caught(firsts.append, seconds.append) as caught:
        assert caught
        assert stopping.requested() is None
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.requested() == signal.SIGTERM
        os.kill(os.getpid(), signal.SIGINT)
    assert firsts[0] == signal.SIGTERM
    assert seconds == [signal.SIGINT]
    assert stopping.requested() is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)], ids=str
)
def test_python_sees_what_it_knows(number, error):
    def run(saves):
        with stopping.as_python_does():
            os.kill(os.getpid(), number)
            if saves:
                raise Stopped(stopping.requested(), ("here",))
            os.kill(os.getpid(), number)  # at once, without saving

    with pytest.raises(error) as caught:
        run(saves=True)
    assert type(caught.value) is error
    assert caught.value.args == ((143,) if error is SystemExit else (str(Stopped(2, ("here",))),))
    with pytest.raises(error):
        run(saves=False)


def test_nothing_is_caught_where_nothing_can_be():
    found = []

    def work():
        with stopping.signals_caught() as caught:
            found.append(caught)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    with stopping.signals_caught(), stopping.signals_caught() as inner:  # somebody handles signals already
        found.append(inner)
        with pytest.raises(Stopped), stopping.as_python_does():
            raise Stopped(signal.SIGINT)
    assert found == [False, False]


def test_a_program_in_the_background_is_stopped_by_sigterm_alone():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a shell does for a command that ends with &
    try:
        with stopping.signals_caught() as caught, stopping.signals_caught() as inner:
            os.kill(os.getpid(), signal.SIGINT)
            assert stopping.requested() is None
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopping.requested() == signal.SIGTERM
        assert (caught, inner) == (True, False)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)


def test_several_stops_are_one():
    both = Stopped.together(15, [Stopped(2, ("a",)), Stopped(2, failed=("disk full",)), Stopped(2)])
    assert (both.number, both.saved, both.failed, both.exit_code) == (15, ("a",), ("disk full",), 143)
    assert "resume='a'" in str(both)
    assert "disk full" in str(both)


def test_a_command_in_the_background_saves_its_runs_first():
    """The line that a command prints when SIGTERM finds nothing to save gives way while there are runs."""
    from langevin_dqn.cli.stops import ended_by_sigterm, saved_first

    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ended_by_sigterm():
            with saved_first():
                os.kill(os.getpid(), signal.SIGTERM)
                assert stopping.requested() == signal.SIGTERM
            with pytest.raises(Stopped):
                os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
