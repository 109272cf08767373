r"""The additive prior: random networks beside the one that learns, which no gradient reaches.

Three kinds, from the same parts:

- **scaled** (``prior_scale``, the paper): one network per member, its values multiplied by a number. How large they are
  then depends on the observations: for a one-hot vector of $N^2$ states they fall as $1/N$.
- **standardised** (``prior_std``): the values are measured at initialisation and divided by their standard deviation
  over states and actions, so that optimism is in units of return, whatever is observed.
- **moving** (``prior_std`` with ``prior_lifetime``): $p_l(s, a) = \sum_k c_{l,k}\, g_k(s, a)$ with
  $K$ standardised networks and coefficients on the unit sphere. Before an episode they turn, by as much as
  belongs to the $n$ steps of the one before,

  $$
  c_{l+1} \propto e^{-n/T} c_l + \sqrt{1 - e^{-2n/T}}\, z / \sqrt{K}, \qquad z \sim N(0, I),
  $$

  which is an Ornstein-Uhlenbeck walk of time constant $T$ steps, kept at its stationary length. Values of the
  $K$ networks are stored with a transition, so that no update evaluates one.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from langevin_dqn.environments.base import IndexSpace, Space
from langevin_dqn.networks import Network
from langevin_dqn.networks.base import member_values


class Prior(NamedTuple):
    """A standardised prior; arrays lead with (members, networks).

    Attributes:
        params: the networks' parameters.
        inverse_std: what their values are multiplied by.
        mixture: how much of each network is in the prior of this episode.
        steps: made in all.
        moved_at: of those, how many before the prior moved last.
    """

    params: Any
    inverse_std: jax.Array
    mixture: jax.Array
    steps: jax.Array
    moved_at: jax.Array


def init(key: jax.Array, network: Network, space: Space, num_actions: int, members: int, networks: int) -> Prior:
    """Random networks, with the first one as the prior; standardised at once where the states are an index."""
    param_key, mixture_key = jax.random.split(key)
    draw = jax.vmap(jax.vmap(lambda key: network.init(key, space, num_actions)))
    params = draw(jax.random.split(param_key, (members, networks)))
    direction = jax.random.normal(mixture_key, (members, networks))
    mixture = _unit(direction) if networks > 1 else jnp.ones((members, 1))
    prior = Prior(params, jnp.ones((members, networks)), mixture, steps=jnp.int32(0), moved_at=jnp.int32(0))
    return standardised(network, prior, jnp.arange(space.n)) if isinstance(space, IndexSpace) else prior


def standardised(network: Network, prior: Prior, observations: jax.Array) -> Prior:
    """The prior with a standard deviation of 1 over these observations and all actions, in each of its networks."""

    def std(params: Any) -> jax.Array:
        return jax.vmap(network.apply, (None, 0))(params, observations).std()

    found = jax.lax.map(lambda params: jax.vmap(std)(params), prior.params)
    return prior._replace(inverse_std=1 / jnp.where(found > 0, found, 1.0))


def moved(key: jax.Array, prior: Prior, lifetime: jax.Array, growth: jax.Array) -> Prior:
    """The prior after the steps since it moved last, with a lifetime of at least ``growth`` times all steps."""
    turn = jax.random.normal(key, prior.mixture.shape) / jnp.sqrt(prior.mixture.shape[1])
    lifetime = jnp.maximum(jnp.maximum(lifetime, growth * prior.steps), 1e-6)  # a traced one may be 0
    kept = jnp.exp(-(prior.steps - prior.moved_at) / lifetime)
    mixture = _unit(kept * prior.mixture + jnp.sqrt(1 - kept**2) * turn)
    return prior._replace(mixture=mixture, moved_at=prior.steps)


def values(network: Network, prior: Any, numbers: Mapping[str, Any], member: jax.Array, obs: jax.Array) -> jax.Array:
    """What the prior adds to one member's values of an observation: (actions,).

    Args:
        network: the networks' kind.
        prior: a ``Prior``, or the parameters of one that is scaled.
        numbers: the agent's, ``prior_std`` or ``prior_scale`` among them.
        member: which member.
        obs: the observation.
    """
    if not isinstance(prior, Prior):
        return numbers["prior_scale"] * member_values(network, prior, member, obs)
    networks = prior.mixture.shape[1]
    flat = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), prior.params)
    parts = jax.vmap(lambda k: member_values(network, flat, member * networks + k, obs))(jnp.arange(networks))
    return numbers["prior_std"] * ((prior.mixture[member] * prior.inverse_std[member]) @ parts)


def stored_values(network: Network, prior: Any, numbers: Mapping[str, Any], obs: jax.Array) -> jax.Array:
    """What is stored of the prior with a transition, for every member: (members, actions).

    Of a moving one, the standardised values of its networks: (members, networks, actions).
    """
    if not isinstance(prior, Prior):
        return numbers["prior_scale"] * jax.vmap(network.apply, (0, None))(prior, obs)
    parts = jax.vmap(jax.vmap(network.apply, (0, None)), (0, None))(prior.params, obs) * prior.inverse_std[:, :, None]
    return parts if numbers["prior_lifetime"] is not None else numbers["prior_std"] * parts[:, 0]


def _unit(vectors: jax.Array) -> jax.Array:
    return vectors / jnp.linalg.norm(vectors, axis=-1, keepdims=True)
