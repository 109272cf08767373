"""Langevin DQN: deep exploration by noise in the parameter updates.

The names below load on first use, so that importing the package, or asking the command
line for help, stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langevin_dqn.agent import Agent, AgentState, make_agent
    from langevin_dqn.checkpoint import SavedAgent, load_agent, save_agent
    from langevin_dqn.config import AgentConfig
    from langevin_dqn.environments import make_env
    from langevin_dqn.errors import UserError
    from langevin_dqn.evaluation import Trained, evaluate
    from langevin_dqn.insight.posterior import langevin_monte_carlo, sample_posterior
    from langevin_dqn.optimizers import langevin_adam, langevin_sgd, polynomial_decay
    from langevin_dqn.presets import preset
    from langevin_dqn.runs.result import Result
    from langevin_dqn.runs.store import load_results
    from langevin_dqn.training import train

__version__ = "0.1.0"

_HOME = {
    "Agent": "agent",
    "AgentState": "agent",
    "make_agent": "agent",
    "AgentConfig": "config",
    "SavedAgent": "checkpoint",
    "load_agent": "checkpoint",
    "save_agent": "checkpoint",
    "make_env": "environments",
    "UserError": "errors",
    "Trained": "evaluation",
    "evaluate": "evaluation",
    "langevin_adam": "optimizers",
    "langevin_monte_carlo": "insight.posterior",
    "langevin_sgd": "optimizers",
    "load_results": "runs.store",
    "polynomial_decay": "optimizers",
    "preset": "presets",
    "Result": "runs.result",
    "sample_posterior": "insight.posterior",
    "train": "training",
}

__all__ = [
    "Agent",
    "AgentConfig",
    "AgentState",
    "Result",
    "SavedAgent",
    "Trained",
    "UserError",
    "evaluate",
    "langevin_adam",
    "langevin_monte_carlo",
    "langevin_sgd",
    "load_agent",
    "load_results",
    "make_agent",
    "make_env",
    "polynomial_decay",
    "preset",
    "sample_posterior",
    "save_agent",
    "train",
]


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'langevin_dqn' has no attribute {name!r}")
    return getattr(import_module(f"langevin_dqn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
