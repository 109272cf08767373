"""From an id to an environment.

``cartpole_noise/12`` is a bsuite id (experiment/setting); ``deep_sea:depth=20,mapping_seed=7``
is a name with settings; a bare name takes its defaults. ``gym:CartPole-v1`` is Gymnasium's, and
``dm:package.module:factory`` any dm_env environment.
"""

import inspect
from collections.abc import Callable
from typing import Any

from langevin_dqn.environments.adapters import dm_env, gymnasium
from langevin_dqn.environments.adapters.host import HostEnvironment
from langevin_dqn.environments.bandits.contextual_bandit import contextual_bandit
from langevin_dqn.environments.bandits.gaussian_bandit import gaussian_bandit, linear_bandit
from langevin_dqn.environments.base import Environment
from langevin_dqn.environments.bsuite.bandit import bandit
from langevin_dqn.environments.bsuite.cartpole import cartpole, cartpole_swingup
from langevin_dqn.environments.bsuite.catch import catch
from langevin_dqn.environments.bsuite.deep_sea import deep_sea, deep_sea_stochastic
from langevin_dqn.environments.bsuite.discounting_chain import discounting_chain
from langevin_dqn.environments.bsuite.memory_chain import memory_len, memory_size
from langevin_dqn.environments.bsuite.mnist import mnist
from langevin_dqn.environments.bsuite.mountain_car import mountain_car
from langevin_dqn.environments.bsuite.sweeps import SWEEPS
from langevin_dqn.environments.bsuite.umbrella_chain import umbrella_distract, umbrella_length
from langevin_dqn.environments.bsuite.wrappers import noisy, scaled
from langevin_dqn.environments.probes import PROBES, probe
from langevin_dqn.errors import UserError, nearest, unknown

Factory = Callable[..., Environment]


def _probe_factory(task: str) -> Factory:
    def factory():
        return probe(task)

    factory.__doc__ = f"A probe of an agent: {task}."
    return factory


#: Environments by name: a factory whose keyword arguments are the settings.
FACTORIES: dict[str, Factory] = {
    "bandit": bandit,
    "bandit_noise": noisy(bandit),
    "bandit_scale": scaled(bandit),
    "cartpole": cartpole,
    "cartpole_noise": noisy(cartpole),
    "cartpole_scale": scaled(cartpole),
    "cartpole_swingup": cartpole_swingup,
    "catch": catch,
    "catch_noise": noisy(catch),
    "catch_scale": scaled(catch),
    "contextual_bandit": contextual_bandit,
    "deep_sea": deep_sea,
    "deep_sea_stochastic": deep_sea_stochastic,
    "discounting_chain": discounting_chain,
    "gaussian_bandit": gaussian_bandit,
    "linear_bandit": linear_bandit,
    "memory_len": memory_len,
    "memory_size": memory_size,
    "mnist": mnist,
    "mnist_noise": noisy(mnist),
    "mnist_scale": scaled(mnist),
    "mountain_car": mountain_car,
    "mountain_car_noise": noisy(mountain_car),
    "mountain_car_scale": scaled(mountain_car),
    "umbrella_distract": umbrella_distract,
    "umbrella_length": umbrella_length,
    **{f"probe_{task}": _probe_factory(task) for task in PROBES},
}

#: A setting that says which environment is meant: bsuite counts num_actions, and has no bandit with arms.
_TELLING = {("bandit", "arms"): "gaussian_bandit"}

#: Where a factory's name for a setting is not bsuite's.
_RENAMED = {"size": "depth"}

#: Environments of other libraries, by prefix: what makes one from the rest of the id.
ADAPTERS: dict[str, Callable[[str], HostEnvironment]] = {"gym": gymnasium.make, "dm": dm_env.make}


def make_env(env_id: str) -> Environment | HostEnvironment:
    """Make the environment that ``env_id`` names.

    It is an :class:`~langevin_dqn.environments.Environment`, or a
    :class:`~langevin_dqn.environments.HostEnvironment` for ``gym:`` and ``dm:`` ids.

    Example:
        >>> import langevin_dqn
        >>> langevin_dqn.make_env("deep_sea:depth=20").observation_space
        IndexSpace(n=400)
        >>> langevin_dqn.make_env("deep_sea/3").depth
        16
    """
    name, colon, settings = env_id.partition(":")
    if colon and name in ADAPTERS:
        return ADAPTERS[name](settings)
    if "/" in name:
        return _from_sweep(*name.split("/", 1))
    if name not in FACTORIES:
        raise unknown("environment", name, FACTORIES)
    for item in settings.split(","):
        name = _TELLING.get((name, item.partition("=")[0]), name)
    return FACTORIES[name](**_parse_settings(name, settings))


def make_jax_env(env_id: str) -> Environment:
    """As :func:`make_env`, for ids whose environment can be compiled; others are refused."""
    environment = make_env(env_id)
    if isinstance(environment, HostEnvironment):
        environment.close()
        raise UserError(f"{env_id} does not run inside JAX", "use one of ours; langevin-dqn list names them")
    return environment


def bsuite_episodes(env_id: str) -> int | None:
    """How many episodes bsuite runs this id for; None for what is no bsuite id."""
    name, slash, _ = env_id.partition("/")
    return SWEEPS[name].episodes if slash and name in SWEEPS else None


def _from_sweep(name: str, number: str) -> Environment:
    if name not in SWEEPS:
        raise unknown("environment", name, SWEEPS)
    settings = SWEEPS[name].settings
    if not (number.isdecimal() and int(number) < len(settings)):
        raise UserError(
            f"{name}/{number} is not one of its settings", f"ids run from {name}/0 to {name}/{len(settings) - 1}"
        )
    setting = settings[int(number)]
    return FACTORIES[name](**{_RENAMED.get(k, k): v for k, v in setting.items() if k != "seed"})


def _parse_settings(name: str, settings: str) -> dict[str, Any]:
    """``depth=20,stochastic=true`` as keyword arguments, typed as the factory's defaults are."""
    allowed = {k: p.default for k, p in inspect.signature(FACTORIES[name]).parameters.items()}
    parsed: dict[str, Any] = {}
    for item in filter(None, settings.split(",")):
        key, separator, text = item.partition("=")
        if not separator:
            raise UserError(f"environment setting {item!r} has no value", f"write {name}:{item}=VALUE")
        if key not in allowed:
            hint = nearest(key, allowed) if allowed else f"{name} takes no settings"
            raise UserError(f"unknown setting {key!r} of {name}", hint)
        parsed[key] = _parse_value(key, text, type(allowed[key]))
    return parsed


def _parse_value(key: str, text: str, kind: type) -> Any:
    if kind is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise UserError(f"{key}={text} is neither true nor false", f"write {key}=true or {key}=false")
    try:
        return kind(text)
    except ValueError:
        what, example = ("a whole number", "20") if kind is int else ("a number", "0.5")
        raise UserError(f"{key}={text} is not {what}", f"write for instance {key}={example}") from None
