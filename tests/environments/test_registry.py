"""From ids to environments: names, settings, names that a user registers, and factories of a user's module."""

import inspect
import sys
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, make_env
from langevin_dqn.environments import Environment, IndexSpace, static
from langevin_dqn.environments.factories import BUILT_IN
from langevin_dqn.environments.registry import FACTORIES, PREFIXES, make_jax_env
from langevin_dqn.ids import IMPORTING


@pytest.mark.parametrize(
    ("env_id", "best"),
    [
        ("bandit/3", 1),
        ("bandit_scale/0", 0.001),
        ("cartpole_scale/19", 1_001_000),
        ("cartpole_noise/19", 1001),
        ("cartpole_swingup/0", None),
        ("catch/0", 1),
        ("catch:rows=3,columns=9", 2 * 5 / 9 - 1),
        ("catch:rows=2,columns=4", 2 * 3 / 4 - 1),
        ("discounting_chain/7", 1.1),
        ("memory_len/2", 1),
        ("mountain_car_scale/0", None),
        ("umbrella_length/5", 1),
    ],
)
def test_best_return(env_id, best):
    assert make_env(env_id).max_return == (None if best is None else pytest.approx(best))


@pytest.mark.parametrize(
    "env_id",
    [
        "catch:rows=4,columns=3", "cartpole_swingup:height_threshold=0.25,move_cost=0.2", "bandit:num_actions=3",
        "bandit_noise:noise_scale=0.5,num_actions=4", "mountain_car_scale:reward_scale=2,max_steps=7",
        "umbrella_length:chain_length=3,n_distractor=0", "memory_size:num_bits=2", "discounting_chain:mapping_seed=8",
    ],
)  # fmt: skip
def test_a_name_with_settings(env_id):
    env = make_env(env_id)
    state, obs = env.reset(jax.random.key(0))
    _, after, reward, *_ = env.step(jax.random.key(1), state, np.int32(1))
    assert (after.shape, after.dtype) == (obs.shape, obs.dtype)
    assert (reward.shape, reward.dtype) == ((), np.float32)


def test_settings_reach_the_environment():
    assert make_env("mountain_car_scale:reward_scale=2,max_steps=7").max_steps == 7
    assert make_env("bandit_noise:noise_scale=0.5,num_actions=4").num_actions == 4
    assert make_env("cartpole:max_time=5,timescale=0.5").max_steps == 11


@pytest.mark.parametrize(
    "env_id",
    [
        "catch:rows=1", "catch:columns=0", "bandit:num_actions=1", "bandit:mapping_seed=-1",
        "bandit_noise:noise_scale=-1", "bandit_noise:noise_scale=nan", "cartpole_scale:reward_scale=0",
        "cartpole:timescale=0", "cartpole:max_time=inf", "cartpole:max_time=2000", "mountain_car:max_steps=0",
        "memory_len:memory_length=0", "memory_size:num_bits=0", "umbrella_length:chain_length=0",
        "umbrella_distract:n_distractor=-1", "discounting_chain:mapping_seed=4294967296", "cartpole/20",
        "memory_size/17", "bandit_nois/3", "catch:rows=2.5", "catch:index=1", "catch_noise:scale=1",
    ],
)  # fmt: skip
def test_bad_ids_are_refused(env_id):
    with pytest.raises(UserError):
        make_env(env_id)


def test_every_factory_says_what_it_makes():
    for name, factory in BUILT_IN.items():
        assert factory.__doc__, name
        assert factory.__doc__.split("\n")[0].endswith("."), name


@dataclass(frozen=True)
class Door(Environment):
    """One door out of a few pays."""

    right: jax.Array
    doors: int = static(2)

    observation_space = IndexSpace(1)

    @property
    def num_actions(self):
        return self.doors

    def reset(self, key):
        return (), jnp.int32(0)

    def step(self, key, state, action):
        return state, jnp.int32(0), (action == self.right).astype(jnp.float32), jnp.bool_(True), jnp.bool_(False)


def door(doors: int = 2, right: int = 0, prize: bool = True, name: str = "", tags=None):
    assert (type(prize), type(name)) == (bool, str)
    made = Door(jnp.int32(right), doors)
    object.__setattr__(made, "tags", tags)
    return made


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of the user's, ``doors``, with this and that in it."""
    source = inspect.getsource(Door) + inspect.getsource(door)
    header = """
from dataclasses import dataclass
import jax, jax.numpy as jnp
from langevin_dqn.environments import Environment, IndexSpace, static
"""
    others = """
NUMBER = 3

def nothing():
    pass

def broken():
    raise RuntimeError("no doors today")

def a_class():
    return Door

def misshapen():
    made = door()
    object.__setattr__(made, "doors", 0)
    return made
"""
    (tmp_path / "doors.py").write_text(header + source + others)
    monkeypatch.syspath_prepend(tmp_path)
    yield "doors"
    sys.modules.pop("doors", None)


@pytest.fixture
def registered(monkeypatch):
    """Registrations are undone after the test."""
    monkeypatch.setattr("langevin_dqn.environments.registry.FACTORIES", FACTORIES)
    before = dict(FACTORIES)
    yield FACTORIES
    FACTORIES.clear()
    FACTORIES.update(before)


def test_a_users_factory_by_its_module(module):
    env = make_env(f"jax:{module}:door")
    assert (type(env).__name__, env.num_actions) == ("Door", 2)
    assert isinstance(env, Environment)
    env = make_env(f"jax:{module}:door:doors=5,right=3,prize=false,name=7,tags=8")
    assert (env.num_actions, env.right, env.tags) == (5, 3, 8)


def test_a_class_is_a_factory(module):
    assert make_env(f"jax:{module}:Door:right=1,doors=3").num_actions == 3


@pytest.mark.parametrize(
    ("rest", "words"),
    [
        ("", "does not name an object"),
        ("doors", "does not name an object"),
        ("no_such_module:door", "cannot import 'no_such_module'"),
        ("doors:dor", "did you mean 'door'?"),
        ("doors:NUMBER", "jax:doors:NUMBER is not callable: int: 3"),
        ("doors:nothing", "jax:doors:nothing is not an environment: NoneType"),
        ("doors:broken", "jax:doors:broken cannot be made: RuntimeError: no doors today"),
        ("doors:a_class", "the class Door"),
        ("doors:misshapen", "num_actions=0"),
        ("doors:door:colour=red", "unknown setting 'colour'"),
        ("doors:door:doors=two", "doors=two is not a whole number"),
        ("doors:door:prize=3", "prize=3 is neither true nor false"),
        ("doors:Door", "missing 1 required positional argument"),
    ],
)
def test_bad_modules_and_factories(module, rest, words):
    with pytest.raises(UserError) as error:
        make_env(f"jax:{rest}")
    assert words in str(error.value)
    assert len(str(error.value).splitlines()) == 2


def test_a_registered_name(registered):
    langevin_dqn.register_env("my-door.v2", door)
    env = make_env("my-door.v2:doors=3")
    assert (type(env), env.num_actions) == (Door, 3)
    assert make_jax_env("my-door.v2").num_actions == 2
    with pytest.raises(UserError, match="did you mean 'doors'"):
        make_env("my-door.v2:dors=3")


@pytest.mark.parametrize("name", ["deep_sea", "catch", "gym", "dm", "jax", "python"])
def test_a_name_that_is_taken(registered, name):
    with pytest.raises(UserError, match="already"):
        langevin_dqn.register_env(name, door)


def test_a_name_is_registered_once(registered):
    langevin_dqn.register_env("door", door)
    with pytest.raises(UserError, match="already"):
        langevin_dqn.register_env("door", Door)


@pytest.mark.parametrize("name", ["", "a:b", "a/b", "a b", "a,b", "a=b"])
def test_a_name_that_no_id_could_have(registered, name):
    with pytest.raises(UserError, match="letters"):
        langevin_dqn.register_env(name, door)
    assert name not in FACTORIES


def test_a_factory_that_cannot_be_called(registered):
    with pytest.raises(UserError, match="not callable"):
        langevin_dqn.register_env("door", "jax:doors:door")


def test_a_registered_factory_is_checked_when_it_is_used(registered):
    langevin_dqn.register_env("door", lambda: 3)
    with pytest.raises(UserError, match="door is not an environment: int: 3"):
        make_env("door")


def test_an_agent_by_mistake():
    with pytest.raises(UserError, match=r"jax:package\.module:factory"):
        make_env("python:my.module:agent")


def test_every_prefix_that_imports_is_known_as_one():
    """``gym`` imports only where the id names a module, which ``ids`` tells apart.

    ``gymnax`` and ``xminigrid`` import the library of that name, and no module that an id could choose.
    """
    assert set(PREFIXES) - {"gym", "gymnax", "xminigrid"} <= set(IMPORTING)
