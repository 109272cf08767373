"""Training: the right loop for the environment, and what it yields made into a result."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from langevin_dqn import machine, stopping
from langevin_dqn.agents.registry import resolve_agent
from langevin_dqn.environments import Environment, HostEnvironment, as_environment, id_of, is_made_here
from langevin_dqn.errors import MOST_SEED, EnvironmentFault, UserError, true_or_false, whole_number
from langevin_dqn.loops import compiled, memory, recording
from langevin_dqn.loops.evaluation import TrainedAgent
from langevin_dqn.loops.watching import Watch
from langevin_dqn.runs.checkpoint import Checkpoints
from langevin_dqn.runs.metric_log import METRICS_EVERY
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.resuming import find_checkpoints
from langevin_dqn.runs.saver import Saver
from langevin_dqn.runs.training_run import Limits, TrainingRun
from langevin_dqn.version import ALGORITHM_VERSION

__all__ = ["ALGORITHM_VERSION", "DEFAULT_EPISODES", "make_train", "train"]

DEFAULT_EPISODES = 1000

Progress = Callable[[Result], None]


def train(
    agent: Any,
    env: Any,
    *,
    seed: int = 0,
    episodes: int | None = None,
    steps: int | None = None,
    preset: str | None = None,
    network: Any = None,
    stop_when_solved: bool = False,
    stop_when: Callable[[TrainedAgent], bool] | None = None,
    check_every: int = 5000,
    keep_agent: bool = False,
    record: str | None = None,
    progress: Progress | None = None,
    checkpoint: str | Path | Checkpoints | None = None,
    checkpoint_every: float = 60.0,
    resume: str | Path | None = None,
    on_metrics: Callable[[dict[str, Any]], None] | None = None,
    metrics_every: int = METRICS_EVERY,
    **changes: Any,
) -> Result:
    """Train an agent with one seed and return the result; ``langevin-dqn run`` does the same.

    Args:
        agent: a preset's name, a configuration, any ``Agent``, or
            ``python:package.module:factory``.
        env: an environment or its id; a Gymnasium environment; or a function that makes one of these.
        seed: random seed; the same seed gives the same bits.
        episodes: how many to run; 1000 if neither this nor ``steps`` is given.
        steps: maximum number of environment steps. An episode that this limit cuts off is not in ``returns``.
        preset: ``recommended`` (the default), ``paper`` or ``released``, where ``agent`` is a preset's name.
        network: the value network, or ``python:package.module:factory``; by default the configuration's.
        stop_when_solved: stop at the episode in which the run has learned.
        stop_when: called between episodes with the agent as it is then; training stops if it returns true.
        check_every: environment steps between calls of ``stop_when``, each made at the next end of an episode.
        keep_agent: leave the trained agent in ``Result.trained``.
        record: ``"q"`` leaves maps of the uncertainty of Q in ``Result.record``, for an environment that is
            observed as an index; returns stay the same to the bit.
        progress: called with the result so far, about twice a second.
        checkpoint: folder for checkpoints. Ctrl-C and SIGTERM then save the run before they stop it.
        checkpoint_every: seconds between checkpoints; longer if writing them takes long.
        resume: folder of a run to resume, with the same arguments. The result is equal to that of an uninterrupted run,
            to the bit. ``episodes`` or ``steps`` may be larger than before.
        on_metrics: called with a dict of numbers to watch: return, loss, TD error and others; see
            ``docs/guide/resume_and_metrics.md``. Returns stay the same to the bit.
        metrics_every: environment steps between calls of ``on_metrics``, each made at the next end of an episode; there
            is one more at the end of the run.
        **changes: fields of ``AgentConfig`` to change, or arguments of the factory.

    Raises:
        UserError: for what cannot be run, before anything is.
        EnvironmentFault: where the environment raises, or returns what is not finite or of another shape than it says.
            The run is saved first if ``checkpoint`` asks for it, and what it had done is in ``result`` of the error.

    Examples:
        >>> import langevin_dqn
        >>> result = langevin_dqn.train("dqn", "probe_action", seed=0, episodes=50)
        >>> result.episodes
        50
    """
    counts = {"episodes": episodes, "steps": steps, "check_every": check_every, "metrics_every": metrics_every}
    for unit, count in counts.items():
        if count is not None:
            whole_number(unit, count, least=1)
    seed = whole_number("seed", seed, least=0, most=MOST_SEED)
    true_or_false("stop_when_solved", stop_when_solved)
    true_or_false("keep_agent", keep_agent)
    if episodes is None and steps is None:
        episodes = DEFAULT_EPISODES
    where, before = find_checkpoints(checkpoint, resume, checkpoint_every)
    machine.keep_programs()

    environment = as_environment(env)
    try:
        found = resolve_agent(
            agent, environment, preset=preset, network=network, changes=changes, env=id_of(env, environment)
        )
        if stop_when_solved and getattr(environment, "learned_regret", None) is None:
            raise UserError(
                f"{env} does not define when it is solved", "use episodes or steps instead of stop_when_solved"
            )
        if record is not None:
            recording.check(record, environment, found.agent)
        memory.check(found.agent, environment, episodes, steps)
        if where is not None and not isinstance(checkpoint, Checkpoints):
            where.prepare()
        name = env if isinstance(env, str) else None
        run = TrainingRun(found, environment, name, seed, Limits(episodes, steps, stop_when_solved), record, before)
        watch = Watch(found.agent, run.key, metrics_every, on_metrics, has_last_row=run.earlier.ended)
        stopped_itself = stop_when is not None and run.earlier.stopped_itself
        with nullcontext() if where is None else stopping.as_python_does():
            saver = Saver(where)
            for now in run.loop(
                check_every=None if stop_when is None else check_every,
                metrics_every=None if on_metrics is None else metrics_every,
            ):
                result = run.result(now)
                if now.fault is not None:
                    break
                watch.take(now, result)
                if progress is not None:
                    progress(result)
                if result.diverged or (stop_when_solved and result.solved):
                    break
                if stop_when is not None and now.check:
                    stopped_itself = stop_when(run.trained(now))
                if stopped_itself:
                    break
                saver.after(now, run.about)
            watch.end(now, result)
            ended = now.fault is None
            saver.end(now, run.about(ended=ended, stopped_itself=bool(stopped_itself)))
        result = replace(result, trained=run.trained(now)) if keep_agent else result
        if now.fault is not None:
            raise EnvironmentFault(now.fault.message, now.fault.hint, result) from now.fault.__cause__
        return result
    finally:
        if is_made_here(env) and isinstance(environment, HostEnvironment):
            environment.close()


def make_train(
    agent: Any,
    env: str | Environment,
    *,
    episodes: int,
    preset: str | None = None,
    network: Any = None,
    **changes: Any,
) -> Callable[[jax.Array], dict[str, Any]]:
    """The compiled training loop as one pure function of a key, to ``jit`` and to ``vmap`` over seeds.

    The function returns a dict: ``returns``, ``lengths`` and ``measures`` by episode, ``episodes`` and
    ``steps`` run, ``finite``, the agent's ``statistics``, and its ``state`` without replay. With the key
    ``langevin_dqn.run_key(seed)`` it does what ``train`` does with that seed.

    On processors with AVX-512, ``train`` compiles for vectors of full width, which rounds differently in some
    environments. ``jax.jit(function, compiler_options={"xla_cpu_prefer_vector_width": "512"})`` does the same.

    Args:
        agent: as for ``train``. A ``ValueAgent`` whose numbers are arrays
            (``agent.with_numbers(noise_variance=…)``) may be mapped over as well.
        env: a compiled environment or its id.
        episodes: how many to run.
        preset: as for ``train``.
        network: as for ``train``.
        **changes: as for ``train``.

    Examples:
        >>> import jax, langevin_dqn
        >>> train = langevin_dqn.make_train("dqn", "probe_action", episodes=20)
        >>> keys = jax.vmap(langevin_dqn.run_key)(jax.numpy.arange(4))
        >>> jax.jit(jax.vmap(train))(keys)["returns"].shape
        (4, 20)
    """
    whole_number("episodes", episodes, least=1)
    environment = as_environment(env)
    if isinstance(environment, HostEnvironment):
        raise UserError(f"{env} cannot be compiled", "use train, which steps it on the host")
    env_id = id_of(env, environment)
    found = resolve_agent(agent, environment, preset=preset, network=network, changes=changes, env=env_id)
    return compiled.as_function(found.agent, environment, episodes)
