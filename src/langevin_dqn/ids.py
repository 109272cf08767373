"""Ids that name somebody's Python code, and when such an id may be followed.

``package.module:factory`` names an object to import. Custom agents are
``python:package.module:factory``, environments ``jax:package.module:factory`` and
``dm:package.module:factory``; ``gym:package:Name-v0`` makes Gymnasium import ``package``.

An id that the user types may import what it names. An id that was read from a file (a stored run,
a saved agent) may not, unless the user names the same id: a file never causes an import.
"""

import ast
import inspect
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

from langevin_dqn.errors import UserError, brief, nearest

#: Prefixes of ids whose rest is imported.
IMPORTING = ("python", "jax", "dm")


def import_object(path: str, prefix: str) -> Any:
    """The object that ``package.module:name`` names.

    Args:
        path: where it is.
        prefix: the prefix of the id, for messages.
    """
    form = f"write {prefix}:package.module:name"
    module_name, _, name = path.partition(":")
    if not (module_name and name and all(part.isidentifier() for part in module_name.split("."))):
        raise UserError(f"{prefix}:{path} does not name an object in a module", form)
    try:
        module = import_module(module_name)
    except (Exception, SystemExit) as error:  # a module may raise anything while it is imported
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        of_its_own = missing is None or f"{module_name}.".startswith(f"{missing}.")
        package = (missing or "").partition(".")[0]
        hint = (
            f"{form}; the module must be on the Python path" if of_its_own else f"install {package}, which it imports"
        )
        raise UserError(f"cannot import {module_name!r}: {brief(error)}", hint) from error
    if not hasattr(module, name):
        names = [other for other in vars(module) if not other.startswith("_")]
        raise UserError(f"{module_name} has no {name!r}", nearest(name, names) if names else form)
    return getattr(module, name)


def call_factory(identifier: str, what: str, **arguments: Any) -> Any:
    """What the factory of ``prefix:package.module:factory`` or ``…:factory:size=10,seed=3`` returns.

    Args:
        identifier: the id.
        what: what the factory makes, for messages.
        **arguments: more keyword arguments for it; ``environment`` only if it takes one of that name.
    """
    prefix, _, rest = identifier.partition(":")
    path, settings = split_settings(rest)
    factory = import_object(path, prefix)
    if not callable(factory):
        raise UserError(f"{path} is not a function or class", f"it must be a function or class that returns the {what}")
    return call(factory, path, what, **{key: literal(value) for key, value in settings.items()}, **arguments)


def call(factory: Callable[..., Any], name: str, what: str, **arguments: Any) -> Any:
    """What ``factory`` returns; whatever goes wrong in it is a mistake of the user's, reported in one line."""
    parameters = inspect.signature(factory).parameters
    if "environment" in arguments and "environment" not in parameters:
        del arguments["environment"]
    for key, value in arguments.items():  # so that 1 and 1.0 are the same setting
        if type(value) is int and key in parameters and isinstance(parameters[key].default, float):
            arguments[key] = float(value)
    try:
        return factory(**arguments)
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything
        reason = (str(error).splitlines() or [""])[0]
        raise UserError(
            f"{name} raises {type(error).__name__}: {reason}", f"check the settings of the {what}"
        ) from error


def split_settings(text: str) -> tuple[str, dict[str, str]]:
    """``NAME:key=value,...`` as the name and its settings; a name may itself have colons."""
    name, _, settings = text.rpartition(":")
    return (name, read_pairs(settings, name)) if "=" in settings else (text, {})


def read_pairs(settings: str, name: str) -> dict[str, str]:
    """``key=value,...`` as a dictionary of texts; ``name`` is for messages."""
    pairs: dict[str, str] = {}
    for item in filter(None, settings.split(",")):
        key, separator, value = item.partition("=")
        if not key:
            raise UserError(f"setting {item!r} has no name", f"for example, {name}:size=10,seed=3")
        if not separator:
            raise UserError(f"setting {item!r} has no value", f"write {name}:{item}=VALUE")
        if key in pairs:
            raise UserError(f"setting {key!r} is given twice", f"keep one of {key}={pairs[key]} and {key}={value}")
        pairs[key] = value
    return pairs


def literal(text: str) -> Any:
    """A number, true, false or another Python literal; else the text itself."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def imports_code(identifier: str) -> bool:
    """True if following an id imports a module that the id itself chooses.

    A Gymnasium id does so where it names a module, and may where a setting is a text, which some
    environments take for another id.
    """
    prefix, colon, rest = identifier.partition(":")
    if not colon:
        return False
    if prefix == "gym":
        name, *more = rest.split(":")
        settings = more.pop() if more and "=" in more[-1] else ""
        values = [item.partition("=")[2] for item in settings.split(",")] if settings else []
        return not name or bool(more) or not all(_is_plain(value) for value in values)
    return prefix in IMPORTING


def _is_plain(value: str) -> bool:
    if value.lower() in ("true", "false"):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True


def refuse_import(identifier: str, source: str, hint: str, named: Collection[str] = ()) -> None:
    """Refuse an id from a file that would import code, unless the user named the same id.

    Args:
        identifier: the id.
        source: the file or store it was read from.
        hint: how the user can name it.
        named: what the user named.
    """
    if identifier not in named and imports_code(identifier):
        raise UserError(f"{source} names {identifier!r}, which would import code", hint)
