"""The protocol: an agent with its six methods and nothing else trains, in both loops."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from on_the_host import OnTheHost
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn.agents.base import BaseAgent, completed, greedy
from langevin_dqn.loops import compiled

OPTIONAL = ("attend", "exploit", "values", "statistics", "without_memory", "is_finite", "explain_divergence")

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def bandit():
    return "probe_action"


def test_six_methods_are_enough(bandit):
    """The better action is found and then kept; learning is called with the steps of the episode before."""
    agent = SixMethods(bonus=0.1)
    assert not isinstance(agent, BaseAgent)
    result = langevin_dqn.train(agent, bandit, episodes=20, keep_agent=True)
    assert result.returns[2:].tolist() == [1.0] * 18
    assert int(result.trained.state.learned) == 19
    assert result.updates == 0  # it does not say
    assert result.config == {"version": "1", "bonus": 0.1}
    assert (result.agent, result.preset) == ("SixMethods", "custom")
    assert langevin_dqn.evaluate(result.trained, bandit, episodes=3).tolist() == [1.0] * 3


def test_the_host_loop_runs_it_too(bandit):
    on_device, on_host = (langevin_dqn.train(SixMethods(0.1), env, episodes=9) for env in (bandit, OnTheHost(bandit)))
    assert on_device.returns.tobytes() == on_host.returns.tobytes()


def test_its_numbers_are_traced(bandit):
    """Another bonus is no other program, and does something else: with a large one both actions are taken in turn."""
    calm = langevin_dqn.train(SixMethods(bonus=0.1), bandit, episodes=20)
    before = sum(program._cache_size() for program in compiled.RUN_CHUNK._compiled.values())
    curious = langevin_dqn.train(SixMethods(bonus=100.0), bandit, episodes=20)
    assert (calm.returns == -1).sum() == 1
    assert 8 <= (curious.returns == -1).sum() <= 12
    assert sum(program._cache_size() for program in compiled.RUN_CHUNK._compiled.values()) == before


def test_an_agent_is_completed_without_being_changed():
    agent = SixMethods(bonus=2.0)
    complete = completed(agent)
    assert complete.agent.bonus == 2.0
    assert all(callable(getattr(complete, name)) for name in OPTIONAL)
    assert not any(hasattr(agent, name) for name in OPTIONAL)
    assert type(completed(agent)) is type(complete), "one class, so that it is compiled once"
    state = complete.init(jax.random.key(0), None, 2, None)
    assert complete.statistics(state) == {}
    assert complete.attend(jax.random.key(0), state, jnp.int32(0)) is state
    assert complete.without_memory(state) is state
    with pytest.raises(NotImplementedError, match="SixMethods does not define values"):
        complete.values(state, jnp.int32(0))


def test_own_optional_methods_are_kept():
    @langevin_dqn.pytrees.pytree
    @dataclasses.dataclass(frozen=True)
    class Counting(SixMethods):
        def statistics(self, state):
            return {"updates": state.learned}

    result = langevin_dqn.train(Counting(), "probe_action", episodes=4)
    assert result.updates == 3


def test_by_default_an_agent_has_diverged_once_its_state_has_a_nan():
    agent = completed(SixMethods())
    state = agent.init(jax.random.key(0), None, 2, None)
    assert bool(agent.is_finite(state))
    assert bool(agent.is_finite(state._replace(total=jnp.array([jnp.inf, 0.0]))))
    broken = state._replace(total=jnp.array([jnp.nan, 0.0]))
    assert not bool(agent.is_finite(broken))
    assert "NaN" in agent.explain_divergence(broken)


def test_a_subclass_of_the_base_is_a_pytree_without_saying_so():
    @dataclasses.dataclass(frozen=True)
    class Own(BaseAgent):
        rate: float
        size: int = langevin_dqn.pytrees.static(3)

    assert jax.tree.leaves(Own(0.5)) == [0.5]
    assert jax.tree.structure(Own(0.5)) != jax.tree.structure(Own(0.5, 4))


def test_greedy_takes_one_of_the_best():
    picks = jax.vmap(lambda k: greedy(k, jnp.array([1.0, 3.0, 3.0, 2.0])))(jax.random.split(jax.random.key(0), 200))
    assert set(np.asarray(picks).tolist()) == {1, 2}
