"""Wall time until a deep sea is learned, here and with bsuite's Boot DQN, under one time limit."""

import time

import numpy as np

from langevin_dqn.runs import metrics
from langevin_dqn.training import Result, train


class _OutOfTimeError(Exception):
    pass


def ours(depth: int, limit: float, seed: int = 0) -> dict:
    """Ensemble Langevin DQN (5 members, paper preset), compilation included."""
    start = time.perf_counter()

    def watch(result: Result) -> None:
        if time.perf_counter() - start > limit:
            raise _OutOfTimeError

    try:
        result = train("ensemble_langevin_dqn", f"deep_sea:depth={depth}", seed=seed, preset="paper", episodes=100_000,
                       stop_when_solved=True, progress=watch)  # fmt: skip
    except _OutOfTimeError:
        return _outcome("Ensemble Langevin DQN (5)", depth, None, limit)
    return _outcome("Ensemble Langevin DQN (5)", depth, result.learning_time, time.perf_counter() - start)


def bsuite_boot_dqn(depth: int, limit: float, seed: int = 0) -> dict:
    """Bsuite's own agent with 5 members, in its own loop."""
    from bsuite.environments.deep_sea import DeepSea

    from langevin_dqn.bench.peers import bsuite_boot_dqn

    start = time.perf_counter()
    np.random.seed(seed)
    environment = DeepSea(size=depth, mapping_seed=42)
    agent = bsuite_boot_dqn.make_agent(environment, seed=seed)
    returns: list[float] = []
    while time.perf_counter() - start < limit:
        timestep, total = environment.reset(), 0.0
        while not timestep.last():
            action = agent.select_action(timestep)
            following = environment.step(action)
            agent.update(timestep, action, following)
            timestep, total = following, total + following.reward
        returns.append(total)
        if metrics.regret(np.array(returns), 0.99)[-1] < metrics.LEARNED_SHARE * len(returns):
            return _outcome("bsuite Boot DQN (5)", depth, len(returns), time.perf_counter() - start)
    return _outcome("bsuite Boot DQN (5)", depth, None, limit)


def _outcome(name: str, depth: int, episodes: int | None, seconds: float) -> dict:
    return {"name": name, "depth": depth, "episodes": episodes, "seconds": round(seconds, 1)}
