"""Agents of one's own are told apart: by their id, class, settings and version."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn import UserError, keys
from langevin_dqn.agents import BaseAgent, ValueAgent, greedy
from langevin_dqn.agents.base import completed
from langevin_dqn.agents.checking import check_fits
from langevin_dqn.environments import IndexSpace
from langevin_dqn.networks import BaseNetwork
from langevin_dqn.networks.base import describe_network
from langevin_dqn.presets import preset
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of
from langevin_dqn.runs.stored_jobs import job_of

SMALL = {"hidden": (4,), "batch_size": 4}


@dataclasses.dataclass(frozen=True)
class Contrary(ValueAgent):
    """Takes the worst action."""

    def exploit(self, key, state, obs):
        return greedy(key, -self.values(state, obs))


def contrary(**changes):
    plain = langevin_dqn.make_agent(preset("dqn", "paper", **SMALL | changes))
    return Contrary(**{f.name: getattr(plain, f.name) for f in dataclasses.fields(plain)})


def plain_config(**changes):
    return preset("dqn", "paper", **SMALL | changes)


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """Two modules with an agent of the same name and fields that behaves otherwise."""
    text = (
        "from dataclasses import dataclass\nimport jax.numpy as jnp\nfrom langevin_dqn import BaseAgent\n"
        "@dataclass(frozen=True)\nclass Mine(BaseAgent):\n    version = '1'\n"
        "    def init(self, key, space, num_actions, capacity): return jnp.int32(0)\n"
        "    def begin_episode(self, key, state): return state\n"
        "    def act(self, key, state, obs): return jnp.int32({})\n"
        "    def observe(self, key, state, step): return state\n"
        "    def learn(self, key, state, steps): return state\n"
    )
    for number in (0, 1):
        (tmp_path / f"mine_{number}.py").write_text(text.format(number))
    monkeypatch.syspath_prepend(tmp_path)


def test_the_same_class_name_in_two_modules_is_two_agents(modules):
    first, second = (key_of(Job(f"python:mine_{n}:Mine", "probe_action", 0, 3)) for n in (0, 1))
    assert first != second


def test_a_subclass_of_the_value_agent_is_not_the_value_agent(tmp_path):
    described = contrary().describe()
    assert described["agent"].endswith(":Contrary")
    result = langevin_dqn.train(contrary(), "probe_action", episodes=2, keep_agent=True)
    file = langevin_dqn.save_agent(result, tmp_path / "contrary.npz")
    with pytest.raises(UserError, match="custom agent"):
        langevin_dqn.load_agent(file)
    assert type(langevin_dqn.load_agent(file, agent=contrary()).trained.agent) is Contrary


def test_a_factory_may_return_a_configuration(tmp_path, monkeypatch):
    """Its run is stored, found and verified."""
    monkeypatch.syspath_prepend(__file__.rpartition("/")[0])
    job = Job("python:test_own_agent_identity:plain_config", "probe_action", 0, 3, changes={"learning_rate": 0.1})
    store = Store(tmp_path)
    store.put(job, job.run())
    (row,) = store.load().to_dicts()
    assert job_of(row) == job
    assert store.get(job).setting("learning_rate") == 0.1


def test_changed_numbers_are_described():
    agent = langevin_dqn.make_agent(preset("langevin_dqn", "paper", **SMALL))
    assert agent.with_numbers(noise_variance=9.0).describe()["config"]["noise_variance"] == 9
    assert agent.with_numbers(noise_variance=jnp.float32(0.5)).settings.noise_variance == 0.5
    released = langevin_dqn.make_agent(preset("ensemble_langevin_dqn", "released", members=4, **SMALL))
    assert float(released.with_numbers(loss_scale=1.0).numbers["loss_scale"]) == 0.25
    with pytest.raises(UserError, match="cannot be changed"):
        agent.with_numbers(epsilon_final=0.5)


def test_an_independent_target_shares_the_moving_prior():
    """The authors' target has its own network but the prior of its member."""
    agent = langevin_dqn.make_agent(preset("ensemble_langevin_dqn", "released", members=2, **SMALL))
    state = agent.init(keys.run_key(0), IndexSpace(3), 2, 8)
    same = jax.tree.map(np.array_equal, state.learner.params["prior"], state.learner.target["prior"])
    assert all(jax.tree.leaves(same))
    other = jax.tree.map(np.array_equal, state.learner.params["network"][0], state.learner.target["network"][0])
    assert not any(jax.tree.leaves(other))


def test_runs_with_a_moving_prior_have_keys_of_their_own():
    """They differ from those of version 0.1."""
    assert preset("ensemble_langevin_dqn", "released").identity()["prior_noise_revision"] == 2
    assert "prior_noise_revision" not in preset("ensemble_langevin_dqn", "paper").identity()


@dataclasses.dataclass(frozen=True)
class Attentive(BaseAgent):
    """Acts on what ``attend`` wrote down."""

    version = "1"

    def init(self, key, space, num_actions, capacity):
        return jnp.int32(-1)

    def begin_episode(self, key, state):
        return state

    def attend(self, key, state, obs):
        return obs.astype(jnp.int32)

    def act(self, key, state, obs):
        return jnp.where(state == obs, 1, 0)

    def observe(self, key, state, step):
        return state

    def learn(self, key, state, steps):
        return state


def test_evaluation_prepares_the_state_too():
    result = langevin_dqn.train(Attentive(), "probe_action", episodes=2, keep_agent=True)
    assert result.returns.tolist() == [1.0, 1.0]
    assert langevin_dqn.evaluate(result.trained, "probe_action", episodes=2).tolist() == [1.0, 1.0]


def test_an_agent_is_evaluated_where_it_fits():
    result = langevin_dqn.train(Attentive(), "probe_action", episodes=1, keep_agent=True)
    with pytest.raises(UserError, match="observations or actions differ"):
        langevin_dqn.evaluate(result.trained, "deep_sea:depth=4")


def test_a_completed_agent_keeps_its_own_registration():
    """Whatever is static there stays static, and nothing is constructed again."""
    agent = SixMethods(0.5)
    assert jax.tree.leaves(completed(agent)) == jax.tree.leaves(agent)
    assert completed(agent).agent is agent


@dataclasses.dataclass(frozen=True)
class Wide(Attentive):
    width: int = 3

    def init(self, key, space, num_actions, capacity):
        return jnp.zeros(self.width)


@dataclasses.dataclass(frozen=True)
class Sized(Attentive):
    def init(self, key, space, num_actions, capacity):
        return jnp.zeros(capacity)


@pytest.mark.parametrize(("agent", "words"), [(Wide(), "static"), (Sized(), "init raises")])
def test_mistakes_that_only_show_in_training_are_found_before_it(agent, words):
    with pytest.raises(UserError, match=words):
        check_fits(agent, IndexSpace(3), 2)


@dataclasses.dataclass(frozen=True)
class Activated(BaseNetwork):
    activation: object = jax.nn.relu


@dataclasses.dataclass(frozen=True)
class Odd(BaseNetwork):
    thing: object = dataclasses.field(default_factory=object)


def test_a_network_is_described_without_addresses():
    assert describe_network(Activated())["activation"].endswith("relu")
    assert describe_network(Activated(Activated()))["activation"]["class"] == "Activated"
    with pytest.raises(UserError, match="cannot be described"):
        describe_network(Odd())


def test_a_damaged_file_is_one_line(tmp_path):
    """Single bytes of a saved agent changed: whatever the decoder raises becomes a UserError, or it loads."""
    result = langevin_dqn.train("dqn", "probe_action", preset="paper", episodes=1, keep_agent=True, **SMALL)
    file = langevin_dqn.save_agent(result, tmp_path / "agent.npz")
    whole = file.read_bytes()
    random, refused = np.random.default_rng(0), 0
    for place in random.integers(0, len(whole), 40):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        file.write_bytes(bytes(damaged))
        try:
            langevin_dqn.load_agent(file)
        except UserError:
            refused += 1
    assert refused > 5


@pytest.mark.parametrize("field", ["target_period", "members", "updates_per_step"])
def test_whole_numbers_have_a_largest(field):
    for value in (2**40, 10**400):
        with pytest.raises(UserError, match="out of range"):
            preset("dqn", "paper", **{field: value})
