"""Saved agents: they come back to the bit, files that are none are refused, and no file causes an import."""

import io
import json
import sys
import warnings

import jax
import numpy as np
import pytest
from own_agents import Linear, SixMethods

import langevin_dqn
from langevin_dqn import UserError, array_files, load_agent, save_agent, saved_agent, train
from langevin_dqn.environments import make_env

SMALL = {"hidden": (5,), "batch_size": 8}
KINDS = {
    "dense": ("langevin_dqn", "deep_sea:depth=4", {"row_updates": "dense", "preset": "released", **SMALL}),
    "lazy": ("ensemble_langevin_dqn", "deep_sea:depth=4", {"row_updates": "lazy", "members": 2, **SMALL}),
    "bootstrapped": ("boot_dqn", "catch/0", {"members": 2, **SMALL}),
    "linear": ("dqn", "bandit/0", {"hidden": (), "optimizer": "sgd"}),
    "per depth": ("langevin_dqn", "deep_sea:depth=4", {"noise_per_depth": True, **SMALL}),
    "moving prior": ("ensemble_langevin_dqn", "deep_sea:depth=4", {"preset": "released", "members": 2, **SMALL}),
    "own network": ("dqn", "deep_sea:depth=4", {"network": Linear(0.5)}),
    "own agent": (SixMethods(0.5), "probe_action", {}),
}
QUICK = ("linear", "own network", "own agent")

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in KINDS])
def test_agents_come_back_to_the_bit(kind, tmp_path):
    agent, env, changes = KINDS[kind]
    result = train(agent, env, seed=3, episodes=6, keep_agent=True, **changes)
    file = save_agent(result, tmp_path / "agent.npz")
    own = {"agent": agent} if kind == "own agent" else {"network": changes.get("network")}
    saved = load_agent(file, **own)
    assert (saved.agent, saved.preset, saved.env, saved.seed, saved.episodes, saved.config) == (
        *(result.agent, result.preset, env, 3, 6, result.config),
    )
    assert jax.tree.structure(saved.trained) == jax.tree.structure(result.trained)
    for ours, theirs in zip(jax.tree.leaves(saved.trained), jax.tree.leaves(result.trained), strict=True):
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
        assert np.array_equal(ours, theirs)
    before, after = (langevin_dqn.evaluate(trained, env, 5, seed=1) for trained in (result.trained, saved.trained))
    assert np.array_equal(before, after)


@pytest.fixture(scope="module")
def saved_bytes(tmp_path_factory):
    """A file as written, of one agent for all tests."""
    result = train("dqn", "probe_action", preset="paper", episodes=2, keep_agent=True, **SMALL)
    return save_agent(result, tmp_path_factory.mktemp("saved") / "agent.npz").read_bytes()


@pytest.fixture
def file(tmp_path, saved_bytes):
    path = tmp_path / "agent.npz"
    path.write_bytes(saved_bytes)
    return path


def rewritten(file, *, names=lambda name: name, without=(), **about):
    """The file with its arrays renamed and what it says of itself changed."""
    with np.load(file) as found:
        arrays = {name: found[name] for name in found.files}
    said = json.loads(str(arrays.pop("about"))) | about
    for name in without:
        del said[name]
    renamed = {names(name): array for name, array in arrays.items()}
    if "checksum" in without:
        np.savez(file, **renamed, about=np.array(json.dumps(said)))
    else:  # somebody who changes a file on purpose writes its checksum, too
        array_files.write(file, {name: value for name, value in said.items() if name != "checksum"}, renamed)
    return file


NEW_FIELDS = ("description", "space", "num_actions", "checksum")


def old_name(name):
    """A state's array as version 0.1 called it."""
    for old, new in saved_agent._OLD_NAMES.items():
        if name.startswith(new):
            return old + name.removeprefix(new)
    return name


def as_version_01(file, **about):
    """The file as version 0.1 would have written it: flat names, no description, the words of its time."""
    with np.load(file) as found:
        config = json.loads(str(found["about"]))["config"]
    config["debiased_drift"] = config.pop("bias_correction")
    config["row_updates"] = {"lazy": "sleeping"}.get(config["row_updates"], config["row_updates"])
    return rewritten(file, names=old_name, without=NEW_FIELDS, config=config, **about)


@pytest.mark.parametrize(
    "kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in list(KINDS)[:5]]
)
def test_files_of_version_01_still_load(kind, tmp_path):
    agent, env, changes = KINDS[kind]
    result = train(agent, env, seed=3, episodes=6, keep_agent=True, **changes)
    file = as_version_01(save_agent(result, tmp_path / "agent.npz"))
    with np.load(file) as found:
        assert ".updates" in found.files
        assert any(name.startswith(".params") for name in found.files)
        assert not any(name.startswith(".learner") for name in found.files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # old words in a file are nobody's mistake
        saved = load_agent(file)
    assert saved.config == result.config
    for ours, theirs in zip(jax.tree.leaves(saved.trained), jax.tree.leaves(result.trained), strict=True):
        assert np.array_equal(ours, theirs)


def test_an_environment_of_ones_own(tmp_path):
    env = make_env("deep_sea:depth=4")
    file = save_agent(train("dqn", env, preset="paper", episodes=3, keep_agent=True, **SMALL), tmp_path / "agent.npz")
    saved = load_agent(file)
    assert saved.env == "DeepSea"
    saved.check_fits(env, "sea")
    with pytest.raises(UserError, match="observations or actions differ"):
        saved.check_fits(make_env("deep_sea:depth=5"), "sea")
    as_version_01(file)
    with pytest.raises(UserError, match="unknown environment"):
        load_agent(file)
    assert load_agent(file, env).env == "DeepSea"
    with pytest.raises(UserError, match="does not match this version or this environment"):
        load_agent(file, make_env("deep_sea:depth=5"))


@pytest.mark.parametrize("damage", ["cut", "text", "empty", "other arrays", "pickle", "one array", "less told"])
def test_what_is_no_agent_is_refused(file, damage):
    whole, stream = file.read_bytes(), io.BytesIO()
    if damage == "other arrays":
        np.savez(stream, x=np.ones(3))
    elif damage == "pickle":
        np.savez(stream, about=np.array({"a": 1}, dtype=object))
    elif damage == "one array":
        np.save(stream, np.ones(3))
    elif damage == "less told":
        np.savez(stream, about=np.array('{"agent": "dqn"}'))
    data = {"cut": whole[: len(whole) // 2], "text": b"not an agent", "empty": b""}
    file.write_bytes(data.get(damage, stream.getvalue()))
    with pytest.raises(UserError, match="is not a saved agent"):
        load_agent(file)


@pytest.mark.parametrize(
    "about",
    [
        {"space": None},
        {"space": {"kind": "Evil"}},
        {"space": {"kind": "IndexSpace", "n": 2, "more": 3}},
        {"num_actions": "many"},
        {"num_actions": None},
        {"description": "text"},
        {"description": {"agent": "value_agent"}},
        {"description": {"agent": "value_agent", "config": {"hidden": "abc"}}},
        {"config": {"hidden": 3}},
        {"config": "text"},
    ],
    ids=str,
)
def test_a_file_that_says_nonsense_of_itself(file, about):
    """Whatever it says: one line and one hint."""
    with pytest.raises(UserError) as caught:
        load_agent(rewritten(file, **about))
    assert "\n" not in caught.value.message + caught.value.hint


def test_another_agent_or_network_than_the_one_that_was_saved(file, tmp_path):
    with pytest.raises(UserError, match=r"saved with the network .*MLP"):
        load_agent(file, network=Linear())
    with pytest.raises(UserError, match="saved by a different agent"):
        load_agent(file, agent=SixMethods())
    own = save_agent(train(SixMethods(0.5), "probe_action", episodes=2, keep_agent=True), tmp_path / "own.npz")
    with pytest.raises(UserError, match="custom agent"):
        load_agent(own)
    with pytest.raises(UserError, match="saved by a different agent, or with different settings"):
        load_agent(own, agent=SixMethods(0.25))
    linear = save_agent(
        train("dqn", "probe_action", preset="paper", network=Linear(), episodes=2, keep_agent=True),
        tmp_path / "linear.npz",
    )
    with pytest.raises(UserError, match="saved with the network Linear"):
        load_agent(linear)


def test_what_cannot_be_saved(tmp_path, file):
    result = train("dqn", "probe_action", preset="paper", episodes=2, **SMALL)
    with pytest.raises(UserError, match="has no trained agent"):
        save_agent(result, tmp_path / "agent.npz")
    kept = train("dqn", "probe_action", preset="paper", episodes=2, keep_agent=True, **SMALL)
    with pytest.raises(UserError, match=r"does not end in \.npz"):
        save_agent(kept, tmp_path / "agent.pkl")
    with pytest.raises(UserError, match="cannot write"):
        save_agent(kept, tmp_path / "nowhere" / "agent.npz")


def test_a_write_that_fails_leaves_what_was_there(file, monkeypatch):
    before = file.read_bytes()

    def full(stream, **_):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(UserError, match="No space left"):
        save_agent(train("dqn", "probe_action", preset="paper", episodes=2, keep_agent=True, **SMALL), file)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_numpy_alone_can_read_it(file):
    with np.load(file) as arrays:
        about = json.loads(str(arrays["about"]))
        assert about["config"]["hidden"] == [5]
        assert any(name.startswith(".learner.params") for name in arrays.files)


# A file never causes an import


IDS = {
    "shell": "dm:subprocess:getoutput:cmd=touch {mark}",
    "module": "dm:evil_module:make",
    "gymnasium": "gym:evil_module:Foo-v0",
    "jax": "jax:evil_module:make",
    "python": "python:evil_module:make",
}


@pytest.fixture
def evil(tmp_path, monkeypatch):
    """A module that leaves a mark when it is imported; the mark."""
    mark = tmp_path / "it_ran"
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "evil_module.py").write_text(
        f"open({str(mark)!r}, 'w').close()\nfrom own_agents import SixMethods, make_linear\n"
        "from langevin_dqn import make_env\n\ndef make(): return make_env('probe_action')\n"
        "def agent(): return SixMethods(0.5)\ndef network(): return make_linear()\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "evil_module", raising=False)
    yield mark
    sys.modules.pop("evil_module", None)


@pytest.mark.parametrize("version", ["0.1", "now"])
@pytest.mark.parametrize("kind", IDS)
def test_loading_follows_no_id_in_the_file(file, evil, kind, version):
    env = IDS[kind].format(mark=evil)
    if version == "now":
        assert load_agent(rewritten(file, env=env)).env == env  # what it observes is in the file: no need to ask
    else:
        as_version_01(file, env=env)
        with pytest.raises(UserError) as caught:
            load_agent(file)
        assert "\n" not in caught.value.message + caught.value.hint
    assert not evil.exists()
    assert "evil_module" not in sys.modules


def test_an_environment_that_the_user_names_is_made(file, evil):
    as_version_01(file, env="jax:evil_module:make")
    assert load_agent(file, "jax:evil_module:make").env == "jax:evil_module:make"
    assert evil.exists()


def test_an_agent_in_a_file_is_not_imported_unless_it_is_named(tmp_path, evil):
    file = save_agent(train(SixMethods(0.5), "probe_action", episodes=2, keep_agent=True), tmp_path / "own.npz")
    rewritten(file, agent="python:evil_module:agent")
    with pytest.raises(UserError, match=r"hint: pass it with agent= or --agent python:evil_module:agent"):
        load_agent(file)
    assert not evil.exists()
    assert load_agent(file, agent="python:evil_module:agent").agent == "python:evil_module:agent"
    assert evil.exists()


def test_a_network_in_a_file_is_not_imported_unless_it_is_named(file, evil):
    with np.load(file) as found:
        description = json.loads(str(found["about"]))["description"]
    rewritten(file, description=description | {"network": {"class": "evil_module:network"}})
    with pytest.raises(UserError, match="saved with the network evil_module:network"):
        load_agent(file)
    assert not evil.exists()
    with pytest.raises(UserError, match="saved with the network"):
        load_agent(file, network="python:evil_module:network")
    assert evil.exists()  # the user named it; only then is it found to be another one
