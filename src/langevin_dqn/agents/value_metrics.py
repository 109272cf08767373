"""What people watch of a value agent, computed between chunks of episodes and never inside an update."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from langevin_dqn.agents.replay import Layout, Replay
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


def nonfinite_step(layout: Layout, discipline: str, replay: Replay | None, steps: int) -> tuple[int, str] | None:
    """The first step in a replay that is not finite, and whether its reward or its observation is not.

    Where members have buffers of their own, or a full buffer gives up random transitions, places are no steps.
    """
    if replay is None or layout.separate or discipline == "random":
        return None
    size, cursor = int(replay.size[0]), int(replay.cursor[0])
    for what, values in (("reward", replay.data.reward), ("observation", replay.data.next_obs)):
        if jnp.issubdtype(values.dtype, jnp.floating):
            broken = ~np.isfinite(np.asarray(values[0])).reshape(replay.capacity, -1).all(1)
            ages = (cursor - 1 - np.flatnonzero(broken)) % replay.capacity
            ages = ages[ages < size]
            if ages.size:
                return steps - int(ages.max()), what
    return None


def explain_divergence(settings: Any, state: Any) -> str:
    """Where the parameters stopped being finite, and the likeliest reason."""
    counter = state.learner.counter
    update = int(counter.nonfinite_update) or int(counter.updates)
    leaves = [leaf for leaf in jax.tree.leaves(state.learner.optimizer) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    if int(counter.nonfinite_update) == 0 and any(bool(jnp.isinf(leaf).any()) for leaf in leaves):
        return (
            f"the moments of the optimizer overflowed by episode {int(state.episode)}, update {update}: "
            "gradients are too large; try a smaller loss_scale or a larger value_scale"
        )
    if settings.noise_variance > 0 and settings.adam_eps < 1e-12:
        why = "adam_eps is so small that weights without gradient take unbounded noise; use adam_eps=1e-6"
    elif settings.learning_rate > 0.1:
        why = "the learning rate is large; try a smaller learning_rate"
    elif settings.noise_variance > 0.1:
        why = "the noise variance is large; try a smaller noise_variance"
    else:
        why = "the values or rewards grew without bound; try a smaller learning rate or a discount below 1"
    return f"parameters are not finite from episode {int(state.episode)}, update {update}: {why}"
