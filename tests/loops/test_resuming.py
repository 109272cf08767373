"""Runs that are stopped and gone on with: the same to the bit, in both loops, with both learners."""

import signal
import warnings

import numpy as np
import pytest
from on_the_host import OnTheHost
from own_agents import SixMethods

from langevin_dqn import UserError, stopping, train
from langevin_dqn.environments.base import ArraySpace
from langevin_dqn.runs import training_run
from langevin_dqn.runs.checkpoint import Checkpoints

SMALL = {"hidden": (5,), "batch_size": 8}
SEA = "deep_sea:depth=4"

pytestmark = pytest.mark.usefixtures("quick_compilation", "short_chunks")


@pytest.fixture
def short_chunks(monkeypatch):
    """A run may stop after any episode, and on the host after any step."""
    monkeypatch.setattr(training_run, "_CHUNK_SECONDS", 0.0)


class StopAt:
    """Asks for a stop at one of the moments at which a run can stop."""

    def __init__(self, moment=None):
        self.moment, self.seen = moment, []

    def __call__(self, result):
        if len(self.seen) == self.moment:
            stopping.request(signal.SIGINT)
        self.seen.append(result)


def state_of(folder):
    """All that the last checkpoint holds, but for what the clock says."""
    file = Checkpoints(folder).open()
    arrays = {name: array.tobytes() for name, array in file.load().items()}
    return arrays | {name: x for name, x in file.about.items() if not name.endswith("seconds")}


def stopped(folder, moment, *run, **more):
    with pytest.raises(KeyboardInterrupt, match="resume="):
        train(*run, checkpoint=folder, progress=StopAt(moment), **more)


def assert_same(one, other):
    assert one.returns.tobytes() == other.returns.tobytes()
    assert one.lengths.tobytes() == other.lengths.tobytes()
    assert {n: m.tobytes() for n, m in one.measures.items()} == {n: m.tobytes() for n, m in other.measures.items()}
    assert (one.updates, one.steps, one.diverged) == (other.updates, other.steps, other.diverged)


LAZY = {"members": 2, "row_updates": "lazy", "updates_per_step": 4, "epsilon": 0.5}
KINDS = {
    "compiled, own": (SixMethods(), "probe_action", 12, {}),
    "host, own": (SixMethods(), OnTheHost, 6, {}),
    "compiled, table": ("langevin_dqn", SEA, 20, {"epsilon": 0.5, **SMALL}),
    "compiled, dense": ("boot_dqn", "catch/0", 20, {"epsilon": 0.5, "members": 2, "insertion": "buffers", **SMALL}),
    "compiled, lazy": ("ensemble_langevin_dqn", SEA, 30, {**LAZY, **SMALL}),
    "host, dense": ("dqn", "gym:CartPole-v1", 4, {"update_timing": "within", "buffer_size": 500, **SMALL}),
    "host, lazy": ("ensemble_langevin_dqn", "gym:Taxi-v4", 4, {"buffer_size": 500, **LAZY, **SMALL}),
}
QUICK = ("compiled, own", "host, own", "compiled, table")


@pytest.mark.parametrize("kind", [k if k in QUICK else pytest.param(k, marks=pytest.mark.slow) for k in KINDS])
def test_a_stopped_run_goes_on_to_the_bit(kind, tmp_path):
    """Stopped at three moments: the first, the last and one between; see tools/resume_at_random.py for more."""
    agent, env, episodes, changes = KINDS[kind]
    run = {"seed": 3, "episodes": episodes, **changes}
    make = (lambda: env("deep_sea:depth=4")) if env is OnTheHost else (lambda: env)
    watch = StopAt()
    alone = train(agent, make(), checkpoint=tmp_path / "alone", progress=watch, **run)
    assert len({*alone.returns.tolist()}) > 1 or "own" in kind, "a run in which nothing happens shows nothing"
    last = len(watch.seen) - 2
    for moment in (0, last // 2, last):
        folder = tmp_path / str(moment)
        stopped(folder, moment, agent, make(), **run)
        assert_same(train(agent, make(), resume=folder, **run), alone)
        assert state_of(folder) == state_of(tmp_path / "alone")


def test_one_run_stopped_again_and_again(tmp_path):
    run = {"seed": 1, "episodes": 3}
    alone = train(SixMethods(), "gym:CartPole-v1", **run)
    stopped(tmp_path, 3, SixMethods(), "gym:CartPole-v1", **run)
    for moment in (2, 5):
        with pytest.raises(KeyboardInterrupt):
            train(SixMethods(), "gym:CartPole-v1", resume=tmp_path, progress=StopAt(moment), **run)
    assert_same(train(SixMethods(), "gym:CartPole-v1", resume=tmp_path, **run), alone)


@pytest.mark.parametrize(
    "limits",
    [
        {"episodes": 25},
        *(pytest.param(x, marks=pytest.mark.slow) for x in ({"steps": 100}, {"episodes": 25, "steps": 90})),
    ],
    ids=str,
)
def test_a_run_may_go_on_for_longer_than_planned(tmp_path, limits):
    """Its arrays and its replay are those of a run that was planned so from the start."""
    run = {"seed": 2, "epsilon": 0.5, **SMALL}
    longer = train("langevin_dqn", SEA, checkpoint=tmp_path / "longer", **limits, **run)
    train("langevin_dqn", SEA, checkpoint=tmp_path / "first", episodes=10, **run)
    assert_same(train("langevin_dqn", SEA, resume=tmp_path / "first", **limits, **run), longer)
    assert state_of(tmp_path / "first") == state_of(tmp_path / "longer")
    with pytest.raises(UserError, match=r"has 25 episodes and 100 steps|has 2. episodes and 9. steps"):
        train("langevin_dqn", SEA, resume=tmp_path / "first", episodes=5, **run)


@pytest.mark.slow
def test_bootstrapped_buffers_grow_too(tmp_path):
    run = {"seed": 2, "members": 2, "insertion": "buffers", **SMALL}
    longer = train("boot_dqn", SEA, checkpoint=tmp_path / "longer", episodes=12, **run)
    train("boot_dqn", SEA, checkpoint=tmp_path / "first", episodes=6, **run)
    assert_same(train("boot_dqn", SEA, resume=tmp_path / "first", episodes=12, **run), longer)
    assert state_of(tmp_path / "first") == state_of(tmp_path / "longer")


def test_longer_on_the_host_in_the_middle_of_an_episode(tmp_path):
    """A limit of steps cuts an episode, which then goes on; the compiled loop has nothing to go on from there."""
    for first, more in ((5, 11), (8, 11)):
        folder = tmp_path / f"{first}"
        train(SixMethods(), OnTheHost(SEA), checkpoint=folder, steps=first)
        longer = train(SixMethods(), OnTheHost(SEA), steps=more)
        assert_same(train(SixMethods(), OnTheHost(SEA), resume=folder, steps=more), longer)
    train(SixMethods(), SEA, checkpoint=tmp_path / "compiled", steps=5)
    assert train(SixMethods(), SEA, resume=tmp_path / "compiled", steps=5).steps == 5
    with pytest.raises(UserError, match="cut off an episode"):
        train(SixMethods(), SEA, resume=tmp_path / "compiled", steps=11)


def test_a_run_that_has_ended_is_not_run_again(tmp_path):
    first = train(SixMethods(), SEA, checkpoint=tmp_path, episodes=20)
    watch = StopAt()
    again = train(SixMethods(), SEA, resume=tmp_path, progress=watch, keep_agent=True, episodes=20)
    assert_same(first, again)
    assert len(watch.seen) == 1
    assert again.trained is not None
    assert again.seconds >= first.seconds


def test_stop_when_is_asked_at_the_same_moments(tmp_path):
    def asked(calls):
        def stop_when(trained):
            calls.append(int(trained.state.learned))
            return calls[-1] >= 36

        return stop_when

    run, whole, parts = {"episodes": 20, "check_every": 7}, [], []
    alone = train(SixMethods(), SEA, stop_when=asked(whole), **run)
    assert alone.episodes < 20
    stopped(tmp_path, 3, SixMethods(), SEA, stop_when=asked(parts), **run)
    assert 0 < len(parts) < len(whole)
    assert_same(train(SixMethods(), SEA, resume=tmp_path, stop_when=asked(parts), **run), alone)
    assert parts == whole
    assert_same(train(SixMethods(), SEA, resume=tmp_path, stop_when=asked(parts), **run), alone)
    assert parts == whole, "it had said that the run is over"


@pytest.mark.slow
def test_a_record_goes_on(tmp_path):
    run = {"episodes": 25, "record": "q", **SMALL}
    alone = train("dqn", SEA, **run)
    stopped(tmp_path, 9, "dqn", SEA, **run)
    found = train("dqn", SEA, resume=tmp_path, **run)
    for name, values in vars(alone.record).items():
        assert getattr(found.record, name).tobytes() == values.tobytes()


class Unseeded:
    """Observes and rewards noise that no seed decides, in episodes of four steps."""

    max_return, num_actions, observation_space = None, 2, ArraySpace((2,))

    def __init__(self):
        self.rng = np.random.default_rng()
        self.resets, self.steps = [], 0

    def reset(self, seed=None):
        self.resets.append(seed)
        self.steps = 0
        return self.rng.random(2, np.float32)

    def step(self, action):
        self.steps += 1
        return self.rng.random(2, np.float32), self.rng.random(), self.steps % 4 == 0, False

    def close(self):
        pass


@pytest.mark.parametrize("moment", [5, 7], ids=["within an episode", "at its end"])
def test_an_environment_that_cannot_be_restored(tmp_path, moment):
    """A warning says so, and the run goes on with a new episode; what was cut off counts in steps alone."""
    stopped(tmp_path, moment, SixMethods(), Unseeded(), episodes=4)
    cut = Checkpoints(tmp_path).steps % 4
    environment = Unseeded()
    with pytest.warns(RuntimeWarning, match="Unseeded is not deterministic"):
        result = train(SixMethods(), environment, resume=tmp_path, episodes=4)
    assert result.lengths.tolist() == [4] * 4
    assert result.steps == 16 + cut
    assert environment.resets[-1] is not None, "a new one would repeat the first episodes, or have no seed at all"
    with pytest.warns(RuntimeWarning, match="is not deterministic"):
        assert train(SixMethods(), Unseeded(), resume=tmp_path, episodes=5).episodes == 5


class Saves(Unseeded):
    """Its noise follows from how many numbers it has drawn, which it can save."""

    def __init__(self):
        super().__init__()
        self.rng, self.count, self.calls = self, np.array(0), 0

    def random(self, *shape):
        self.count += 1
        return np.random.default_rng(int(self.count)).random(*shape)

    def step(self, action):
        self.calls += 1
        return super().step(action)

    def save_state(self):
        return {"count": self.count, "steps of this episode": np.array(self.steps)}

    def load_state(self, state):
        self.count, self.steps = state["count"].copy(), int(state["steps of this episode"])


def test_an_environment_that_saves_its_state(tmp_path):
    """Nothing is repeated, and the run goes on exactly."""
    alone, environment = train(SixMethods(), Saves(), episodes=4), Saves()
    stopped(tmp_path, 5, SixMethods(), Saves(), episodes=4)
    done = Checkpoints(tmp_path).steps
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same(train(SixMethods(), environment, resume=tmp_path, episodes=4), alone)
    assert environment.calls == 16 - done
    forgetful = type("Saves", (Unseeded,), {})()
    with pytest.raises(UserError, match="Saves has no load_state"):
        train(SixMethods(), forgetful, resume=tmp_path, episodes=4)
