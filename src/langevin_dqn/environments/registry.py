"""From an id to an environment.

``cartpole_noise/12`` is a bsuite id (experiment/setting); ``deep_sea:depth=20,mapping_seed=7``
is a name with settings; a bare name takes its defaults. ``gym:CartPole-v1`` is Gymnasium's,
``gymnax:CartPole-v1`` gymnax's, ``xminigrid:MiniGrid-Empty-5x5`` XLand-MiniGrid's,
``dm:package.module:factory`` any dm_env environment, and ``jax:package.module:factory`` an
environment of your own. ``register_env`` adds names.
"""

import re
import sys
from collections.abc import Callable, Collection
from typing import Any

from langevin_dqn import ids
from langevin_dqn.environments.adapters import dm_env, gymnasium, gymnax, xminigrid
from langevin_dqn.environments.adapters.host import HostEnvironment
from langevin_dqn.environments.base import Environment
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.environments.checking import check_environment
from langevin_dqn.environments.factories import BUILT_IN
from langevin_dqn.environments.settings import typed_settings
from langevin_dqn.errors import UserError, brief, unknown
from langevin_dqn.ids import read_pairs, split_settings

Factory = Callable[..., Environment | HostEnvironment]

#: Environments by name: those of the package, and those that were registered.
FACTORIES: dict[str, Factory] = dict(BUILT_IN)

#: A name and a setting that together mean another name: bsuite's bandit has num_actions and no arms.
_NAME_BY_SETTING = {("bandit", "arms"): "gaussian_bandit"}

#: Settings of bsuite that have another name here.
_RENAMED_SETTINGS = {"size": "depth"}

#: How names in other libraries look, and the prefix of their ids.
_ELSEWHERE = (
    (r"-v\d+$", "Gymnasium's", "gym"),
    (r"-(MinAtar|bsuite|misc)$", "gymnax's", "gymnax"),
    (r"^(XLand-)?MiniGrid-", "XLand-MiniGrid's", "xminigrid"),
)

_OWN = "custom environments are jax:package.module:factory"
_NAME_IT = "if you trust this code, pass the same id explicitly, with env= in Python or --env on the command line"


def make_env(env_id: str) -> Environment | HostEnvironment:
    """Make the environment that ``env_id`` names.

    It is an ``Environment``, or a
    ``HostEnvironment`` for ``gym:`` and ``dm:`` ids.

    Examples:
        >>> import langevin_dqn
        >>> langevin_dqn.make_env("deep_sea:depth=20").observation_space
        IndexSpace(n=400)
        >>> langevin_dqn.make_env("deep_sea/3").depth
        16
    """
    name, colon, settings = env_id.partition(":")
    if colon and name in PREFIXES:
        made = PREFIXES[name](settings)
        if isinstance(made, HostEnvironment):
            check_environment(made, env_id)
        return made
    for pattern, library, prefix in _ELSEWHERE:
        if name not in FACTORIES and re.search(pattern, name):
            hint = f"{library} environments begin with {prefix}: {prefix}:{env_id}"
            raise UserError(f"unknown environment {name!r}", hint)
    if "/" in name:
        if colon:
            hint = f"use {name} alone, or {name.partition('/')[0]} with settings"
            raise UserError(f"{env_id}: an id with a number takes no settings", hint)
        return _from_sweep(*name.split("/", 1))
    if name == "python":
        raise UserError(f"{env_id} names an agent, not an environment", _OWN)
    if name not in FACTORIES:
        raise unknown("environment", name, FACTORIES, "langevin-dqn list shows all environments")
    pairs = read_pairs(settings, name)
    for key in pairs:
        name = _NAME_BY_SETTING.get((name, key), name)
    return make_named(name, typed_settings(pairs, FACTORIES[name], name))


def is_made_here(env: Any) -> bool:
    """True if ``as_environment`` makes an environment for ``env``, to be closed by whoever asked for it."""
    return isinstance(env, str) or (callable(env) and not isinstance(env, type) and not hasattr(env, "step"))


def as_environment(env: Any) -> Environment | HostEnvironment:
    """The environment that ``train`` was given: an id, an environment, one of another library, or a function.

    Gymnasium's, gymnax's and XLand-MiniGrid's environments are wrapped; with their parameters, the last two are
    pairs. A function without arguments is called, and may return any of the others.
    """
    if isinstance(env, str):
        return make_env(env)
    if is_made_here(env):
        try:
            made = env()
        except UserError:
            raise
        except (Exception, SystemExit) as error:
            raise UserError(f"the function that makes the environment raises {brief(error)}", _CALLED) from error
        if callable(made) and not hasattr(made, "step"):
            raise UserError(f"the function returns {brief(made)}, not an environment", _CALLED)
        return as_environment(made)
    loaded = sys.modules.get("gymnasium")
    if loaded is not None and isinstance(env, loaded.Env):
        wrapped = gymnasium.GymnasiumEnvironment(env)
        check_environment(wrapped, type(env).__name__)
        return wrapped
    # gymnax.make and xminigrid.make return an environment and its parameters.
    env, *params = env if isinstance(env, tuple) and len(env) == 2 else (env,)
    name = type(env).__name__
    if gymnax.is_gymnax(env):
        env = gymnax.GymnaxEnvironment(env, *params)
    elif xminigrid.is_xminigrid(env):
        env = xminigrid.XMiniGridEnvironment(env, *params)
    elif params:
        raise UserError(
            f"{name} and {type(params[0]).__name__} are not an environment and its parameters",
            "pass the pair that gymnax.make or xminigrid.make returns, or an environment alone",
        )
    check_environment(env, name)
    return env


def id_of(env: Any, environment: Any) -> str | None:
    """The id of what ``train`` was given, where it has one; that of a Gymnasium environment is its specification's."""
    if isinstance(env, str):
        return env
    spec = getattr(getattr(environment, "env", None), "spec", None)
    return None if spec is None else f"gym:{spec.id}"


_CALLED = "the function must take no arguments and return an environment, such as a Gymnasium environment"


def make_named(name: str, settings: dict[str, Any]) -> Environment | HostEnvironment:
    """The environment of a name in ``FACTORIES``, with the settings of its factory."""
    if name in BUILT_IN:
        return BUILT_IN[name](**settings)
    return _call_users(FACTORIES[name], settings, name)


def make_jax_env(env_id: str) -> Environment:
    """Like ``make_env``, for ids whose environment can be compiled; others are refused."""
    environment = make_env(env_id)
    if isinstance(environment, HostEnvironment):
        environment.close()
        raise UserError(f"{env_id} is not a JAX environment", "langevin-dqn list shows the JAX environments")
    return environment


def register_env(name: str, factory: Factory) -> None:
    """Make ``name``, and ``name:key=value,...`` with settings, an id of the environment that ``factory`` makes.

    A name is known in this Python process only. Runs in worker processes need an id that can be
    imported there: ``jax:package.module:factory``.

    Args:
        name: letters, digits, ``_``, ``-`` and ``.``, not used so far.
        factory: makes the environment. Its keyword arguments are the settings, of the types of their defaults.

    After ``register_env("maze", make_maze)``, where ``make_maze(size: int = 5)`` makes an environment,
    ``train("langevin_dqn", "maze:size=7")`` trains on it.
    """
    if not re.fullmatch(r"[\w.-]+", name):
        raise UserError(f"{name!r} is not a valid name for an environment", "use letters, digits, _, - and . only")
    if name in FACTORIES or name in ("python", *PREFIXES):
        raise UserError(f"an environment named {name!r} already exists", "choose another name")
    if not callable(factory):
        raise UserError(f"the factory of {name} is not callable: {brief(factory)}", "pass a function or a class")
    FACTORIES[name] = factory


def safe_env(
    identifier: str, source: str, named: Collection[str] = (), hint: str = _NAME_IT
) -> Environment | HostEnvironment:
    """Like ``make_env``, for an id that was read from a file: it is refused if it would import code.

    Args:
        identifier: the id.
        source: the file or store it was read from.
        named: ids that the user gave; these may import code.
        hint: how the user can give the id.
    """
    ids.refuse_import(identifier, source, hint, named)
    return make_env(identifier)


def bsuite_episodes(env_id: str) -> int | None:
    """How many episodes bsuite runs this id for; None for other ids."""
    name, slash, _ = env_id.partition("/")
    return SWEEPS[name].episodes if slash and name in SWEEPS else None


def _from_sweep(name: str, number: str) -> Environment:
    if name not in SWEEPS:
        raise unknown("environment", name, SWEEPS, "langevin-dqn list shows all environments")
    settings = SWEEPS[name].settings
    if not (number.isdecimal() and int(number) < len(settings)):
        raise UserError(f"{name} has no setting {number}", f"ids run from {name}/0 to {name}/{len(settings) - 1}")
    setting = settings[int(number)]
    return BUILT_IN[name](**{_RENAMED_SETTINGS.get(k, k): v for k, v in setting.items() if k != "seed"})


def _from_module(text: str) -> Environment | HostEnvironment:
    """``package.module:factory``, or with settings ``package.module:factory:size=5``."""
    path, settings = split_settings(text)
    name, factory = f"jax:{path}", ids.import_object(path, "jax")
    if not callable(factory):
        raise UserError(
            f"{name} is not callable: {brief(factory)}", "it must be a function that returns an environment"
        )
    return _call_users(factory, typed_settings(settings, factory, name), name)


def _call_users(factory: Factory, settings: dict[str, Any], name: str) -> Environment | HostEnvironment:
    """What a user's factory makes, checked."""
    try:
        environment = factory(**settings)
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # a factory may raise anything
        raise UserError(f"{name} cannot be made: {brief(error)}", f"check its settings: {name}:size=10") from error
    check_environment(environment, name)
    return environment


#: What makes an environment from the rest of an id, by the id's prefix.
PREFIXES: dict[str, Callable[[str], Environment | HostEnvironment]] = {
    "gym": gymnasium.make,
    "gymnax": gymnax.make,
    "xminigrid": xminigrid.make,
    "dm": dm_env.make,
    "jax": _from_module,
}
