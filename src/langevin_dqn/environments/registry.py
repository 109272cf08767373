"""From an id to an environment.

``deep_sea/3`` is a bsuite id (experiment/setting); ``deep_sea:depth=20,mapping_seed=7`` is a
name with settings; a bare name takes its defaults. ``gym:CartPole-v1`` is Gymnasium's, and
``dm:package.module:factory`` any dm_env environment.
"""

import inspect
from collections.abc import Callable
from typing import Any

from langevin_dqn.environments import dm_env, gymnasium
from langevin_dqn.environments.base import Environment
from langevin_dqn.environments.deep_sea import deep_sea
from langevin_dqn.environments.host import HostEnvironment
from langevin_dqn.environments.probes import PROBES, probe
from langevin_dqn.errors import UserError, nearest, unknown

_SEA_SIZES = tuple(range(10, 51, 2))


def _probe_factory(task: str) -> Callable[[], Environment]:
    def factory():
        return probe(task)

    factory.__doc__ = f"A probe of an agent: {task}."
    return factory


#: Environments by name: a factory whose keyword arguments are the settings.
FACTORIES: dict[str, Callable[..., Environment]] = {
    "deep_sea": deep_sea,
    **{f"probe_{task}": _probe_factory(task) for task in PROBES},
}

#: bsuite experiments by name: the factory's settings for each id, in bsuite's order.
SWEEPS: dict[str, tuple[str, tuple[dict[str, Any], ...]]] = {
    "deep_sea": ("deep_sea", tuple({"depth": n} for n in _SEA_SIZES)),
    "deep_sea_stochastic": ("deep_sea", tuple({"depth": n, "stochastic": True} for n in _SEA_SIZES)),
}

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
    if "/" in env_id:
        return _from_sweep(*env_id.split("/", 1))
    if name not in FACTORIES:
        raise unknown("environment", name, sorted({*FACTORIES, *SWEEPS}))
    return FACTORIES[name](**_parse_settings(name, settings))


def _from_sweep(name: str, number: str) -> Environment:
    if name not in SWEEPS:
        raise unknown("environment", name, SWEEPS)
    factory, sweep = SWEEPS[name]
    if not (number.isdecimal() and int(number) < len(sweep)):
        raise UserError(
            f"{name}/{number} is not one of its settings", f"ids run from {name}/0 to {name}/{len(sweep) - 1}"
        )
    return FACTORIES[factory](**sweep[int(number)])


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
        raise UserError(f"{key}={text} is not a number", f"write for instance {key}=20") from None
