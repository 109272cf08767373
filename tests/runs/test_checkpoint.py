"""Checkpoints as files: two are kept, none is half written, and one of another run is refused in one line."""

import json
import os
import sys
import time

import numpy as np
import pytest
from own_agents import Linear, SixMethods

from langevin_dqn import UserError, train
from langevin_dqn.environments import make_env
from langevin_dqn.runs import checkpoint, saver, training_run
from langevin_dqn.runs.checkpoint import Checkpoints

SMALL = {"hidden": (5,), "batch_size": 8, "preset": "paper"}

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    """A checkpoint as written, of one run for all tests."""
    folder = tmp_path_factory.mktemp("run")
    train("dqn", "probe_action", seed=3, episodes=4, checkpoint=folder, **SMALL)
    (file,) = folder.iterdir()
    return file.name, file.read_bytes()


@pytest.fixture
def folder(tmp_path, content):
    path = tmp_path / "run"
    path.mkdir()
    (path / content[0]).write_bytes(content[1])
    return path


def rewritten(folder, change=None, **about):
    """The folder's checkpoint with its arrays, or what it says about itself, changed."""
    (file,) = Checkpoints(folder).files()
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    said = json.loads(str(arrays.pop("about"))) | about
    if change is not None:
        change(arrays, said)
    np.savez(file, **arrays, about=np.array(json.dumps(said)))
    return folder


def go_on(folder, agent="dqn", env="probe_action", **changes):
    run = {"seed": 3, "episodes": 4, **({} if agent != "dqn" else SMALL), **changes}
    return train(agent, env, resume=folder, **run)


def refusal(folder, **run):
    """The one line and the hint, with the files left as they were."""
    before = {path: path.read_bytes() for path in folder.rglob("*.npz")}
    with pytest.raises(UserError) as caught:
        go_on(folder, **run)
    assert "\n" not in caught.value.message + caught.value.hint
    assert {path: path.read_bytes() for path in folder.rglob("*.npz")} == before
    return caught.value.message, caught.value.hint


def test_it_goes_on(folder):
    assert go_on(folder).episodes == 4


@pytest.mark.parametrize(
    ("run", "message", "hint"),
    [
        ({"seed": 4}, "belongs to a run with seed=3, not 4", "resume with seed=3"),
        ({"env": "probe_value"}, "belongs to a run with env=probe_action, not probe_value", "env=probe_action"),
        ({"learning_rate": 0.5}, "was saved with learning_rate=0.001, not learning_rate=0.5", "used in training"),
        ({"hidden": (6,)}, "was saved with a network with hidden=[5], not hidden=[6]", "settings used in training"),
        ({"network": Linear()}, "saved with the network", "network= or --network"),
        ({"agent": SixMethods()}, "saved by a different agent", "pass it with agent="),
        ({"record": "q", "row_updates": "dense"}, "with row_updates=auto, not row_updates=dense", "used in training"),
    ],
    ids=str,
)
def test_another_run_is_refused(folder, run, message, hint):
    said = refusal(folder, **run)
    assert message in said[0]
    assert hint in said[1]


def test_other_versions_are_refused(folder):
    assert "has format 99, and this version reads format 1" in refusal(rewritten(folder, format=99))[0]
    message, hint = refusal(rewritten(folder, format=1, algorithm_version=99, package="9.9"))
    assert "version 99 of the algorithm" in message
    assert "langevin-dqn 9.9" in hint


def test_a_record_is_part_of_a_run(folder):
    assert "without a record" in refusal(folder, record="q")[0]
    assert "with a record" in refusal(rewritten(folder, record="q"))[0]


def test_an_environment_of_ones_own_is_told_by_its_numbers(tmp_path):
    train(SixMethods(), make_env("deep_sea:depth=4,mapping_seed=1"), checkpoint=tmp_path, episodes=2)
    with pytest.raises(UserError, match="belongs to a run with env=DeepSea"):
        train(SixMethods(), make_env("deep_sea:depth=4,mapping_seed=2"), resume=tmp_path, episodes=2)
    with pytest.raises(UserError, match="belongs to a run with env="):
        train(SixMethods(), make_env("deep_sea:depth=5"), resume=tmp_path, episodes=2)
    assert train(SixMethods(), make_env("deep_sea:depth=4,mapping_seed=1"), resume=tmp_path, episodes=2).episodes == 2


def cut(folder):
    (file,) = Checkpoints(folder).files()
    file.write_bytes(file.read_bytes()[: -len(file.read_bytes()) // 3])


def compressed(folder):
    (file,) = Checkpoints(folder).files()
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    np.savez_compressed(file, **arrays)


def larger(arrays, about):
    about["shapes"][".returns"] = [10**13]


def other_names(arrays, about):
    arrays["more"] = np.ones(3)


def too_much(arrays, about):
    arrays[".returns"] = np.ones(1025, np.float32)  # there is room for 1,024 episodes


DAMAGES = {
    "cut": cut,
    "text": lambda folder: Checkpoints(folder).files()[0].write_bytes(b"not a checkpoint"),
    "empty": lambda folder: Checkpoints(folder).files()[0].write_bytes(b""),
    "compressed": compressed,
    "more than the memory": lambda folder: rewritten(folder, larger),
    "other arrays": lambda folder: rewritten(folder, other_names),
    "longer arrays": lambda folder: rewritten(folder, too_much),
    "no shapes": lambda folder: rewritten(folder, shapes=None),
    "wrong shapes": lambda folder: rewritten(folder, shapes={"x": "y"}),
    "no limits": lambda folder: rewritten(folder, most="many"),
    "huge limits": lambda folder: rewritten(folder, most=2**31),
    "no clock": lambda folder: rewritten(folder, seconds="long"),
    "no description": lambda folder: rewritten(folder, description=7),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(folder, damage):
    DAMAGES[damage](folder)
    message, hint = refusal(folder)
    assert "is damaged, or is not a checkpoint" in message
    assert hint == "start again without resume"


def test_other_shapes_are_refused_before_anything_is_read(folder, monkeypatch):
    def more(arrays, about):
        about["shapes"][".returns"] = [40]

    rewritten(folder, more)
    monkeypatch.setattr(checkpoint.ArrayFile, "load", None)
    assert "does not match this agent and environment" in refusal(folder)[0]


def test_the_hint_names_the_one_before(folder):
    (file,) = Checkpoints(folder).files()
    (folder / "checkpoint_000000000999.npz").write_bytes(b"half")
    assert refusal(folder)[1] == f"remove it to resume from {file.name}"
    (folder / "checkpoint_000000000999.npz").unlink()
    assert go_on(folder).episodes == 4


def test_a_file_causes_no_import(folder, tmp_path, monkeypatch):
    mark = tmp_path / "it_ran"
    (tmp_path / "evil_module.py").write_text(f"open({str(mark)!r}, 'w').close()")
    monkeypatch.syspath_prepend(str(tmp_path))
    for about in (
        {"env": "jax:evil_module:make"},
        {"agent": "python:evil_module:make"},
        {"description": {"agent": "python:evil_module:make", "network": {"class": "evil_module:make"}}},
    ):
        refusal(rewritten(folder, **about), **({"seed": 4} if "agent" in about else {}))
    assert not mark.exists()
    assert "evil_module" not in sys.modules


# -- folders ----------------------------------------------------------------------------


def test_the_last_two_are_kept(tmp_path):
    where = Checkpoints(tmp_path)
    for steps in (5, 12, 100):
        where.save({}, {"x": np.ones(3)}, steps)
    assert [file.name for file in where.files()] == ["checkpoint_000000000012.npz", "checkpoint_000000000100.npz"]
    assert where.steps == 100


def test_what_killed_writers_left_is_removed(tmp_path):
    old, new = (tmp_path / f".checkpoint_000000000001.npz.{pid}.tmp" for pid in (1, 2))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, time.time() - 7200))
    Checkpoints(tmp_path).save({}, {"x": np.ones(3)}, 7)
    assert not old.exists()
    assert new.exists()  # its writer may be alive


def test_which_folder(tmp_path):
    run = {"agent": SixMethods(), "env": "probe_action", "episodes": 3}
    with pytest.raises(UserError, match="contains no checkpoint"):
        train(**run, resume=tmp_path / "none")
    first = train(**run, checkpoint=tmp_path / "a", resume=tmp_path / "a")  # a new run, as nothing is there
    with pytest.raises(UserError, match=r"already contains a checkpoint\nhint: resume from it with resume="):
        train(**run, checkpoint=tmp_path / "a")
    assert train(**run, checkpoint=tmp_path / "a", resume=tmp_path / "a").returns.tolist() == first.returns.tolist()
    train(**run, checkpoint=tmp_path / "b", resume=tmp_path / "a")  # from one to the other
    assert len(Checkpoints(tmp_path / "b").files()) == 1
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot write to"):
        train(**run, checkpoint=tmp_path / "file")
    for every in (0, -1.0, "often", True):
        with pytest.raises(UserError, match=r"checkpoint_every=.* is out of range"):
            train(**run, checkpoint=tmp_path / "c", checkpoint_every=every)


def test_saving_as_time_goes_by(tmp_path, monkeypatch):
    monkeypatch.setattr(training_run, "_CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(saver, "_MOST_SHARE", np.inf)
    saved = []
    save = Checkpoints.save

    def counted(where, about, tree, steps):
        saved.append(steps)
        return save(where, about, tree, steps)

    monkeypatch.setattr(Checkpoints, "save", counted)
    train(SixMethods(), "probe_action", episodes=12, checkpoint=Checkpoints(tmp_path, every=1e-9))
    assert saved == [*range(5, 12), 12, 12][: len(saved)]
    assert len(saved) > 5
    assert len(Checkpoints(tmp_path).files()) == 2


def test_a_full_disk_does_not_cost_the_run(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(training_run, "_CHUNK_SECONDS", 0.0)
    monkeypatch.setattr(Checkpoints, "save", full)
    with pytest.warns(RuntimeWarning, match="cannot save the run: No space left on device; training continues") as said:
        result = train(SixMethods(), "probe_action", episodes=12, checkpoint=Checkpoints(tmp_path, every=1e-9))
    assert result.episodes == 12
    assert len(said) == 1
