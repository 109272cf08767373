"""Mutation tests: break the code at selected places, one at a time, and check that a test fails.

    python tools/mutants.py                 # all, about an hour of one core
    python tools/mutants.py --match noise   # only some of them
    python tools/mutants.py --dry           # only checks the texts to replace

Each mutant is a private copy of the package with one piece of text replaced; the tests named
with it must fail on the copy, and pass on the package itself.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from langevin_dqn.cli.arguments import refuse, script_options
from langevin_dqn.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
SCALE, LANGEVIN, ROWS, NOISE, TORCH = (
    *(f"optimizers/{name}.py" for name in ("noise_scale", "langevin", "lazy_rows")), "prng.py", "torch.py",
)  # fmt: skip
AGENT, BASE, UPDATE, REPLAY, RELEASED, CHECKING, EPISODE = (
    f"agents/{name}.py" for name in ("value_agent", "base", "update", "replay", "released", "checking", "episode")
)
DENSE, LAZY, BLOCKS = (f"agents/learners/{name}.py" for name in ("dense", "lazy", "lazy_blocks"))
COMPILED, HOST, RECORDING, EVALUATION = (f"loops/{name}.py" for name in ("compiled", "host", "recording", "evaluation"))
TABULAR, FOUR, RLSVI, POSTERIOR, CHAINS = (
    f"insight/{name}.py" for name in ("tabular_langevin", "four_states", "rlsvi", "posterior", "chains")
)
T_LANGEVIN, T_ROWS = "tests/optimizers/test_langevin_optimizers.py", "tests/optimizers/test_lazy_rows.py"
T_NOISE, T_TORCH, T_KEYS, T_PYTREES = (f"tests/test_{name}.py" for name in ("prng", "torch", "keys", "pytrees"))
T_TRAINING, T_SAVED = "tests/test_training.py", "tests/test_saved_agent.py"
T_AGENT, T_BASE, T_UPDATE, T_REPLAY, T_RELEASED, T_CHECKING = (
    f"tests/agents/test_{name}.py" for name in ("value_agent", "base", "update", "replay", "released", "checking")
)
T_DENSE, T_LAZY = (f"tests/agents/learners/test_{name}.py" for name in ("dense", "lazy"))
T_COMPILED, T_HOST, T_RECORDING, T_EVALUATION = (
    f"tests/loops/test_{name}.py" for name in ("compiled", "host", "recording", "evaluation")
)
T_TABULAR, T_FOUR, T_RLSVI, T_POSTERIOR, T_CHAINS = (
    f"tests/insight/test_{name}.py" for name in ("tabular_langevin", "four_states", "rlsvi", "posterior", "chains")
)

#: What is broken: file, text, replacement, and the tests that must notice.
MUTANTS = {
    # optimizers
    "noise scale without the 2": (SCALE, "return 2 * alpha", "return alpha", T_LANGEVIN),
    "noise scale without 1/|D|": (SCALE, "noise_variance / num_data", "noise_variance", T_LANGEVIN),
    "torch noise without the 2": (SCALE, "return 2 * alpha", "return alpha", T_TORCH),
    "torch noise without 1/|D|": (SCALE, "noise_variance / num_data", "noise_variance", T_TORCH),
    "posterior: noise without the 2": (SCALE, "return 2 * alpha", "return alpha", T_POSTERIOR),
    "posterior: noise without 1/|D|": (SCALE, "noise_variance / num_data", "noise_variance", T_POSTERIOR),
    "rows: noise without the 2": (SCALE, "return 2 * alpha", "return alpha", T_ROWS),
    "adam noise times the root": (
        LANGEVIN,
        "jnp.sqrt(scale / (jnp.sqrt(v) + epsilon))",
        "jnp.sqrt(scale * (jnp.sqrt(v) + epsilon))",
        T_LANGEVIN,
    ),
    "adam noise from the fourth root": (
        LANGEVIN,
        "jnp.sqrt(scale / (jnp.sqrt(v) + epsilon))",
        "jnp.sqrt(scale / (v + epsilon))",
        T_LANGEVIN,
    ),
    "adam noise with alpha, not alpha_k": (
        LANGEVIN,
        "scale = step_noise_variance(alpha_k,",
        "scale = step_noise_variance(alpha,",
        T_LANGEVIN,
    ),
    "adam drift upwards": (LANGEVIN, "-alpha_k * m", "alpha_k * m", T_LANGEVIN),
    "adam second moment of |g|": (LANGEVIN, "(1 - beta_2) * g * g", "(1 - beta_2) * abs(g)", T_LANGEVIN),
    "torch adam noise times the root": (
        TORCH,
        "scale.reciprocal_().mul_(variance).sqrt_()",
        "scale.mul_(variance).sqrt_()",
        T_TORCH,
    ),
    "torch adam noise with alpha, not alpha_k": (
        TORCH,
        'step_noise_variance(alpha, group["noise_variance"], num_data)',
        'step_noise_variance(lr, group["noise_variance"], num_data)',
        T_TORCH,
    ),
    "torch adam noise without a root": (
        TORCH,
        "scale.reciprocal_().mul_(variance).sqrt_()",
        "scale.reciprocal_().mul_(variance)",
        T_TORCH,
    ),
    "torch adam forgets its moments": (TORCH, "if not state:", "if True:", T_TORCH),
    "torch adam with torch's epsilon": (
        TORCH,
        "torch._foreach_add_(scales, eps)",
        "torch._foreach_add_(scales, [eps * math.sqrt(two) for two in corrections_2])",
        T_TORCH,
    ),
    "torch ignores its generator": (TORCH, "normal_(generator=self._generator)", "normal_()", T_TORCH),
    "torch noise where there is no gradient": (TORCH, " if parameter.grad is not None]", "]", T_TORCH),
    "rows: noise of the first node only": (
        ROWS,
        "total[:, None] / 2 * (early + late) / (early * late)",
        "total[:, None] / early",
        T_ROWS,
    ),
    "rows: drift at the last step only": (
        ROWS,
        "* (1 - kept) / (1 - constants.b1)",
        "* jnp.where(steps > 0, 1, 0)",
        T_ROWS,
    ),
    "rows: target sees the present": (
        ROWS,
        "jnp.where((rows.time <= clock.sync)[:, None], rows.value, target)",
        "rows.value",
        T_ROWS,
    ),
    "rows: moments do not decay": (
        ROWS,
        "moment = _power(constants.b1, elapsed) * rows.moment",
        "moment = constants.b1 * rows.moment",
        T_ROWS,
    ),
    "rows: one draw for all": (
        ROWS,
        "index.astype(jnp.uint32)[:, None] * np.uint32(width)",
        "0 * index.astype(jnp.uint32)[:, None]",
        T_ROWS,
    ),
    # alg2
    "update: |D| is the batch": (
        UPDATE,
        "jnp.where(size > 0, size, jnp.inf)",
        "jnp.where(size > 0, 1.0 * c.batch_size, jnp.inf)",
        T_UPDATE,
    ),
    "update: terminal states bootstrap": (
        UPDATE,
        'self.numbers["discount"] * batch.continues * q_next',
        'self.numbers["discount"] * q_next',
        T_UPDATE,
    ),
    "update: no discount": (
        UPDATE,
        'self.numbers["discount"] * batch.continues * q_next',
        "batch.continues * q_next",
        T_UPDATE,
    ),
    "update: target is the online network": (
        DENSE,
        "self._goal(target, batch, indices)\n",
        "self._goal(params, batch, indices)\n",
        T_UPDATE,
    ),
    "update: target copied at every update": (
        UPDATE,
        'counter.updates % self.numbers["target_period"] == 0',
        "counter.updates % 1 == 0",
        T_UPDATE,
    ),
    "update: prior missing from the target": (
        UPDATE,
        'q_next = q_next + extras["next_prior"]',
        'q_next = q_next + 0 * extras["next_prior"]',
        T_UPDATE,
    ),
    "update: prior missing from the error": (
        UPDATE,
        'return goal - extras["prior"] if "prior" in extras else goal',
        "return goal",
        T_UPDATE,
    ),
    "update: members share their noise": (
        DENSE,
        "jax.random.split(noise_key, members), state.params",
        "jnp.broadcast_to(noise_key, (members,)), state.params",
        T_UPDATE,
    ),
    "update: regulariser without its 2": (UPDATE, "slope + 2 * strength", "slope + strength", T_UPDATE),
    "update: no loss scale": (UPDATE, 'self.numbers["loss_scale"] * squares', "squares", T_UPDATE),
    "update: an empty buffer learns": (UPDATE, "size[:, None] > 0", "size[:, None] >= 0", T_UPDATE),
    "update: a bad loss is forgotten": (
        UPDATE,
        "jnp.where(self.nonfinite_update > 0, self.nonfinite_update, failed)",
        "failed",
        f"{T_UPDATE} --slow",
    ),
    # what the authors' code does otherwise
    "released: loss not over members": (
        "agents/making.py",
        "config.loss_scale / config.members",
        "config.loss_scale",
        T_RELEASED,
    ),
    "released: regulariser not the mean": (UPDATE, "weight = 1 / param.size", "weight = 1.0", T_RELEASED),
    "released: own minibatches": (
        UPDATE,
        "c.batch_size, c.shared_minibatch,",
        "c.batch_size, False,",
        T_RELEASED,
    ),
    "released: target noise not in the goal": (
        UPDATE,
        'goal = goal + extras["target_noise"]',
        'goal = goal + 0 * extras["target_noise"]',
        T_RELEASED,
    ),
    "released: target noise by variance": (
        AGENT,
        'n["target_noise"] * jax.random.normal(',
        'n["target_noise"] ** 2 * jax.random.normal(',
        T_RELEASED,
    ),
    "released: members share target noise": (
        AGENT,
        "jax.random.normal(noise_key, (members,))",
        "jnp.broadcast_to(jax.random.normal(noise_key), (members,))",
        T_RELEASED,
    ),
    "released: masked samples count": (
        UPDATE,
        'squares = squares * batch.extras["mask"]',
        'squares = squares + 0 * batch.extras["mask"]',
        T_RELEASED,
    ),
    "released: prior not copied to the target": (
        DENSE,
        "target = jax.tree.map(lambda new, old: jnp.where(copies, new, old), params, state.target)",
        "target = jax.tree.map(lambda new, old: jnp.where(copies, new, old), params, state.target)\n"
        "            if isinstance(target, dict):\n"
        '                target["prior"] = state.target["prior"]',
        T_RELEASED,
    ),
    "released: the prior takes a gradient": (
        RELEASED,
        'lax.stop_gradient(params["prior"])',
        'params["prior"]',
        T_RELEASED,
    ),
    "released: the penalty pulls the prior": (
        RELEASED,
        "lambda _: True",
        "lambda _: False",
        T_RELEASED,
    ),
    "released: the prior stays out of the values": (RELEASED, "+ self.scale * prior", "+ 0 * prior", T_RELEASED),
    "released: updates from the first transition on": (
        AGENT,
        'state.replay.size.min() >= self.numbers["min_replay_size"]',
        "state.replay.size.min() >= 1",
        T_RELEASED,
    ),
    "released: the largest buffer decides": (
        AGENT,
        "state.replay.size.min()",
        "state.replay.size.max()",
        f"{T_RELEASED} --slow",
    ),
    "released: target starts equal": (
        AGENT,
        "draw(target_key) if c.independent_target else params",
        "params",
        T_AGENT,
    ),
    # the value agent, its memory, the protocol
    "everything is inserted": (AGENT, "(c.members,)) < probability", "(c.members,)) < 2 * probability", T_REPLAY),
    "ties go to the first action": (BASE, "jax.random.uniform(key, values.shape), -1.0", "1.0, -1.0", T_AGENT),
    "the first member always acts": (
        AGENT,
        "member = jax.random.randint(key, (), 0, self.config.members)",
        "member = jnp.int32(0)",
        T_AGENT,
    ),
    "epsilon does not decay": (AGENT, "jnp.maximum(1 - progress, 0)", "1.0", T_AGENT),
    "evaluation explores": (
        AGENT,
        "return greedy(key, self.values(state, obs))",
        "return self.act(key, state, obs)",
        T_AGENT,
    ),
    "the prior is not in the values": (
        AGENT,
        "q = q + prior.values(",
        "q = q + 0 * prior.values(",
        T_AGENT,
    ),
    "full buffers stop at the end": (
        REPLAY,
        "(replay.cursor + 1) % capacity",
        "jnp.minimum(replay.cursor + 1, capacity - 1)",
        T_REPLAY,
    ),
    "the newest transition is not sampled": (
        REPLAY,
        "size = jnp.maximum(replay.size, 1)",
        "size = jnp.maximum(replay.size - 1, 1)",
        T_UPDATE,
    ),
    "extras of another member": (REPLAY, "else (0 * member, member)", "else (0 * member, 0 * member)", T_REPLAY),
    "a state may change its shape": (
        CHECKING,
        "if _layout(shapes(method, *arguments)) != _layout(state):",
        "if False:",
        T_CHECKING,
    ),
    "infinities count as divergence": (BASE, "jnp.isnan(x).any()", "~jnp.isfinite(x).all()", T_BASE),
    # learners
    "a table of values of the wrong state": (
        DENSE,
        "return target[jnp.minimum(next_obs, target.shape[0] - 1)]",
        "return target[jnp.minimum(next_obs, target.shape[0] - 2)]",
        f"{T_DENSE} --slow",
    ),
    "lazy: reads without noise": (
        LAZY,
        "        if key is None:\n            key,",
        "        if True:\n            key,",
        T_LAZY,
    ),
    "lazy: reads at the last copy": (
        LAZY,
        "row = self._own_part(member, _advanced(constants, clock, key, rows, clock.now).value[0])",
        "row = self._own_part(member, _advanced(constants, clock, key, rows, clock.sync).value[0])",
        f"{T_LAZY} --slow",
    ),
    "lazy: attending is forgotten": (
        LAZY,
        "time=table.rows.time.at[place].set(rows.time), value=table.rows.value.at[place].set(rows.value)",
        "time=table.rows.time",
        T_LAZY,
    ),
    "lazy: one noise for all coordinates": (
        LAZY,
        "z = lazy_rows.draw(constants, key, jnp.zeros(1), rows.width)",
        "z = lazy_rows.draw(constants, key, jnp.zeros(1), rows.width)\n    z = None if z is None else 0 * z + z[:, :1]",
        T_LAZY,
    ),
    "blocks: stale target values": (
        BLOCKS,
        "reads.fresh, lambda: rows.value,",
        "reads.fresh, lambda: target_table[place],",
        T_LAZY,
    ),
    "blocks: targets never kept": (
        BLOCKS,
        "kept_chunks = jnp.where(reads.copies, 0, reads.chunks)",
        "kept_chunks = 0 * reads.chunks",
        T_LAZY,
    ),
    "blocks: targets never recalled": (
        BLOCKS,
        "lambda: jax.vmap(lazy_rows.target_of)(clock, rows, target_table[place])",
        "lambda: rows.value",
        T_LAZY,
    ),
    "blocks: rows not put back": (
        BLOCKS,
        "value=rows_table.value.at[place].set(value)",
        "value=rows_table.value",
        T_LAZY,
    ),
    "blocks: too few chunks": (
        BLOCKS,
        "(counts.max() + CHUNK - 1) // CHUNK",
        "(counts.min() + CHUNK - 1) // CHUNK - 1",
        T_LAZY,
    ),
    # loops and keys
    "loops: learning counts all steps": (
        COMPILED,
        "state = episode.begin(agent, episode_keys, carry.state, carry.steps)",
        "state = episode.begin(agent, episode_keys, carry.state, carry.all_steps)",
        T_BASE,
    ),
    "loops: numbers as constants": (
        COMPILED,
        "lax.optimization_barrier((agent, environment))",
        "(agent, environment)",
        f"{T_TRAINING} --slow",
    ),
    "loops: the host counts steps from 1": (
        HOST,
        "carry._replace(state=state, step=carry.step + 1, obs=jnp.asarray(obs))",
        "carry._replace(state=state, step=carry.step + 2, obs=jnp.asarray(obs))",
        T_HOST,
    ),
    "loops: the host acts once more": (EPISODE, "if unless is not None and", "if False and", f"{T_HOST} --slow"),
    "loops: a cut episode counts": (
        COMPILED,
        "ended, cut = done - int(carry.cut)",
        "ended, cut = done",
        f"{T_HOST} --slow",
    ),
    "loops: evaluation with one member": (
        EVALUATION,
        "return self._agent.begin_episode(key, state)",
        "return state",
        T_EVALUATION,
    ),
    "loops: spread with n - 1": (
        RECORDING,
        "spread=recorder.spread.at[place].set(recorder.recent.std(0))",
        "spread=recorder.spread.at[place].set(recorder.recent.std(0, ddof=1))",
        T_RECORDING,
    ),
    "loops: the stride does not double": (
        RECORDING,
        "stride=2 * recorder.stride",
        "stride=recorder.stride",
        T_RECORDING,
    ),
    "keys: reset and begin swapped": (
        "keys.py",
        "    begin: jax.Array\n    reset: jax.Array",
        "    reset: jax.Array\n    begin: jax.Array",
        T_KEYS,
    ),
    "pytrees: classes share a program": (
        "pytrees.py",
        "classes = classes_of(trees)",
        "classes = ()",
        T_PYTREES,
    ),
    "files: ids in old files are followed": (
        "saved_agent.py",
        """ids.refuse_import(
            about["env"], str(path), f"if you trust it, pass it explicitly: env={about['env']!r} or --env"
        )""",
        "pass",
        T_SAVED,
    ),
    # the generator
    "noise: no sign": (NOISE, "^ (word << 31)", "^ (0 * word)", T_NOISE),
    "noise: a coefficient off by 1e-4": (NOISE, "2.628698712935459", "2.6289", T_NOISE),
    "noise: key half ignored": (
        NOISE,
        "middle = _finish(offset + np.uint32(0xC2B2AE35), multiplier ^ k0)\n    return",
        "middle = offset\n    return",
        T_NOISE,
    ),
    # insight
    "insight: tabular drift without |D|": (TABULAR, "* counts[..., None] * (target", "* (target", T_TABULAR),
    "insight: tabular noise without the 2": (TABULAR, "jnp.sqrt(2 * epsilon)", "jnp.sqrt(epsilon)", T_TABULAR),
    "insight: tabular target of this period": (TABULAR, "[q[1:].max(2), ", "[q[:-1].max(2), ", T_TABULAR),
    "insight: one noise for all chains": (
        TABULAR,
        "prng.normal(key, q.shape)",
        "prng.normal(key, q.shape[:-1])[..., None]",
        T_TABULAR,
    ),
    "insight: a reward for all periods": (FOUR, "and not shared_reward", "and shared_reward", T_FOUR),
    "insight: posterior without |D|": (FOUR, "noise_variance / problem.counts)", "noise_variance)", T_FOUR),
    "insight: up moves without fail": (FOUR, "(stays + moves) / 2", "moves", T_FOUR),
    "insight: Dirichlet without the datum": (FOUR, "seen + pseudo_count", "0 * seen + pseudo_count", T_FOUR),
    "insight: dependent draws counted": (
        FOUR,
        "np.sqrt(len(by_chain))",
        "np.sqrt(samples[..., 0].size)",
        T_FOUR,
    ),
    "insight: RLSVI without noise": (RLSVI, "np.sqrt(variance) *", "0 *", T_RLSVI),
    "insight: RLSVI noise by variance": (RLSVI, "np.sqrt(variance) *", "variance *", T_RLSVI),
    "insight: RLSVI without shrinking": (RLSVI, "visits * target / self.noise_variance / precision", "target", T_RLSVI),
    "insight: RLSVI chest anywhere": (RLSVI, "target[:, -1, RIGHT] += 1", "target[:, :, RIGHT] += 1", T_RLSVI),
    "insight: RLSVI forgets visits": (RLSVI, "visits[running] = now", "pass", T_RLSVI),
    "posterior: prior without 1/|D|": (POSTERIOR, "noise_variance / size *", "noise_variance *", T_POSTERIOR),
    "posterior: no prior": (POSTERIOR, "noise_variance / size *", "0 * noise_variance *", T_POSTERIOR),
    "posterior: |D| is the batch": (
        POSTERIOR,
        "learning_rate, noise_variance, size, params",
        "learning_rate, noise_variance, batch_size or size, params",
        T_POSTERIOR,
    ),
    "posterior: half of the data": (POSTERIOR, "jnp.int32(size)", "jnp.int32(size // 2)", T_POSTERIOR),
    "chains: all alike": (
        CHAINS,
        "jax.random.split(run_key, plan.chains)",
        "jnp.broadcast_to(run_key, (plan.chains,))",
        T_CHAINS,
    ),
    "chains: noise that repeats": (CHAINS, "fold_in(key, state.steps)", "fold_in(key, 0 * state.steps)", T_CHAINS),
    "chains: draws by steps, not by time": (CHAINS, "return self.burn_in + reached", "return after", T_CHAINS),
}


@dataclass
class Args:
    """Mutation tests."""

    match: str = ""
    """Only the mutants whose name, file or tests contain this text."""
    slow: bool = False
    """Run slow tests too; by default only for the mutants that need them."""
    dry: bool = False
    """Only check that each text occurs once in its file, and list those that do not."""
    out: Path = Path("out/mutants.json")
    """File for the outcome."""


#: Folders that tests import helpers from.
HELPERS = ("environments/bsuite", "runs/runners", "agents", "agents/learners", "docs", "loops", "comparison")


def source_of(file: str) -> str:
    return (ROOT / "src" / "langevin_dqn" / file).read_text(encoding="utf-8")


def occurrences(file: str, text: str) -> int:
    return source_of(file).count(text)


def broken(file: str, old: str, new: str) -> str:
    """The text of a file of the package with ``old`` replaced."""
    text = source_of(file)
    if text.count(old) != 1:
        raise SystemExit(f"{file} has {text.count(old)} times the text {old!r}")
    return text.replace(old, new)


def _limit(cpu_seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


def passes(file: str, text: str, tests: str, slow: bool = False, cpu_seconds: int | None = None) -> bool:
    """True if ``tests`` pass, within so much processor time, on a copy of the package whose ``file`` has this text."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        (source / "langevin_dqn" / file).write_text(text, encoding="utf-8")
        # The project's own pythonpath would come before PYTHONPATH, and the tests would see the unbroken package.
        first = f"pythonpath={source} {' '.join(str(ROOT / 'tests' / helper) for helper in HELPERS)}"
        path, _, option = tests.partition(" ")
        chosen = [] if slow or option == "--slow" else ["-m", "not slow"]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-o", first]
        done = subprocess.run(
            [*command, *chosen, str(ROOT / path)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            preexec_fn=None if cpu_seconds is None else lambda: _limit(cpu_seconds),
        )
        if done.returncode > 2:
            raise SystemExit(f"pytest ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.returncode == 0


def main(args: Args) -> int:
    outcome: dict[str, str] = {}
    stale = 0
    for name, (file, old, new, tests) in MUTANTS.items():
        if not any(args.match in text for text in (name, file, tests)):
            continue
        if args.dry:
            stale += occurrences(file, old) != 1
            if occurrences(file, old) != 1:
                print(f"{name}: {file} has {occurrences(file, old)} times the text {old!r}")
            continue
        lived = passes(file, broken(file, old, new), tests, args.slow)
        outcome[name] = "survives" if lived else f"caught by {tests}"
        print(f"{outcome[name]:60} {name}", flush=True)
    if args.dry:
        return int(stale > 0)
    if not outcome:
        return refuse(UserError(f"no mutant matches {args.match!r}", "--match takes a part of a name, file or test"))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(outcome, indent=1))
    return int("survives" in outcome.values())


if __name__ == "__main__":
    sys.exit(main(script_options(Args, __doc__)))
