"""Langevin DQN: deep exploration by noise in the parameter updates.

The names below load on first use, so that importing the package, or asking the command
line for help, stays cheap.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langevin_dqn.agents import Agent, BaseAgent, ValueAgent, ValueState, make_agent
    from langevin_dqn.agents.registry import register_agent
    from langevin_dqn.comparison.running import sweep
    from langevin_dqn.config import AgentConfig
    from langevin_dqn.environments import make_env, register_env
    from langevin_dqn.errors import UserError
    from langevin_dqn.insight.posterior import langevin_monte_carlo, sample_posterior
    from langevin_dqn.keys import run_key
    from langevin_dqn.loops.evaluation import TrainedAgent, evaluate
    from langevin_dqn.optimizers import keyed, langevin_adam, langevin_sgd, polynomial_decay
    from langevin_dqn.paper.registry import register_figure
    from langevin_dqn.presets import preset
    from langevin_dqn.runs.metric_log import MetricLog
    from langevin_dqn.runs.result import Result
    from langevin_dqn.runs.store import load_results
    from langevin_dqn.saved_agent import SavedAgent, load_agent, save_agent
    from langevin_dqn.seeds import train_seeds
    from langevin_dqn.training import make_train, train

__version__ = "0.2.0"

_HOME = {
    "Agent": "agents",
    "AgentConfig": "config",
    "BaseAgent": "agents",
    "MetricLog": "runs.metric_log",
    "Result": "runs.result",
    "SavedAgent": "saved_agent",
    "TrainedAgent": "loops.evaluation",
    "UserError": "errors",
    "ValueAgent": "agents",
    "ValueState": "agents",
    "evaluate": "loops.evaluation",
    "keyed": "optimizers",
    "langevin_adam": "optimizers",
    "langevin_monte_carlo": "insight.posterior",
    "langevin_sgd": "optimizers",
    "load_agent": "saved_agent",
    "load_results": "runs.store",
    "make_agent": "agents",
    "make_env": "environments",
    "make_train": "training",
    "polynomial_decay": "optimizers",
    "preset": "presets",
    "register_agent": "agents.registry",
    "register_env": "environments",
    "register_figure": "paper.registry",
    "run_key": "keys",
    "sample_posterior": "insight.posterior",
    "save_agent": "saved_agent",
    "sweep": "comparison.running",
    "train": "training",
    "train_seeds": "seeds",
}

#: Names of version 0.1, and those of now.
_RENAMED = {"AgentState": "ValueState", "Trained": "TrainedAgent"}

__all__ = [
    "Agent",
    "AgentConfig",
    "BaseAgent",
    "MetricLog",
    "Result",
    "SavedAgent",
    "TrainedAgent",
    "UserError",
    "ValueAgent",
    "ValueState",
    "evaluate",
    "keyed",
    "langevin_adam",
    "langevin_monte_carlo",
    "langevin_sgd",
    "load_agent",
    "load_results",
    "make_agent",
    "make_env",
    "make_train",
    "polynomial_decay",
    "preset",
    "register_agent",
    "register_env",
    "register_figure",
    "run_key",
    "sample_posterior",
    "save_agent",
    "sweep",
    "train",
    "train_seeds",
]


def __getattr__(name: str):
    if name in _RENAMED:
        warnings.warn(f"langevin_dqn.{name} is now {_RENAMED[name]}", DeprecationWarning, stacklevel=2)
        name = _RENAMED[name]
    if name == "torch":  # a module, which loads PyTorch
        return import_module("langevin_dqn.torch")
    if name not in _HOME:
        raise AttributeError(f"module 'langevin_dqn' has no attribute {name!r}")
    return getattr(import_module(f"langevin_dqn.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
