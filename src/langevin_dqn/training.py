"""Training: one jitted program per chunk of episodes, and a host that only looks on."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from langevin_dqn import metrics
from langevin_dqn.agent import Agent, AgentState, make_agent
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments import Environment, make_env
from langevin_dqn.errors import UserError
from langevin_dqn.optimizers import noise
from langevin_dqn.presets import preset as preset_config
from langevin_dqn.replay import Replay

#: Changes whenever the same configuration and seed would give other returns.
ALGORITHM_VERSION = 2

#: Seconds of work to aim for between two looks of the host.
_CHUNK_SECONDS = 0.5
_FIRST_CHUNK = 5


class Schedule(NamedTuple):
    """When updates happen, traced."""

    updates_per_step: jax.Array
    min_replay_size: jax.Array


class Carry(NamedTuple):
    """What goes from one episode to the next."""

    state: AgentState
    replay: Replay
    returns: jax.Array
    lengths: jax.Array
    measures: dict[str, jax.Array]
    steps: jax.Array  # of the last episode
    regret: jax.Array
    finite: jax.Array


@dataclass(frozen=True)
class Result:
    """What one seed did. ``returns``, ``lengths`` and each of ``measures`` have one entry per episode run."""

    agent: str
    env: str
    seed: int
    preset: str
    config: AgentConfig
    max_return: float | None
    returns: np.ndarray
    updates: int
    seconds: float
    lengths: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    measures: dict[str, np.ndarray] = field(default_factory=dict)
    """What each episode added to the columns bsuite logs for the environment."""
    diverged: str | None = None
    """Why the run stopped early with parameters that are not finite, or None. What it had learned before stands."""

    @property
    def episodes(self) -> int:
        return len(self.returns)

    @property
    def learning_time(self) -> int | None:
        """The paper's learning time; None if not learned, or where there is no best return."""
        return None if self.max_return is None else metrics.learning_time(self.returns, self.max_return)

    @property
    def solved(self) -> bool:
        return self.learning_time is not None

    @property
    def first_success(self) -> int | None:
        return None if self.max_return is None else metrics.first_success(self.returns, self.max_return)

    @property
    def success_share(self) -> float | None:
        """Share of successes in the last 100 episodes."""
        return None if self.max_return is None else metrics.success_share(self.returns, self.max_return)

    @property
    def regret(self) -> float | None:
        if self.max_return is None or not self.episodes:
            return None
        return float(metrics.regret(self.returns, self.max_return)[-1])

    @property
    def total_return(self) -> float:
        return float(np.sum(self.returns, dtype=np.float64))

    def to_dict(self) -> dict[str, Any]:
        """The object that ``langevin-dqn run --json`` prints."""
        return {
            "agent": self.agent,
            "env": self.env,
            "seed": self.seed,
            "preset": self.preset,
            "episodes": self.episodes,
            "solved": self.solved,
            "diverged": self.diverged,
            "learning_time": self.learning_time,
            "first_success": self.first_success,
            "success_share": self.success_share,
            "total_return": self.total_return,
            "regret": self.regret,
            "updates": self.updates,
            "seconds": round(self.seconds, 3),
            "config": self.config.to_dict(),
        }


Progress = Callable[[Result], None]


def train(
    agent: str | AgentConfig,
    env: str | Environment,
    *,
    seed: int = 0,
    episodes: int = 1000,
    preset: str = "paper",
    stop_when_solved: bool = False,
    progress: Progress | None = None,
    **changes: Any,
) -> Result:
    """Train one seed and return what it did; ``langevin-dqn run`` does the same.

    Args:
        agent: a preset's name, or a configuration.
        env: an environment or its id.
        seed: everything random follows from it; the same seed gives the same bits.
        episodes: how many to run.
        preset: the reading of the paper, where ``agent`` is a name.
        stop_when_solved: stop at the episode in which the run has learned.
        progress: called with the result so far after every chunk of episodes.
        **changes: fields of :class:`~langevin_dqn.AgentConfig` to change.

    Example:
        >>> import langevin_dqn
        >>> result = langevin_dqn.train("dqn", "probe_action", seed=0, episodes=50)
        >>> result.episodes
        50
    """
    name = agent if isinstance(agent, str) else "custom"
    config = preset_config(agent, preset, **changes) if isinstance(agent, str) else agent.replace(**changes)
    environment = make_env(env) if isinstance(env, str) else env
    if episodes < 1:
        raise UserError(f"episodes={episodes} leaves nothing to run", "use at least 1 episode")

    built = make_agent(_for_environment(config, environment), space=environment.observation_space)
    schedule = Schedule(jnp.int32(config.updates_per_step), jnp.int32(max(config.min_replay_size, 1)))
    key = jax.random.key(seed, impl=noise.PRNG)
    max_return = environment.max_return
    started = time.perf_counter()
    carry = _begin(built, environment, key, episodes)

    def result(carry: Carry, done: int, diverged: str | None = None) -> Result:
        return Result(
            agent=name,
            env=env if isinstance(env, str) else type(env).__name__,
            seed=seed,
            preset=preset if isinstance(agent, str) else "custom",
            config=config,
            max_return=max_return,
            returns=np.array(carry.returns)[:done],  # cut here: JAX would compile a program for every length
            updates=int(carry.state.updates),
            seconds=time.perf_counter() - started,
            lengths=np.array(carry.lengths)[:done],
            measures={name: np.array(values)[:done] for name, values in carry.measures.items()},
            diverged=diverged,
        )

    done, chunk = 0, _FIRST_CHUNK
    while True:
        before = time.perf_counter()
        upto = min(done + chunk, episodes)
        carry = _run_chunk(
            built,
            environment,
            schedule,
            key,
            carry,
            jnp.int32(upto),
            jnp.float32(-jnp.inf if max_return is None or not stop_when_solved else metrics.LEARNED_SHARE),
            config.update_timing == "within",
        )
        ran, done = int(carry.state.episode) - done, int(carry.state.episode)
        current = result(carry, done, None if bool(carry.finite) else _cause(config, carry, done))
        if progress is not None:
            progress(current)
        if current.diverged or done >= episodes or (stop_when_solved and current.solved):
            return current
        rate = ran / max(time.perf_counter() - before, 1e-6)
        chunk = int(np.clip(rate * _CHUNK_SECONDS, 1, 4 * chunk))


def _for_environment(config: AgentConfig, environment: Environment) -> AgentConfig:
    """Settle what depends on the environment: σ_w² per unit of depth."""
    if not config.noise_per_depth:
        return config
    depth = getattr(environment, "depth", None)
    if depth is None:
        raise UserError("noise_per_depth needs an environment with a depth", "use it with deep_sea, or set it to false")
    return config.replace(noise_variance=config.noise_variance * depth)


def _cause(config: AgentConfig, carry: Carry, episode: int) -> str:
    """Say where the parameters stopped being finite, and the likeliest reason."""
    update = int(carry.state.nonfinite_update) or int(carry.state.updates)
    if config.noise_variance > 0 and config.adam_eps < 1e-12:
        why = "adam_eps is so small that weights without gradient take unbounded noise"
    elif config.learning_rate > 0.1:
        why = "the learning rate is large"
    elif config.noise_variance > 0.1:
        why = "the noise variance is large"
    else:
        why = "the values or rewards grew without bound; try a smaller learning rate or a discount below 1"
    return f"parameters are not finite since episode {episode}, update {update}: {why}"


@partial(jax.jit, static_argnums=3)
def _begin(agent: Agent, environment: Environment, key: jax.Array, episodes: int) -> Carry:
    space, actions = environment.observation_space, environment.num_actions
    measures = jax.eval_shape(lambda: environment.measure(environment.reset(key)[0]))
    return Carry(
        state=agent.init(jax.random.fold_in(key, 0), space, actions),
        replay=agent.init_replay(space, actions, capacity=episodes * environment.max_steps),
        returns=jnp.zeros(episodes),
        lengths=jnp.zeros(episodes, jnp.int32),
        measures={name: jnp.zeros(episodes) for name in measures},
        steps=jnp.int32(0),
        regret=jnp.float32(0),
        finite=jnp.bool_(True),
    )


@partial(jax.jit, static_argnums=7, donate_argnums=4)
def _run_chunk(
    agent: Agent,
    environment: Environment,
    schedule: Schedule,
    key: jax.Array,
    carry: Carry,
    upto: jax.Array,
    share: jax.Array,
    within: bool,
) -> Carry:
    """Run episodes until ``upto`` are done, the run has learned, or it has diverged."""
    best = 0.0 if environment.max_return is None else environment.max_return

    def episode(carry: Carry) -> Carry:
        number = carry.state.episode + 1
        learn_key, begin_key, reset_key, steps_key = jax.random.split(jax.random.fold_in(key, number), 4)
        state = carry.state
        if not within:
            state = _learn(agent, schedule, learn_key, state, carry.replay, carry.steps)
        state = agent.begin_episode(begin_key, state)
        state, replay, env_state, total, steps = _rollout(
            agent, environment, schedule, reset_key, steps_key, state, carry.replay, within
        )
        leaves = jax.tree.leaves(state.params)
        finite = jnp.stack([jnp.isfinite(leaf).all() for leaf in leaves]).all()
        return Carry(
            state=state,
            replay=replay,
            returns=carry.returns.at[number - 1].set(total),
            lengths=carry.lengths.at[number - 1].set(steps),
            measures={
                name: carry.measures[name].at[number - 1].set(value)
                for name, value in environment.measure(env_state).items()
            },
            steps=steps,
            regret=carry.regret + (best - total),
            finite=finite & (state.nonfinite_update == 0),
        )

    start = carry.state.episode

    def going(carry: Carry) -> jax.Array:
        done = carry.state.episode
        # A host that came back has decided to go on, so the first episode always runs.
        learned = (carry.regret < share * done) & (done > start)
        return (done < upto) & ~learned & carry.finite

    return lax.while_loop(going, episode, carry)


def _learn(agent: Agent, schedule: Schedule, key, state: AgentState, replay: Replay, steps) -> AgentState:
    """U updates for each of ``steps`` environment steps, once every buffer has enough data."""
    ready = replay.size.min() >= schedule.min_replay_size
    count = jnp.where(ready, schedule.updates_per_step * steps, 0)
    return agent.learn_many(key, state, replay, count)


def _rollout(agent: Agent, environment: Environment, schedule, reset_key, key, state, replay, within: bool):
    """One episode of alg3, lines 10-19: ``(state, replay, env_state, return, steps)``."""
    env_state, obs = environment.reset(reset_key)

    def step(loop):
        state, replay, env_state, obs, total, steps, _ = loop
        attend_key, act_key, env_key, store_key, learn_key = jax.random.split(jax.random.fold_in(key, steps), 5)
        state = agent.attend(attend_key, state, obs)
        action = agent.act(act_key, state, obs)
        env_state, next_obs, reward, terminated, truncated = environment.step(env_key, env_state, action)
        replay = agent.observe(store_key, state, replay, obs, action, reward, next_obs, terminated)
        if within:
            state = _learn(agent, schedule, learn_key, state, replay, 1)
        return state, replay, env_state, next_obs, total + reward, steps + 1, terminated | truncated

    loop = (state, replay, env_state, obs, jnp.float32(0), jnp.int32(0), jnp.bool_(False))
    state, replay, env_state, _, total, steps, _ = lax.while_loop(lambda loop: ~loop[-1], step, loop)
    return state, replay, env_state, total, steps
