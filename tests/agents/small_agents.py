"""Small value agents with memories made for them, and their update worked out in NumPy."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn import make_agent, preset, prng
from langevin_dqn.agents import Step
from langevin_dqn.environments import ArraySpace, IndexSpace

SPACE = IndexSpace(3)
PICTURES = ArraySpace((2, 3))
MOST = 2000  # transitions a test may store

#: Compiling, not running, is what takes time here.
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def key(seed):
    """Keys as training makes them."""
    return jax.random.key(seed, impl=prng.PRNG)


def keys(seed, count):
    return jax.random.split(key(seed), count)


def small(agent, reading="paper", **changes):
    """An agent with a small network, so that every parameter can be checked."""
    return make_agent(preset(agent, reading, **{"hidden": (5, 4), "batch_size": 8} | changes))


@partial(quick_jit, static_argnums=(2, 3))
def _begin(agent, key, space, actions):
    return agent.init(key, space, actions, MOST)


def begin(agent, seed=0, space=SPACE, actions=2):
    return _begin(agent, key(seed), space, actions)


def fill(agent, state, seed, transitions):
    """The state with these transitions, (obs, action, reward, next_obs, terminated), added in order."""
    count = len(transitions[1])
    padded = [np.pad(x, [(0, MOST - count)] + [(0, 0)] * (x.ndim - 1)) for x in transitions]
    return _fill(agent, state, key(seed), padded, count)


@quick_jit
def _fill(agent, state, key, transitions, count):
    def add(number, state):
        obs, action, reward, next_obs, terminated = (x[number] for x in transitions)
        step = Step(obs, action, reward, next_obs, terminated, jnp.bool_(False))
        return agent.observe(jax.random.fold_in(key, number), state, step)

    return jax.lax.fori_loop(0, count, add, state)


def repeated(obs, action, reward, next_obs, terminated, times):
    """One transition ``times`` over: every minibatch is then the same."""
    one = (obs, action, reward, next_obs, terminated)
    kinds = (None, np.int32, np.float32, None, np.bool_)
    return tuple(np.stack([np.asarray(x, kind)] * times) for x, kind in zip(one, kinds, strict=True))


def two_transitions():
    """One that goes on and one that ends; the ends' next observation is not zero."""
    rng = np.random.default_rng(0)
    obs, after = rng.normal(size=(2, 2, 2, 3)).astype(np.float32)
    return obs, np.array([0, 2], np.int32), np.array([0.7, -1.3], np.float32), after, np.array([False, True])


@quick_jit
def update(agent, key, state):
    """The state after one update."""
    return state._replace(learner=agent.learner.learn(key, state.learner, state.replay, 1))


@quick_jit
def update_often(agent, keys, state):
    """The parameters after one update, for each key."""
    return jax.vmap(lambda key: agent.learner.learn(key, state.learner, state.replay, 1).params)(keys)


def same_bits(left, right):
    return all(np.array_equal(a, b) for a, b in zip(jax.tree.leaves(left), jax.tree.leaves(right), strict=True))


def with_learner(state, **parts):
    """The state with parameters, target or optimizer replaced."""
    return state._replace(learner=state.learner._replace(**parts))


def shifted(rng, tree):
    """Random biases keep units alive, and off the kink of ReLU, where a difference quotient is no guide."""
    return jax.tree.map(lambda x: x + rng.normal(0, 0.3, x.shape).astype(np.float32), tree)


# alg2 and alg4 in NumPy and float64


def network(params, x, slope):
    """The MLP, one observation."""
    rows, (bias, layers) = params
    h = x.ravel() @ rows + bias
    for w, b in layers:
        h = np.where(h >= 0, h, slope * h) @ w + b
    return h


def member_of(tree, m):
    return jax.tree.map(lambda x: np.asarray(x[m], np.float64), tree)


def flat_of(tree):
    return np.concatenate([np.asarray(x, np.float64).ravel() for x in jax.tree.leaves(tree)])


def slopes(loss, params):
    """Central differences of ``loss`` in every parameter, flat."""
    leaves, treedef = jax.tree.flatten(params)
    flat = np.concatenate([x.ravel() for x in leaves])

    def rebuild(vector):
        parts = np.split(vector, np.cumsum([x.size for x in leaves])[:-1])
        return jax.tree.unflatten(treedef, [p.reshape(x.shape) for p, x in zip(parts, leaves, strict=True)])

    step = 1e-6 * np.eye(flat.size)
    return np.array([(loss(rebuild(flat + e)) - loss(rebuild(flat - e))) / 2e-6 for e in step])


def first_step(gradient, config):
    """alg4's first step without noise."""
    alpha = config.learning_rate * np.sqrt(1 - config.adam_b2) / (1 - config.adam_b1)
    m, v = (1 - config.adam_b1) * gradient, (1 - config.adam_b2) * gradient**2
    return -alpha * m / (np.sqrt(v) + config.adam_eps)


def td_slopes(transition, theta, target, prior, config, target_prior=None, target_noise=0.0):
    """Gradient of the squared TD error of one transition; the paper's appendix has no ½."""
    obs, action, reward, next_obs, terminated = transition
    slope, scale = config.negative_slope, config.prior_scale
    own_prior = scale * network(prior, obs, slope) if scale else 0
    next_prior = scale * network(prior if target_prior is None else target_prior, next_obs, slope) if scale else 0
    bootstrap = 0.0 if terminated else config.discount * (network(target, next_obs, slope) + next_prior).max()
    goal = reward + target_noise + bootstrap

    def loss(params):
        return config.loss_scale * (goal - (network(params, obs, slope) + own_prior)[action]) ** 2

    return slopes(loss, theta)


def nearest(candidates, moved):
    """For each update, its nearest candidate and the distance to it."""
    distance = np.abs(moved[:, None] - candidates[None]).max(axis=2)
    return distance.argmin(axis=1), distance.min(axis=1)
