"""What still has to be run, and how long that takes at most."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from langevin_dqn.agents.learners import choose_learner
from langevin_dqn.config import AgentConfig
from langevin_dqn.environments import HostEnvironment, make_env
from langevin_dqn.environments.base import IndexSpace
from langevin_dqn.networks import network_for
from langevin_dqn.paper.figure import Figure
from langevin_dqn.presets import configuration, configured
from langevin_dqn.runs.runners import Job
from langevin_dqn.runs.store import Store, key_of

#: Microseconds per member update on one core: the network, its noise, and each row of a table that the step goes over;
#: lazy rows cost as much as this many would. A third more than ``langevin-dqn bench`` measures on an idle machine.
_NETWORK, _NOISE, _ROW, _NOISY_ROW, _LAZY_ROWS = 28.0, 4.0, 0.08, 0.12, 700
_UNKNOWN_LENGTH = 1_000  # steps of an episode, where the environment does not say
_START = 4.0  # seconds: to compile, or to load what was compiled


@dataclass(frozen=True)
class Plan:
    """Distinct runs, and those of them that are still to do.

    Attributes:
        jobs: all of them.
        missing: those that the store does not have, the longest first.
        seconds: by key, the longest that each missing run can take on one core.
    """

    jobs: tuple[Job, ...]
    missing: tuple[Job, ...]
    seconds: dict[str, float]


def plan_of(jobs: Iterable[Job], store: Store) -> Plan:
    """What of ``jobs`` the store lacks; a run that is asked for twice is in it once."""
    distinct = {key_of(job): job for job in jobs}
    there = store.has_all(list(distinct.values()))
    missing = {key: job for (key, job), stored in zip(distinct.items(), there, strict=True) if not stored}
    kinds = {key: repr(replace(job, seed=0)) for key, job in missing.items()}  # seeds take the same time
    by_kind = {kinds[key]: job for key, job in missing.items()}
    longest = {kind: at_most(job) for kind, job in by_kind.items()}
    seconds = {key: longest[kind] for key, kind in kinds.items()}
    order = sorted(missing, key=lambda key: -seconds[key])
    return Plan(tuple(distinct.values()), tuple(missing[key] for key in order), seconds)


def figures_plan(figures: Iterable[Figure], scale: str, store: Store) -> Plan:
    """The runs of ``figures`` at ``scale``."""
    return plan_of((job for figure in figures for job in figure.jobs[scale]), store)


def at_most(job: Job) -> float:
    """Seconds that a run takes on one core if it uses its whole budget; a custom agent counts as DQN."""
    known = configured(job.agent)
    config = configuration(job.agent, job.preset, job.changes, job.env) if known else AgentConfig()
    environment = make_env(job.env)
    space = environment.observation_space
    rows = space.n if isinstance(space, IndexSpace) else 0
    network = network_for(space, config.hidden, config.negative_slope)
    if choose_learner(config, network, space).kind == "lazy":
        rows = min(rows, _LAZY_ROWS)
    noisy = config.noise_variance > 0
    update = _NETWORK + _NOISE * noisy + (_NOISY_ROW if noisy else _ROW) * rows
    longest = getattr(environment, "max_steps", None) or _UNKNOWN_LENGTH
    if isinstance(environment, HostEnvironment):
        environment.close()
    budgets = (job.steps, job.episodes and job.episodes * longest)
    steps = min(filter(None, budgets), default=0)
    return _START + 1e-6 * update * steps * config.updates_per_step * config.members
