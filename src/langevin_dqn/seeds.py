"""Several seeds of one agent in one environment, by the way that suits the device."""

import pickle
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp

from langevin_dqn import keys, machine
from langevin_dqn.agents.registry import ResolvedAgent, resolve_agent
from langevin_dqn.comparison.grammar import seeds_of
from langevin_dqn.environments import Environment, HostEnvironment, as_environment, id_of, is_made_here
from langevin_dqn.errors import EnvironmentFault, UserError, brief, true_or_false, unknown, whole_number
from langevin_dqn.loops import side_by_side
from langevin_dqn.loops.evaluation import TrainedAgent
from langevin_dqn.loops.snapshot import Snapshot
from langevin_dqn.runs.result import Result
from langevin_dqn.runs.runners import Failure, run_in_processes, run_jobs
from langevin_dqn.training import DEFAULT_EPISODES, train

#: Ways to run several seeds.
WAYS = ("vmap", "threads", "processes")

#: Seconds of work to aim for between two calls of ``progress``.
_CHUNK_SECONDS = 0.5

Progress = Callable[[int, Result], None]


def train_seeds(
    agent: Any,
    env: Any,
    seeds: str | Iterable[int],
    *,
    how: str | None = None,
    episodes: int | None = None,
    steps: int | None = None,
    preset: str | None = None,
    network: Any = None,
    stop_when_solved: bool = False,
    keep_agent: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> list[Result]:
    """Train several seeds and return their results in the order of the seeds, each as ``train`` gives it.

    ``threads`` and ``processes`` give the returns of ``train`` to the bit. ``vmap`` runs all seeds in one program,
    whose batched products are rounded differently: returns are the same until two values are so close that this
    decides between actions. ``docs/guide/accelerators.md`` says which way is fastest where.

    Args:
        agent: as for ``train``.
        env: as for ``train``. A live environment cannot be shared by seeds: give its id or a function.
        seeds: whole numbers, or a text such as ``"0-4"``.
        how: ``vmap``, ``threads`` (of this process) or ``processes``. By default ``threads`` on a CPU and ``vmap`` on
            an accelerator, where the environment can be compiled.
        episodes: per seed; 1000 if neither this nor ``steps`` is given.
        steps: environment steps per seed, at most.
        preset: as for ``train``.
        network: as for ``train``.
        stop_when_solved: stop each seed at the episode in which it has learned.
        keep_agent: leave the trained agents in ``Result.trained``; not with ``processes``.
        workers: threads or processes at a time; the number of cores by default.
        progress: called with a seed and its result so far, about twice a second.
        **changes: as for ``train``.

    Returns:
        One result per seed. With ``vmap``, ``seconds`` is an equal share of what all seeds took together.

    Examples:
        >>> import langevin_dqn
        >>> results = langevin_dqn.train_seeds("dqn", "probe_action", range(3), episodes=20)
        >>> [(result.seed, result.episodes) for result in results]
        [(0, 20), (1, 20), (2, 20)]
    """
    for unit, count in {"episodes": episodes, "steps": steps}.items():
        if count is not None:
            whole_number(unit, count, least=1)
    if workers is not None:
        whole_number("workers", workers, least=1)
    true_or_false("stop_when_solved", stop_when_solved)
    true_or_false("keep_agent", keep_agent)
    if how is not None and not (isinstance(how, str) and how in WAYS):
        raise unknown("value of how", str(how), WAYS)
    numbers = seeds_of(seeds)
    if len(numbers) > 1 and not is_made_here(env) and isinstance(as_environment(env), HostEnvironment):
        raise UserError(
            "several seeds cannot share one environment object", "pass its id, or a function that returns it"
        )
    if how is None:
        how = _suitable(env)
    limits = {"episodes": episodes or (None if steps else DEFAULT_EPISODES), "steps": steps}
    what = {"preset": preset, "network": network}
    if how == "vmap":
        return _mapped(agent, env, numbers, limits, what, changes, stop_when_solved, keep_agent, progress)
    if how == "processes" and keep_agent:
        raise UserError("keep_agent does not work with how='processes'", "use how='threads' or how='vmap'")
    common = limits | what | changes | {"stop_when_solved": stop_when_solved, "keep_agent": keep_agent}
    runs = [_Training(agent, env, seed, common) for seed in numbers]
    if how == "processes":
        _check_pickles(runs[0])
    runner: Any = run_jobs if how == "threads" else run_in_processes

    def report(place: int, result: Result) -> None:
        if progress is not None:
            progress(numbers[place], result)

    found: dict[int, Result] = {}
    for place, outcome in runner(runs, workers=workers, progress=None if progress is None else report):
        if isinstance(outcome, Failure) and outcome.result is not None:
            raise EnvironmentFault(outcome.reason, outcome.hint, outcome.result)
        if isinstance(outcome, Failure):
            raise RuntimeError(f"seed {numbers[place]}: {outcome.reason}\n{outcome.details}".strip())
        found[place] = outcome
    return [found[place] for place in range(len(numbers))]


@dataclass(frozen=True)
class _Training:
    """One seed, as runners take it."""

    agent: Any
    env: Any
    seed: int
    arguments: dict[str, Any]

    def __str__(self) -> str:
        return f"seed {self.seed}"

    def run(self, progress: Callable[[Result], None] | None = None) -> Result:
        return train(self.agent, self.env, seed=self.seed, progress=progress, **self.arguments)


def _check_pickles(run: _Training) -> None:
    try:
        pickle.dumps(run)
    except Exception as error:  # whatever an object's own pickling raises
        raise UserError(
            f"agent or environment cannot be sent to another process: {brief(error)}",
            "pass their ids, or use how='threads'",
        ) from error


def _suitable(env: Any) -> str:
    """The way for this device: an accelerator has one program for all seeds."""
    if jax.default_backend() == "cpu":
        return "threads"
    environment = as_environment(env)
    if isinstance(environment, HostEnvironment):
        if is_made_here(env):
            environment.close()
        return "threads"
    return "vmap"


def _mapped(
    agent: Any,
    env: Any,
    seeds: list[int],
    limits: dict[str, int | None],
    what: dict[str, Any],
    changes: dict[str, Any],
    stop_when_solved: bool,
    keep_agent: bool,
    progress: Progress | None,
) -> list[Result]:
    """All seeds in one program."""
    environment = as_environment(env)
    if isinstance(environment, HostEnvironment):
        if is_made_here(env):
            environment.close()
        raise UserError(f"{env} cannot be compiled", "use how='threads' or how='processes', which step it on the host")
    found = resolve_agent(agent, environment, changes=changes, env=id_of(env, environment), **what)
    learned_regret = getattr(environment, "learned_regret", None)
    if stop_when_solved and learned_regret is None:
        raise UserError(f"{env} does not define when it is solved", "use episodes or steps instead of stop_when_solved")
    run_keys = jnp.stack([keys.run_key(seed) for seed in seeds])
    _check_memory(side_by_side.needed_bytes(found.agent, environment, run_keys, **limits), len(seeds))
    started = time.perf_counter()

    def result(place: int, now: Snapshot) -> Result:
        name = env if isinstance(env, str) else type(env).__name__
        share = (time.perf_counter() - started) / len(seeds)
        return _result(found, environment, name, seeds[place], now, share)

    chunks = side_by_side.run(
        found.agent,
        environment,
        run_keys,
        **limits,
        seconds=_CHUNK_SECONDS,
        learned_regret=learned_regret if stop_when_solved else None,
        is_over=lambda place, now: stop_when_solved and result(place, now).solved,
    )
    for snapshots in chunks:
        if progress is not None:
            for place, now in enumerate(snapshots):
                progress(seeds[place], result(place, now))
    results = [result(place, now) for place, now in enumerate(snapshots)]
    if not keep_agent:
        return results
    space, actions = environment.observation_space, environment.num_actions
    kept = [TrainedAgent(found.agent, now.state, space, actions) for now in snapshots]
    return [replace(one, trained=trained) for one, trained in zip(results, kept, strict=True)]


def _result(
    found: ResolvedAgent, environment: Environment, env: str, seed: int, now: Snapshot, seconds: float
) -> Result:
    return Result(
        agent=found.name,
        env=env,
        seed=seed,
        preset=found.preset,
        config=found.config,
        max_return=environment.max_return,
        learned_regret=getattr(environment, "learned_regret", None),
        returns=now.returns,
        updates=int(found.agent.statistics(now.state).get("updates", 0)),
        seconds=seconds,
        lengths=now.lengths,
        measures=now.measures,
        steps=now.steps,
        diverged=None if now.finite else found.agent.explain_divergence(now.state),
    )


def _check_memory(needed: int, seeds: int) -> None:
    """Refuse runs that are larger than the memory there is; an accelerator's is for its own library to check."""
    there = machine.available_memory()
    if there is not None and needed > there:
        raise UserError(
            f"{seeds} seeds at once take {needed / 1e9:.1f} GB, and {there / 1e9:.1f} are available",
            "set a smaller buffer_size, run fewer seeds at a time, or use how='threads'",
        )
