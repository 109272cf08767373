"""A trained agent as one file: NumPy's .npz, the state's arrays by name and a line of JSON about them.

Nothing is pickled and nothing that a file names is imported, so a file from elsewhere can do no
harm, and NumPy alone can read it.
"""

import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn import __version__, array_files, ids, keys
from langevin_dqn.agents.described import check_same_agent, describe_space, name_agent
from langevin_dqn.agents.making import make_agent
from langevin_dqn.agents.registry import make_network, resolve_agent, resolve_config
from langevin_dqn.agents.value_agent import ValueAgent
from langevin_dqn.array_files import ArrayFile
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments import Environment, HostEnvironment, make_env
from langevin_dqn.environments.base import ArraySpace, FeatureSpace, IndexSpace, Space
from langevin_dqn.errors import UserError, path_or_name
from langevin_dqn.loops.evaluation import TrainedAgent
from langevin_dqn.networks.base import example_observation
from langevin_dqn.runs.folders import file_error
from langevin_dqn.runs.result import Result
from langevin_dqn.version import ALGORITHM_VERSION

_RUN = ("agent", "preset", "env", "seed", "episodes")
_SPACES: dict[str, Any] = {space.__name__: space for space in (IndexSpace, ArraySpace, FeatureSpace)}

#: The leading names of a state's arrays in files from before version 0.2, and those of now.
_OLD_NAMES = {
    ".params": ".learner.params",
    ".target": ".learner.target",
    ".optimizer": ".learner.optimizer",
    ".updates": ".learner.counter.updates",
    ".nonfinite_update": ".learner.counter.nonfinite_update",
}


@dataclass(frozen=True)
class SavedAgent:
    """What a file holds.

    Attributes:
        trained: the agent and its learned state.
        agent: the preset's name, registered name or id; the class of an agent object; ``custom`` for a configuration.
        preset: which of the presets.
        env: id of the environment it was trained on.
        seed: the run's seed.
        episodes: how many it was trained for.
        config: its configuration, or the output of ``describe()`` for a custom agent.
        space: its observation space.
        num_actions: number of actions.
        has_checksum: its content was compared with its checksum, which files of version 0.1 do not have.
    """

    trained: TrainedAgent
    agent: str
    preset: str
    env: str
    seed: int
    episodes: int
    config: AgentConfig | dict[str, Any]
    space: Space
    num_actions: int
    has_checksum: bool = True

    def check_fits(self, environment: Environment | HostEnvironment, name: str) -> None:
        """Refuse an environment with other observations or actions than the one it was trained on."""
        if (environment.observation_space, environment.num_actions) != (self.space, self.num_actions):
            raise UserError(
                f"an agent trained on {self.env} cannot act in {name}: observations or actions differ",
                "use an environment with the same observations and actions",
            )


def save_agent(result: Result, path: str | Path) -> Path:
    """Write the agent that ``train(..., keep_agent=True)`` left in ``result`` to a .npz file.

    Args:
        result: the run.
        path: the file, which ends in .npz.

    Examples:
        >>> import langevin_dqn, tempfile
        >>> result = langevin_dqn.train("dqn", "probe_action", episodes=200, epsilon=0.5, keep_agent=True)
        >>> file = langevin_dqn.save_agent(result, tempfile.mkdtemp() + "/agent.npz")
        >>> saved = langevin_dqn.load_agent(file)
        >>> langevin_dqn.evaluate(saved.trained, saved.env, episodes=3).tolist()
        [1.0, 1.0, 1.0]
    """
    path = Path(path_or_name("path", path))
    if result.trained is None:
        raise UserError("the result has no trained agent", "train with keep_agent=True")
    if path.suffix != ".npz":
        raise UserError(f"{path} does not end in .npz", "use a file name that ends in .npz")
    trained, config = result.trained, result.config
    about = {name: getattr(result, name) for name in _RUN} | {
        "config": config.to_dict() if isinstance(config, AgentConfig) else None,
        "description": trained.agent.describe(),
        "space": describe_space(trained.space),
        "num_actions": trained.num_actions,
        "package": __version__,
        "algorithm_version": ALGORITHM_VERSION,
    }
    try:
        array_files.write(path, about, array_files.named_arrays(trained.state), compressed=True)
    except OSError as error:
        raise file_error(error, path) from None
    return path


def load_agent(
    path: str | Path,
    env: str | Environment | HostEnvironment | None = None,
    *,
    agent: Any = None,
    network: Any = None,
    **changes: Any,
) -> SavedAgent:
    """Read an agent that ``save_agent`` wrote.

    Args:
        path: the file.
        env: the environment it was trained on. Only files of version 0.1 need it, for environments that are
            not named by a plain id, and agents of your own whose factory takes ``environment``.
        agent: the agent, or ``python:package.module:factory``, where it was one of your own.
        network: the network, or its id, where it was one of your own.
        **changes: arguments of the agent's factory, as for ``train``.
    """
    path = Path(path_or_name("path", path))
    about, file = _read(path)
    try:
        space, num_actions, settings = _observed(about, path, env)
        config: AgentConfig | dict[str, Any] = about["description"] or {}
        if about["config"] is not None:
            config = AgentConfig.from_dict(about["config"])
        if num_actions < 1 or not all(isinstance(about[name], str) for name in ("agent", "preset", "env")):
            raise TypeError
        if not all(type(about[name]) is int and about[name] >= 0 for name in ("seed", "episodes")):
            raise TypeError
        jax.eval_shape(lambda: jnp.zeros_like(example_observation(space)))
    except UserError:
        raise
    except Exception:  # a file may hold anything
        raise _not_a_saved_agent(path) from None
    if agent is not None:
        named = make_env(env) if isinstance(env, str) else env
        known = _Observed(space, num_actions) if named is None else named
        built = resolve_agent(agent, known, network=network, changes=changes).agent
    elif changes:
        raise UserError("settings were given without an agent", "add agent= or --agent, or remove the settings")
    elif settings is not None:
        built = make_agent(settings, make_network(network), space)
    else:
        raise UserError(f"{path} was saved by the custom agent {about['agent']}", name_agent(about["agent"]))
    if about["description"] is not None:
        check_same_agent(str(path), about["agent"], about["description"], built)
    shapes = jax.eval_shape(lambda key: built.without_memory(built.init(key, space, num_actions, 1)), keys.run_key(0))
    state = _filled(shapes, file, exact=isinstance(built, ValueAgent))
    return SavedAgent(
        TrainedAgent(built, state, space, num_actions),
        config=config,
        space=space,
        num_actions=num_actions,
        has_checksum=file.checksum is not None,
        **{name: about[name] for name in _RUN},
    )


@dataclass(frozen=True)
class _Observed:
    """What an agent needs to know of an environment."""

    observation_space: Space
    num_actions: int


def _observed(about: dict[str, Any], path: Path, env: Any) -> tuple[Space, int, AgentConfig | None]:
    """What the agent observes, how many actions it has, and its configuration if it is a value agent."""
    description = about["description"]
    if description is not None:
        is_value_agent = description.get("agent") == "value_agent"
        settings = AgentConfig.from_dict(description["config"]) if is_value_agent else None
        fields = dict(about["space"])
        space = _SPACES[fields.pop("kind")](**{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
        return space, operator.index(about["num_actions"]), settings
    if env is None:  # a file from before space and actions were saved
        ids.refuse_import(
            about["env"], str(path), f"if you trust it, pass it explicitly: env={about['env']!r} or --env"
        )
        env = about["env"]
    environment = make_env(env) if isinstance(env, str) else env
    try:
        settings = resolve_config(AgentConfig.from_dict(about["config"]), environment)
        return environment.observation_space, environment.num_actions, settings
    finally:
        if isinstance(env, str) and isinstance(environment, HostEnvironment):
            environment.close()


def _read(path: Path) -> tuple[dict[str, Any], ArrayFile]:
    try:
        file = ArrayFile.open(path, links=True)
        known = {name: file.about[name] for name in (*_RUN, "config")}
        later = {name: file.about.get(name) for name in ("description", "space", "num_actions")}
        return known | later, file
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}", "pass a file written by run --save") from None
    except (ValueError, KeyError):
        raise _not_a_saved_agent(path) from None


def _not_a_saved_agent(path: Path) -> UserError:
    return UserError(f"{path} is not a saved agent", "pass a file written by run --save or save_agent")


def _filled(shapes: Any, file: ArrayFile, exact: bool) -> Any:
    """The state with the file's arrays in their places, each checked for its dtype and, if ``exact``, its shape.

    The state of a custom agent may depend on how many steps its run was to make.
    """

    def comparable(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
        return shape if exact else len(shape), dtype

    expected = {name: comparable(*leaf) for name, leaf in array_files.layout(shapes).items()}
    names = {name: name for name in file.headers}
    if not expected.keys() <= names.keys():
        names = {name: _renamed(name) for name in names}
    found = {names[name]: comparable(header.shape, header.dtype) for name, header in file.headers.items()}
    if expected != found:
        raise UserError(
            f"{file.path} does not match this version or this environment",
            "use the version, agent and network that it was saved with, or train again",
        )
    try:
        arrays = file.load()
    except (OSError, ValueError):
        raise UserError(f"{file.path} is damaged", "restore it from a copy, or train again") from None
    return array_files.filled(shapes, {names[name]: array for name, array in arrays.items()})


def _renamed(name: str) -> str:
    for old, new in _OLD_NAMES.items():
        if name == old or name.startswith((f"{old}.", f"{old}[")):
            return new + name.removeprefix(old)
    return name
