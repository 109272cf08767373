"""Agents: the protocol, the value agent that serves the paper's four, and how they are found by name."""

from langevin_dqn.agents.base import Agent, BaseAgent, Step, greedy
from langevin_dqn.agents.making import make_agent
from langevin_dqn.agents.value_agent import ValueAgent, ValueState

__all__ = ["Agent", "BaseAgent", "Step", "ValueAgent", "ValueState", "greedy", "make_agent"]
