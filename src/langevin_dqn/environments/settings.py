"""The settings in an environment's id: ``NAME:depth=20,stochastic=true``."""

import inspect
from collections.abc import Callable
from typing import Any

from langevin_dqn.errors import UserError, nearest
from langevin_dqn.ids import literal

_TYPED = (bool, int, float, str)


def typed_settings(settings: dict[str, str], factory: Callable[..., Any], name: str) -> dict[str, Any]:
    """Settings as keyword arguments of ``factory``, of the types that its defaults have."""
    try:
        parameters = inspect.signature(factory).parameters
    except ValueError:  # some built-in functions have no signature
        return {key: literal(text) for key, text in settings.items()}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    allowed = {key: p.default for key, p in parameters.items() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    return typed_values(settings, allowed, name, takes_any=takes_any)


def typed_values(
    settings: dict[str, str], defaults: dict[str, Any], name: str, *, takes_any: bool = False
) -> dict[str, Any]:
    """Settings as values of the types that their defaults have; with ``takes_any``, others are literals."""
    typed = {}
    for key, text in settings.items():
        if key not in defaults and not takes_any:
            hint = nearest(key, defaults) if defaults else f"{name} takes no settings"
            raise UserError(f"unknown setting {key!r} of {name}", hint)
        kind = type(defaults.get(key))
        typed[key] = _of_type(kind, key, text) if kind in _TYPED else literal(text)
    return typed


def _of_type(kind: type, key: str, text: str) -> Any:
    if kind is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise UserError(f"{key}={text} is neither true nor false", f"write {key}=true or {key}=false")
    try:
        return kind(text)
    except ValueError:
        what, example = ("a whole number", "20") if kind is int else ("a number", "0.5")
        raise UserError(f"{key}={text} is not {what}", f"for example, {key}={example}") from None
