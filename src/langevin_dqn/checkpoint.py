"""A trained agent as one file: NumPy's .npz, the state's arrays by name and a line of JSON about them.

Nothing is pickled, so a file from elsewhere can do no harm, and NumPy alone can read it.
"""

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import __version__
from langevin_dqn.agent import AgentState, make_agent
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments import Environment, HostEnvironment, make_env
from langevin_dqn.environments.base import Space
from langevin_dqn.errors import UserError
from langevin_dqn.evaluation import Trained
from langevin_dqn.runs.result import Result
from langevin_dqn.training import ALGORITHM_VERSION, settled

_ABOUT = "about"
_TOLD = ("agent", "preset", "env", "seed", "episodes")


@dataclass(frozen=True)
class SavedAgent:
    """What a file holds.

    Attributes:
        trained: the agent and the state it had learned.
        agent: its preset's name, or ``custom``.
        preset: the reading of the paper.
        env: id of the environment it was trained on.
        seed: the run's seed.
        episodes: how many it was trained for.
        config: its configuration.
        space: what it observes.
        num_actions: how many actions it chooses from.
    """

    trained: Trained
    agent: str
    preset: str
    env: str
    seed: int
    episodes: int
    config: AgentConfig
    space: Space
    num_actions: int

    def check_fits(self, environment: Environment | HostEnvironment, name: str) -> None:
        """Refuse an environment that shows or asks for something else than the one it was trained on."""
        if (environment.observation_space, environment.num_actions) != (self.space, self.num_actions):
            raise UserError(
                f"an agent of {self.env} cannot act in {name}: observations or actions differ",
                "choose an environment of the same size",
            )


def save_agent(result: Result, path: str | Path) -> Path:
    """Write the agent that ``train(..., keep_agent=True)`` left in ``result`` to a .npz file.

    Example:
        >>> import langevin_dqn, tempfile
        >>> result = langevin_dqn.train("dqn", "probe_action", episodes=200, epsilon=0.5, keep_agent=True)
        >>> file = langevin_dqn.save_agent(result, tempfile.mkdtemp() + "/agent.npz")
        >>> saved = langevin_dqn.load_agent(file)
        >>> langevin_dqn.evaluate(saved.trained, saved.env, episodes=3).tolist()
        [1.0, 1.0, 1.0]
    """
    path = Path(path)
    if result.trained is None:
        raise UserError("the run kept no agent", "train with keep_agent=True")
    if path.suffix != ".npz":
        raise UserError(f"{path} does not end in .npz", "name a .npz file")
    told = {name: getattr(result, name) for name in _TOLD}
    about = told | {
        "config": result.to_dict()["config"],
        "package": __version__,
        "algorithm_version": ALGORITHM_VERSION,
    }
    arrays: dict[str, Any] = {name: np.asarray(leaf) for name, leaf in _leaves(result.trained.state).items()}
    arrays[_ABOUT] = np.array(json.dumps(about))
    unfinished = path.with_name(f".{path.name}.tmp")  # so that what was there stays until all is written
    try:
        with unfinished.open("wb") as file:
            np.savez_compressed(file, **arrays)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UserError(f"cannot write {path}: {error.strerror or error}", "name another file") from None
    return path


def load_agent(path: str | Path, env: Environment | HostEnvironment | None = None) -> SavedAgent:
    """Read an agent that :func:`save_agent` wrote.

    Args:
        path: the file.
        env: the environment it was trained on, where that was an object of your own and not an id.
    """
    about, arrays = _read(Path(path))
    config = AgentConfig().replace(**about["config"] | {"hidden": tuple(about["config"]["hidden"])})
    environment = make_env(about["env"]) if env is None else env
    try:
        space, num_actions = environment.observation_space, environment.num_actions
        agent = make_agent(settled(config, environment), space=space)
    finally:
        if env is None and isinstance(environment, HostEnvironment):
            environment.close()
    shapes = jax.eval_shape(lambda key: agent.init(key, space, num_actions), jax.random.key(0))
    return SavedAgent(
        Trained(agent, _filled(shapes, arrays, Path(path))),
        config=config,
        space=space,
        num_actions=num_actions,
        **{name: about[name] for name in _TOLD},
    )


def _leaves(state: Any) -> dict[str, Any]:
    return {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(state)}


def _read(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(str(arrays.pop(_ABOUT)))
        return {name: about[name] for name in (*_TOLD, "config")}, arrays
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}", "name a file that --save wrote") from None
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        raise UserError(f"{path} is not a saved agent", "name a file that --save or save_agent wrote") from None


def _filled(shapes: AgentState, arrays: dict[str, np.ndarray], path: Path) -> AgentState:
    """The state with the file's arrays in their places, each checked for its shape."""
    expected = {name: (leaf.shape, leaf.dtype) for name, leaf in _leaves(shapes).items()}
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    if expected != found:
        raise UserError(
            f"{path} does not fit this version or this environment",
            "load it with what it was saved with, or train again",
        )
    return jax.tree_util.tree_map_with_path(lambda place, _: jnp.asarray(arrays[jax.tree_util.keystr(place)]), shapes)
