"""Golden runs: short runs of every kind, whose returns a test compares to the bit.

    python tools/golden_runs.py
    python tools/golden_runs.py --print --only "dqn, dense"

The first repeats them and writes ``tests/data/golden/FINGERPRINT.json``. With ``--print`` they go to stdout instead,
which is how ``tests/runs/test_golden.py`` gets them. The file changes only when the
algorithm does: then raise ``ALGORITHM_VERSION`` and write it anew.

Rounding depends on the instructions that the compiler chooses, so programs are compiled for AVX2 whatever the
processor has, and the results are filed under a fingerprint: JAX's version, and a hash of what a small program with
the operations of an update gives.
"""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path

from langevin_dqn.cli.arguments import filled

FLAGS = "--xla_cpu_multi_thread_eigen=false --xla_cpu_max_isa=AVX2"
FOLDER = Path(__file__).parents[1] / "tests" / "data" / "golden"

_TINY = {"hidden": [8], "batch_size": 16, "learning_rate": 0.01, "updates_per_step": 2}
_LAZY = {"row_updates": "lazy", **_TINY}


def _job(agent, env, episodes, preset="paper", seed=0, stop=False, **changes):
    return {
        "agent": agent, "env": env, "seed": seed, "episodes": episodes, "preset": preset, "stop_when_solved": stop,
        "changes": {**_TINY, **changes},
    }  # fmt: skip


#: What is run, by name: the first for every test run, the others where there is time.
FAST = {
    "langevin, dense, regularized": _job("langevin_dqn", "deep_sea:depth=5", 150, seed=2),
    "boot, lazy, buffers": _job("boot_dqn", "deep_sea:depth=5", 150, seed=5, **_LAZY),
    "ensemble, released": _job(
        "ensemble_langevin_dqn", "deep_sea:depth=5", 100, "released", seed=1, members=3, prior_noise=False
    ),
    "dqn, a host environment": _job("dqn", "gym:CartPole-v1", 20, epsilon=0.3, updates_per_step=1),
}
SLOW = {
    "langevin, lazy, within": _job(
        "langevin_dqn", "deep_sea:depth=5", 80, seed=8, **_LAZY, regularizer=0, update_timing="within"
    ),
    "boot, masks, released": _job("boot_dqn", "deep_sea_stochastic:depth=5", 100, "released", buffer_size=150),
    "dqn, a bsuite bandit": _job("dqn", "bandit/3", 80, buffer_size=40, buffer_discipline="random"),
    "sgd, a bandit": _job("langevin_dqn", "gaussian_bandit:arms=5", 80, optimizer="sgd", regularizer=0.1),
    "dqn, dense": _job("dqn", "deep_sea:depth=5", 150, epsilon_decay_episodes=30, epsilon=0.5),
    "dqn, lazy, released": _job("dqn", "deep_sea:depth=6", 150, "released", seed=1, **_LAZY),
    "langevin, released": _job("langevin_dqn", "deep_sea:depth=5", 150, "released", seed=3, noise_per_depth=True),
    "boot, dense, until solved": _job("boot_dqn", "deep_sea:depth=5", 400, seed=4, stop=True),
    "ensemble, dense": _job("ensemble_langevin_dqn", "deep_sea:depth=6", 150, seed=6, members=3),
    "ensemble, lazy": _job("ensemble_langevin_dqn", "deep_sea:depth=6", 150, seed=7, members=3, **_LAZY),
    "ensemble, catch, within": _job("ensemble_langevin_dqn", "catch/0", 60, members=2, update_timing="within"),
    "ensemble, noise on the prior": _job(
        "ensemble_langevin_dqn", "deep_sea:depth=5", 100, "released", seed=1, members=3
    ),
    "ensemble, a cart and pole": _job("ensemble_langevin_dqn", "cartpole/0", 6, members=2),
}
JOBS = FAST | SLOW


def fingerprint():
    """JAX's version, and how this processor rounds."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    @jax.jit
    def program(x):
        square = x.reshape(24, 24)
        product = square @ square.T
        positive = jnp.exp(-0.01 * product) + jnp.log1p(jnp.abs(square))
        ratio = square / (jnp.sqrt(positive) + 1e-6)
        return product, positive, ratio, (ratio @ product).sum(0), jnp.mean(ratio * positive), jnp.cumsum(ratio, 1)

    found = program(np.sin(np.arange(576, dtype=np.float32) * 12.9898))
    digest = hashlib.sha256(b"".join(np.asarray(x).tobytes() for x in found)).hexdigest()[:12]
    return f"jax-{jax.__version__}-{digest}"


def run(job):
    """What a job gives; nothing but ``train`` is needed for it."""
    from langevin_dqn import train

    arguments = {name: value for name, value in job.items() if name not in ("agent", "env", "changes")}
    changes = {name: tuple(v) if isinstance(v, list) else v for name, v in job["changes"].items()}
    result = train(job["agent"], job["env"], **arguments, keep_agent=True, **changes)
    return {
        "returns": result.returns.tolist(),
        "lengths": result.lengths.tolist(),
        "updates": result.updates,
        "values": values_of(result.trained, job["env"]),
    }


def values_of(trained, env):
    """The Q-values that the agent would act on: in the first states, or where an episode begins.

    Returns of short runs hide small changes; these show them.
    """
    import jax
    import numpy as np

    from langevin_dqn import make_env, prng

    environment = make_env(env)
    space = environment.observation_space
    if hasattr(space, "n"):
        seen = np.arange(min(space.n, 8), dtype=np.int32)
    elif hasattr(environment, "close"):
        seen = [environment.reset(0)]
    else:
        seen = [environment.reset(jax.random.key(0, impl=prng.PRNG))[1]]
    agent, state = trained.agent, trained.state
    return [np.asarray(agent.values(state, obs)).tolist() for obs in seen]


def repeat(names=None):
    """Every run, and the fingerprint they belong to."""
    runs = {name: {"job": JOBS[name], **run(JOBS[name])} for name in names or JOBS}
    return {"fingerprint": fingerprint(), "runs": runs}


def main():
    parser = argparse.ArgumentParser(description=filled(__doc__), formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--print", action="store_true", help="write to stdout, not to a file")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(JOBS),
        metavar="NAME",
        help=f"run only this one, with --print; may be repeated: {'; '.join(JOBS)}",
    )
    args = parser.parse_args()
    os.environ |= {"XLA_FLAGS": FLAGS, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    done = repeat(args.only)
    if args.print:
        json.dump(done, sys.stdout)
        return
    if args.only:
        parser.error("--only needs --print, because the file has all runs")
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = [f"  {json.dumps(name)}: {json.dumps(held)}" for name, held in done["runs"].items()]
    text = f'{{"fingerprint": "{done["fingerprint"]}", "runs": {{\n' + ",\n".join(lines) + "\n}}\n"
    path = FOLDER / f"{done['fingerprint']}.json"
    path.write_text(text)
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
