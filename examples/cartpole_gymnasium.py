"""CartPole through Gymnasium, with DQN and Langevin DQN, which are evaluated during training.

Every 5,000 environment steps, the agent runs 20 greedy episodes without learning. A seed stops when their mean return
is at least 475 (the maximum is 500); the agent is then evaluated in another 20 episodes with another seed. No setting
is changed: the recommended presets have values for such environments.
"""

from dataclasses import dataclass

import numpy as np
import tyro

from langevin_dqn import machine

ENV = "gym:CartPole-v1"
AGENTS = ("dqn", "langevin_dqn")


@dataclass
class Args:
    """Train both agents on CartPole and evaluate them."""

    agents: tuple[str, ...] = AGENTS
    """Names of the agents."""
    seeds: int = 5
    """Seeds per agent."""
    steps: int = 100_000
    """Maximum number of environment steps per seed."""
    goal: float = 475.0
    """Mean return over 20 evaluation episodes at which a seed stops."""


def main(args: Args) -> None:
    machine.prepare()
    from rich.console import Console
    from rich.table import Table

    import langevin_dqn

    columns = ("agent", "seed", "steps", "episodes", "mean", "mean of others", "lowest", "seconds")
    table = Table(*columns, title=f"{ENV}: returns of 20 evaluation episodes, and of 20 others")
    print(", ".join(columns))
    passed = dict.fromkeys(args.agents, 0)
    for agent in args.agents:
        for seed in range(args.seeds):

            def reaches_goal(trained: langevin_dqn.TrainedAgent) -> bool:
                return bool(langevin_dqn.evaluate(trained, ENV, seed=10_000).mean() >= args.goal)

            result = langevin_dqn.train(
                agent, ENV, seed=seed, steps=args.steps, stop_when=reaches_goal, keep_agent=True
            )
            assert result.trained is not None
            first, second = (langevin_dqn.evaluate(result.trained, ENV, seed=s) for s in (10_000, 20_000))
            passed[agent] += bool(min(first.mean(), second.mean()) >= args.goal)
            means = f"{first.mean():.1f}", f"{second.mean():.1f}", f"{np.minimum(first, second).min():.0f}"
            row = agent, f"{seed}", f"{result.steps:,}", f"{result.episodes}", *means, f"{result.seconds:.0f}"
            print(", ".join(row), flush=True)
            table.add_row(*row)
    console = Console()
    console.print(table)
    for agent, count in passed.items():
        console.print(
            f"{agent}: {count} of {args.seeds} seeds reach {args.goal:g} in both evaluations", highlight=False
        )


if __name__ == "__main__":
    main(tyro.cli(Args))
