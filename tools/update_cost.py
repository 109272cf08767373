"""CPU time of an update, by setting: microseconds per member, measured in turns in one process.

    python tools/update_cost.py --depth 50
    python tools/update_cost.py --settings row_updates=dense row_updates=lazy

The recommended ensemble in Deep Sea; settings are changed from it.
"""

import time
from dataclasses import dataclass

from langevin_dqn import machine
from langevin_dqn.cli.arguments import script_options


@dataclass
class Args:
    """Measure the CPU time of updates with several settings, interleaved."""

    depth: int = 50
    """Depth of Deep Sea."""
    settings: tuple[str, ...] = ("shared_minibatch=false", "shared_minibatch=true", "noise_variance=0")
    """Settings to change, one at a time, as field=value."""
    repeats: int = 7
    """Rounds; the median is shown."""
    updates: int = 1500
    """Updates in each round."""


def main(args: Args) -> None:
    machine.prepare()
    import jax
    import jax.numpy as jnp
    import numpy as np

    from langevin_dqn import keys
    from langevin_dqn.agents.registry import resolve_agent
    from langevin_dqn.config import parse_assignment
    from langevin_dqn.environments import make_env
    from langevin_dqn.loops import compiled

    environment, key, never = make_env(f"deep_sea:depth={args.depth}"), keys.run_key(0), np.iinfo(np.int32).max
    turn = max(args.updates // args.depth, 1)
    planned = 50 + (args.repeats + 1) * turn

    def until(episode: int) -> compiled.Limits:
        return compiled.Limits(jnp.int32(episode), jnp.int32(never), jnp.int32(never), jnp.float32(-jnp.inf))

    agents, carries, times = {}, {}, {name: [] for name in args.settings}
    for name in args.settings:
        changes = dict([parse_assignment(name)])
        agents[name] = resolve_agent("ensemble_langevin_dqn", environment, changes=changes).agent
        start = compiled.begin(agents[name], environment, key, planned)
        carries[name] = compiled.run_chunk(agents[name], environment, key, start, until(50))
    for repeat in range(args.repeats):
        for name, agent in agents.items():
            before = int(agent.statistics(carries[name].state)["updates"])
            jax.block_until_ready(carries[name].returns)
            began = time.process_time()
            carries[name] = compiled.run_chunk(agent, environment, key, carries[name], until(50 + (repeat + 1) * turn))
            jax.block_until_ready(carries[name].returns)
            spent = time.process_time() - began
            made = int(agent.statistics(carries[name].state)["updates"]) - before
            times[name].append(1e6 * spent / made / agent.config.members)
    print(f"| depth {args.depth} | learner | CPU microseconds per member and update |\n|---|---|---|")
    for name, agent in agents.items():
        print(f"| {name} | {agent.choice.kind} | {np.median(times[name]):.0f} |")


if __name__ == "__main__":
    main(script_options(Args, __doc__))
