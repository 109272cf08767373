"""What people watch of a value agent, computed between chunks of episodes and never inside an update."""

from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn.agents.update import Problem

#: Observations of a minibatch at which the values of all members are read.
_OBSERVATIONS = 32


def metrics(agent: Any, problem: Problem, key: jax.Array, state: Any) -> dict[str, jax.Array]:
    """Numbers about a minibatch that is drawn with ``key``, averaged over members; the state stays as it is.

    Errors and values are in units of reward. The loss is what is minimised, on rewards divided by the scale of values.
    Lazy rows are taken at their mean.
    """
    batch_key, index_key = jax.random.split(key)
    batch, num_data = problem.minibatches(batch_key, state.replay)
    look = agent.choice.build(problem).look_at(index_key, state.learner, batch, num_data)
    counts = jnp.broadcast_to(batch.extras.get("mask", jnp.ones(())), look.error.shape)
    error = (jnp.abs(look.error) * counts).sum() / jnp.maximum(counts.sum(), 1)
    scale = 1.0 if problem.reward_scale is None else problem.reward_scale
    q = jax.vmap(lambda obs: agent.ensemble_values(state, obs))(batch.obs[0, :_OBSERVATIONS])
    return {
        "loss": look.loss.mean(),
        "td_error": error * scale,
        "gradient_norm": look.gradient_norm.mean(),
        "q_mean": q.mean(),
        "q_spread": q.std(1).mean(),
        "epsilon": agent.epsilon(state.episode),
        "replay_size": state.replay.size.mean(),
    }


def explain_divergence(settings: Any, state: Any) -> str:
    """Where the parameters stopped being finite, and the likeliest reason."""
    counter = state.learner.counter
    update = int(counter.nonfinite_update) or int(counter.updates)
    if settings.noise_variance > 0 and settings.adam_eps < 1e-12:
        why = "adam_eps is so small that weights without gradient take unbounded noise; use adam_eps=1e-6"
    elif settings.learning_rate > 0.1:
        why = "the learning rate is large; try a smaller learning_rate"
    elif settings.noise_variance > 0.1:
        why = "the noise variance is large; try a smaller noise_variance"
    else:
        why = "the values or rewards grew without bound; try a smaller learning rate or a discount below 1"
    return f"parameters are not finite from episode {int(state.episode)}, update {update}: {why}"
