"""When runs are saved, and what is said where they cannot be."""

import signal
import warnings
from pathlib import Path
from types import SimpleNamespace

import pytest

from langevin_dqn import stopping
from langevin_dqn.runs.saver import Saver

SNAPSHOT = SimpleNamespace(to_save=lambda: "arrays", steps=7)


class Folder:
    """Checkpoints that are counted instead of written; with ``error``, writing fails."""

    def __init__(self, every=None, at_end=False, error=None):
        self.every, self.at_end, self.error = every, at_end, error
        self.folder, self.saved = Path("checkpoints"), []

    def save(self, about, arrays, steps):
        if self.error is not None:
            raise self.error
        self.saved.append((about, arrays, steps))


def full():
    return OSError(28, "No space left on device")


@pytest.fixture
def asked(monkeypatch):
    """SIGTERM has come."""
    monkeypatch.setattr(stopping, "requested", lambda: signal.SIGTERM)


def test_a_stopped_run_is_saved(asked):
    where = Folder()
    with pytest.raises(stopping.Stopped) as stop:
        Saver(where).after(SNAPSHOT, lambda: {"episode": 3})
    assert where.saved == [({"episode": 3}, "arrays", 7)]
    assert (stop.value.number, stop.value.saved, stop.value.failed) == (signal.SIGTERM, ("checkpoints",), ())


def test_a_stopped_run_that_cannot_be_saved_says_why(asked):
    with pytest.raises(stopping.Stopped) as stop:
        Saver(Folder(error=full())).after(SNAPSHOT, dict)
    assert stop.value.saved == ()
    assert stop.value.failed == ("cannot write to checkpoints: No space left on device",)


def test_a_stopped_run_without_a_folder_is_not_saved(asked):
    with pytest.raises(stopping.Stopped) as stop:
        Saver(None).after(SNAPSHOT, dict)
    assert (stop.value.saved, stop.value.failed) == ((), ())


def test_checkpoints_are_saved_when_due():
    where = Folder(every=0.0)
    saver = Saver(where)
    saver.after(SNAPSHOT, dict)
    assert len(where.saved) == 1
    seldom = Folder(every=3600.0)
    Saver(seldom).after(SNAPSHOT, dict)
    assert seldom.saved == []


@pytest.mark.parametrize(("at_end", "count"), [(True, 1), (False, 0)])
def test_the_end_is_saved_where_that_was_asked(at_end, count):
    where = Folder(at_end=at_end)
    Saver(where).end(SNAPSHOT, {})
    assert len(where.saved) == count


def test_training_continues_where_a_checkpoint_fails_with_one_warning():
    saver = Saver(Folder(every=0.0, at_end=True, error=full()))
    with pytest.warns(RuntimeWarning, match="cannot save the run: No space left on device; training continues"):
        saver.after(SNAPSHOT, dict)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        saver.end(SNAPSHOT, {})
