"""From a configuration to a value agent."""

import jax
import jax.numpy as jnp

from langevin_dqn import networks
from langevin_dqn.agents import released
from langevin_dqn.agents.learners import choose_learner
from langevin_dqn.agents.value_agent import ValueAgent
from langevin_dqn.config import FIELD_TYPES, SETTINGS, AgentConfig
from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.errors import UserError
from langevin_dqn.networks import Network
from langevin_dqn.networks.base import has_index

#: Random steps to look at before training, where something has to be measured.
RANDOM_STEPS = 1000


def make_agent(config: AgentConfig, network: Network | None = None, space: Space | None = None) -> ValueAgent:
    """A value agent for a configuration.

    Args:
        config: its settings.
        network: the value network; by default the one that ``network_for`` chooses.
        space: the observation space; needed to recognise images and to choose lazy rows.
    """
    network = network or networks.network_for(space, config.hidden, config.negative_slope)
    numbers = {name: _number(config, name) for name, setting in SETTINGS.items() if setting.traced}
    if not (config.epsilon > 0 or (config.epsilon_decay_episodes > 0 and config.epsilon_final > 0)):
        numbers["epsilon"] = None
    numbers["min_replay_size"] = jnp.int32(max(config.min_replay_size, 1))
    if config.mean_over_members:
        numbers["loss_scale"] = jnp.float32(config.loss_scale / config.members)
    if released.prior_moves(config):
        network, numbers["prior_scale"] = released.MovingPrior(network, config.prior_scale), None
    if config.recent_fraction == 0:
        numbers["recent_window"] = None
    for name in ("prior_scale", "prior_std"):
        if numbers[name] is not None and has_index(network):
            raise UserError(f"{name} needs a network without an index", f"set {name}=0, or add a prior in apply")
    defaults = AgentConfig()
    untraced = config.replace(**{name: getattr(defaults, name) for name in numbers})
    measures = config.value_scaling == "warmup" or (config.prior_std > 0 and not isinstance(space, IndexSpace))
    choice = choose_learner(config, network, space)
    return ValueAgent(numbers, untraced, network, choice, config, RANDOM_STEPS if measures else 0)


def _number(config: AgentConfig, name: str) -> jax.Array | None:
    value, absent = getattr(config, name), SETTINGS[name].absent
    if absent is not None and value == absent:
        return None
    return (jnp.int32 if FIELD_TYPES[name] is int else jnp.float32)(value)
