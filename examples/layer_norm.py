"""Networks of your own, written with Equinox: perceptrons with layer norm, in two forms.

A network is a frozen dataclass with ``init`` and ``apply``, written for one observation. Its parameters are any
pytree of arrays, so an Equinox module can be the parameters itself. With Flax, ``init`` would return
``module.init(key, x)`` and ``apply`` would be ``module.apply(params, x)``.

* ``LayerNormMLP`` is the short form, for observations of any kind.
* ``LayerNormRows`` is for observations that are indices. Its parameters are a pair ``(rows, rest)``, where
  ``rows`` is the first layer, and ``head`` is the network behind it. With ``head`` a large table is updated lazily:
  only the rows that are read. The results have the same distribution as with dense updates.

From Python::

    langevin_dqn.train("dqn", "deep_sea:depth=4", network=LayerNormRows(), row_updates="lazy")

On the command line, in the folder above ``examples``; a saved agent is loaded with the same network::

    langevin-dqn run --agent dqn --env deep_sea:depth=4 --network python:examples.layer_norm:LayerNormMLP --save agents
    langevin-dqn evaluate agents --network python:examples.layer_norm:LayerNormMLP
"""

import math
import tempfile
from dataclasses import dataclass

import equinox as eqx
import jax

import langevin_dqn
from langevin_dqn.environments import IndexSpace
from langevin_dqn.networks import BaseNetwork


class Hidden(eqx.Module):
    """What follows the first layer: layer norm, ReLU and a linear layer. All its leaves are arrays."""

    norm: eqx.nn.LayerNorm
    last: eqx.nn.Linear

    def __init__(self, key, units, num_actions):
        self.norm = eqx.nn.LayerNorm(units)
        self.last = eqx.nn.Linear(units, num_actions, key=key)

    def __call__(self, x):
        return self.last(jax.nn.relu(self.norm(x)))


@dataclass(frozen=True)
class LayerNormMLP(BaseNetwork):
    """One hidden layer with layer norm."""

    units: int = 50

    def init(self, key, space, num_actions):
        first_key, rest_key = jax.random.split(key)
        fan_in = space.n if isinstance(space, IndexSpace) else math.prod(space.shape)
        return eqx.nn.Linear(fan_in, self.units, key=first_key), Hidden(rest_key, self.units, num_actions)

    def apply(self, params, obs, index=None):
        first, rest = params
        return rest(first(obs.ravel() if obs.ndim else jax.nn.one_hot(obs, first.in_features)))


@dataclass(frozen=True)
class LayerNormRows(BaseNetwork):
    """The same for index observations, with the first layer as a table of rows."""

    units: int = 50

    def init(self, key, space, num_actions):
        rows_key, rest_key = jax.random.split(key)
        rows = jax.random.normal(rows_key, (space.n, self.units))
        return rows, Hidden(rest_key, self.units, num_actions)

    def head(self, rest, row):
        return rest(row)

    def apply(self, params, obs, index=None):
        rows, rest = params
        return self.head(rest, rows[obs])


def main() -> None:
    """Train with both networks, save the agents, load them and evaluate them."""
    env = "deep_sea:depth=4"
    for network, settings in ((LayerNormMLP(), {}), (LayerNormRows(), {"row_updates": "lazy"})):
        result = langevin_dqn.train("dqn", env, network=network, episodes=300, epsilon=0.2, keep_agent=True, **settings)
        with tempfile.TemporaryDirectory() as folder:
            file = langevin_dqn.save_agent(result, f"{folder}/agent.npz")
            saved = langevin_dqn.load_agent(file, network=network)
        returns = langevin_dqn.evaluate(saved.trained, env, episodes=20)
        print(f"{type(network).__name__}: learning time {result.learning_time}, greedy return {returns.mean():.2f}")


if __name__ == "__main__":
    main()
