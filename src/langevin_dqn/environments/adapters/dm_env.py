"""dm_env environments for our agents: ``dm:package.module:factory``."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from langevin_dqn.environments.base import ArraySpace, IndexSpace, Space
from langevin_dqn.errors import UserError, brief
from langevin_dqn.extras import missing
from langevin_dqn.ids import import_object, literal, split_settings


def make(text: str) -> "DmEnvironment":
    """``package.module:factory``, or with settings ``package.module:factory:size=10,seed=3``."""
    try:
        import dm_env  # noqa: F401
    except ImportError as error:
        raise missing("dm_env", error) from None
    path, settings = split_settings(text)
    factory = import_object(path, "dm")
    if not callable(factory):
        raise UserError(
            f"dm:{path} is not callable: {brief(factory)}", "it must be a function that returns an environment"
        )
    try:
        return DmEnvironment(factory, **{key: literal(value) for key, value in settings.items()})
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # a factory may raise anything
        hint = f"it must return a dm_env.Environment; check its settings: dm:{path}:size=10"
        raise UserError(f"dm:{path} cannot be made: {brief(error)}", hint) from error


class DmEnvironment:
    """A dm_env environment as a ``HostEnvironment``.

    An episode whose last step has discount 0 has terminated; with any other discount it was
    truncated. Discounts in between are not used: the agent's own discount counts.

    dm_env has no seeds, so a factory that takes ``seed`` is called again when a seed is given,
    unless the settings fix one. The randomness of other environments is not controlled.

    Args:
        factory: gives the environment.
        **settings: the factory's keyword arguments.
    """

    max_return = None

    def __init__(self, factory: Callable[..., Any], **settings: Any):
        self._factory, self._settings = factory, settings
        self._takes_seed = "seed" not in settings and "seed" in inspect.signature(factory).parameters
        self.env = factory(**settings)
        actions = self.env.action_spec()
        if not hasattr(actions, "num_values"):
            raise UserError(f"actions {actions} are not supported", "the action spec must be a DiscreteArray")
        self._num_actions = int(actions.num_values)
        self._space = _translate(self.env.observation_spec())

    @property
    def observation_space(self) -> Space:
        return self._space

    @property
    def num_actions(self) -> int:
        return self._num_actions

    def reset(self, seed: int | None = None) -> np.ndarray:
        if seed is not None and self._takes_seed:
            self.env.close()
            self.env = self._factory(**self._settings, seed=seed)
        return self._observe(self.env.reset())

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool]:
        timestep = self.env.step(action)
        ended, goes_on = bool(timestep.last()), bool(timestep.discount != 0)
        return self._observe(timestep), float(timestep.reward), ended and not goes_on, ended and goes_on

    def close(self) -> None:
        self.env.close()

    def _observe(self, timestep: Any) -> np.ndarray:
        kind = np.int32 if isinstance(self._space, IndexSpace) else self._space.dtype
        return np.array(timestep.observation, kind)


def _translate(spec: Any) -> Space:
    from dm_env import specs

    if isinstance(spec, specs.DiscreteArray):
        return IndexSpace(int(spec.num_values))
    if isinstance(spec, specs.Array) and np.issubdtype(spec.dtype, np.number):
        is_pixels = spec.dtype == np.uint8 and (not hasattr(spec, "maximum") or bool(np.all(spec.maximum == 255)))
        return ArraySpace(spec.shape, "uint8" if is_pixels else "float32")
    raise UserError(
        f"observations {spec} are not supported".replace("\n", " "),
        "wrap the environment in the factory so that it observes one array of numbers",
    )
