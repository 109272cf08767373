"""Compare the memory that runs need with what was estimated before they started.

Each setting runs in a process of its own, which reports the growth of its peak resident memory since a tiny run of the
same agent had loaded and compiled everything:

    python tools/memory_estimate.py
"""

import argparse
import json
import subprocess
import sys

from langevin_dqn.cli.arguments import filled

#: By what takes the memory: the agent, its environment, the limits, and settings.
SETTINGS = {
    "replay with cached priors": (
        "ensemble_langevin_dqn", "catch/0", {"episodes": 20_000},
        {"members": 20, "buffer_size": 180_000, "hidden": [8], "updates_per_step": 0},
    ),
    "a buffer per member": (
        "boot_dqn", "deep_sea:depth=10", {"episodes": 100_000},
        {"members": 20, "buffer_size": 500_000, "hidden": [8], "updates_per_step": 0, "preset": "paper"},
    ),
    "parameters": (
        "ensemble_langevin_dqn", "catch/0", {"episodes": 4},
        {"members": 10, "buffer_size": 1000, "hidden": [1000, 1000], "batch_size": 8, "updates_per_step": 1},
    ),
}  # fmt: skip

CHILD = """
import json, sys
import langevin_dqn
from langevin_dqn.agents.registry import resolve_agent
from langevin_dqn.loops import memory
from langevin_dqn.cli.arguments import filled

agent, env, limits, changes = json.loads(sys.argv[1])

def kilobytes(name):
    with open("/proc/self/status") as status:
        return int(status.read().split(name + ":")[1].split()[0])

small = changes | {"hidden": [8], "members": 2, "buffer_size": 200}
langevin_dqn.train(agent, env, episodes=2, **small)
before = kilobytes("VmRSS")
environment = langevin_dqn.make_env(env)
settings = {name: value for name, value in changes.items() if name != "preset"}
found = resolve_agent(agent, environment, preset=changes.get("preset"), changes=settings, env=env)
need = memory.estimate(found.agent, environment, limits.get("episodes"), limits.get("steps"))
# The arrays are all made when a run begins; a few episodes are enough to see an update.
langevin_dqn.train(agent, env, stop_when=lambda trained: True, check_every=1, **limits, **changes)
print(json.dumps({"estimate": need.total, "growth": 1024 * (kilobytes("VmHWM") - before)}))
"""


def measure(name):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(SETTINGS[name])], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def main():
    print("| setting | estimate, MB | growth of peak resident memory, MB | estimate / growth |\n|---|---|---|---|")
    for name in SETTINGS:
        found = measure(name)
        ratio = found["estimate"] / found["growth"]
        print(f"| {name} | {found['estimate'] / 1e6:.0f} | {found['growth'] / 1e6:.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    argparse.ArgumentParser(
        description=filled(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    main()
