"""Break the code on purpose, one line at a time, and see that a test notices.

    python tools/mutants.py                 # all of them, about half an hour of one core
    python tools/mutants.py --match noise   # those with this in their name

Each mutant is a private copy of the package with one piece of text replaced; the tests named
with it must fail on the copy, and pass on the package itself.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import tyro

ROOT = Path(__file__).resolve().parent.parent
LANGEVIN, AGENT, REPLAY = "optimizers/langevin.py", "agent.py", "replay.py"
ROWS, BLOCKS, NOISE = "optimizers/sleeping_rows.py", "row_learning.py", "prng.py"
T_LANGEVIN, T_AGENT = "tests/optimizers/test_langevin_optimizers.py", "tests/test_agent_template.py"
T_ROWS, T_BLOCKS = "tests/optimizers/test_sleeping_rows.py", "tests/test_row_learning.py"
T_NOISE = "tests/optimizers/test_noise.py"
TABULAR, FOUR, RLSVI = "insight/tabular_langevin.py", "insight/four_states.py", "insight/rlsvi.py"
T_TABULAR, T_FOUR, T_RLSVI = (f"tests/insight/test_{name}.py" for name in ("tabular_langevin", "four_states", "rlsvi"))
POSTERIOR, CHAINS = "insight/posterior.py", "insight/chains.py"
TORCH, T_TORCH = "torch.py", "tests/test_torch.py"
T_POSTERIOR, T_CHAINS = "tests/insight/test_posterior.py", "tests/insight/test_chains.py"

#: What is broken: file, text, replacement, and the tests that must notice.
MUTANTS = {
    "adam noise without the 2": (LANGEVIN, "scale = 2 * alpha_k", "scale = alpha_k", T_LANGEVIN),
    "adam noise without 1/|D|": (
        LANGEVIN,
        "* noise_variance / num_data\n            steps = jax.tree.map(\n",
        "* noise_variance\n            steps = jax.tree.map(\n",
        T_LANGEVIN,
    ),
    "adam noise times the root": (
        LANGEVIN,
        "jnp.sqrt(scale / (jnp.sqrt(v) + eps))",
        "jnp.sqrt(scale * (jnp.sqrt(v) + eps))",
        T_LANGEVIN,
    ),
    "adam noise from the fourth root": (
        LANGEVIN,
        "jnp.sqrt(scale / (jnp.sqrt(v) + eps))",
        "jnp.sqrt(scale / (v + eps))",
        T_LANGEVIN,
    ),
    "adam noise with alpha, not alpha_k": (LANGEVIN, "scale = 2 * alpha_k", "scale = 2 * alpha", T_LANGEVIN),
    "adam drift upwards": (LANGEVIN, "-alpha_k * m", "alpha_k * m", T_LANGEVIN),
    "adam second moment of |g|": (LANGEVIN, "(1 - b2) * g * g", "(1 - b2) * abs(g)", T_LANGEVIN),
    "torch adam noise without the 2": (TORCH, "variance = 2 * alpha_k", "variance = alpha_k", T_TORCH),
    "torch adam noise without 1/|D|": (
        TORCH,
        'group["noise_variance"] / num_data\n            move.addcmul_',
        'group["noise_variance"]\n            move.addcmul_',
        T_TORCH,
    ),
    "torch adam noise times the root": (TORCH, "(variance / scale).sqrt_()", "(variance * scale).sqrt_()", T_TORCH),
    "torch adam noise with alpha, not alpha_k": (TORCH, "variance = 2 * alpha_k", "variance = 2 * lr", T_TORCH),
    "torch adam noise without a root": (TORCH, "(variance / scale).sqrt_()", "(variance / scale)", T_TORCH),
    "torch adam forgets its moments": (TORCH, "if not state:", "if True:", T_TORCH),
    "torch adam with torch's epsilon": (
        TORCH,
        "scale = v.sqrt().add_(eps)",
        "scale = v.sqrt().add_(eps * math.sqrt(correction_2))",
        T_TORCH,
    ),
    "torch sgd noise without the 2": (TORCH, 'math.sqrt(2 * group["lr"]', 'math.sqrt(group["lr"]', T_TORCH),
    "torch ignores its generator": (TORCH, "normal_(generator=self._generator)", "normal_()", T_TORCH),
    "torch noise where there is no gradient": (TORCH, "if parameter.grad is None:", "if False:", T_TORCH),
    "sgd noise without the 2": (
        LANGEVIN,
        "jnp.sqrt(2 * alpha * noise_variance",
        "jnp.sqrt(alpha * noise_variance",
        T_LANGEVIN,
    ),
    "sgd noise without 1/|D|": (
        LANGEVIN,
        "jnp.sqrt(2 * alpha * noise_variance / num_data)",
        "jnp.sqrt(2 * alpha * noise_variance)",
        T_LANGEVIN,
    ),
    "|D| is the batch": (
        AGENT,
        "jnp.where(size > 0, size, jnp.inf)",
        "jnp.where(size > 0, 1.0 * s.batch_size, jnp.inf)",
        T_AGENT,
    ),
    "terminal states bootstrap": (
        AGENT,
        "self.hyper.discount * batch.continues * q_next",
        "self.hyper.discount * q_next",
        T_AGENT,
    ),
    "target is the online network": (
        AGENT,
        "self._target_values(target, batch.next_obs)",
        "self._target_values(params, batch.next_obs)",
        T_AGENT,
    ),
    "prior missing from the target": (
        AGENT,
        "            q_next = q_next + next_prior\n",
        "            q_next = q_next + 0 * next_prior\n",
        T_AGENT,
    ),
    "prior missing from the error": (AGENT, "else goal - batch.prior", "else goal", T_AGENT),
    "members share their noise": (
        AGENT,
        "            jax.random.split(noise_key, self.structure.members),\n",
        "            jnp.broadcast_to(noise_key, (self.structure.members,)),\n",
        T_AGENT,
    ),
    "regulariser without its 2": (AGENT, "return 2 * self.hyper.regularizer", "return self.hyper.regularizer", T_AGENT),
    "everything is inserted": (
        AGENT,
        "< self.hyper.insertion_probability",
        "< 2 * self.hyper.insertion_probability",
        T_AGENT,
    ),
    "ties go to the first action": (AGENT, "jax.random.uniform(tie_key, q.shape), -1.0", "1.0, -1.0", T_AGENT),
    "the first member always acts": (
        AGENT,
        "member = jax.random.randint(key, (), 0, self.structure.members)",
        "member = jnp.int32(0)",
        T_AGENT,
    ),
    "full buffers stop at the end": (
        REPLAY,
        "(replay.cursor + 1) % capacity",
        "jnp.minimum(replay.cursor + 1, capacity - 1)",
        T_AGENT,
    ),
    "the newest transition is not sampled": (
        REPLAY,
        "size = jnp.maximum(replay.size, 1)",
        "size = jnp.maximum(replay.size - 1, 1)",
        T_AGENT,
    ),
    "rows: noise of the first node only": (
        ROWS,
        "total[:, None] / 2 * (early + late) / (early * late)",
        "total[:, None] / early",
        T_ROWS,
    ),
    "rows: noise without |D|": (
        ROWS,
        "c = 2 * alpha * noise_variance / num_data",
        "c = 2 * alpha * noise_variance / 10",
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
    "blocks: stale target values": (
        BLOCKS,
        "reads.fresh, lambda: rows.value,",
        "reads.fresh, lambda: noted[place],",
        T_BLOCKS,
    ),
    "blocks: targets never noted": (
        BLOCKS,
        "noting = jnp.where(reads.copies, 0, reads.chunks)",
        "noting = 0 * reads.chunks",
        T_BLOCKS,
    ),
    "blocks: targets never recalled": (
        BLOCKS,
        "lambda: jax.vmap(sleeping_rows.target_of)(clock, rows, noted[place])",
        "lambda: rows.value",
        T_BLOCKS,
    ),
    "blocks: rows not given back": (
        BLOCKS,
        "lax.fori_loop(0, reads.chunks, put,",
        "lax.fori_loop(0, 0 * reads.chunks, put,",
        T_BLOCKS,
    ),
    "blocks: too few chunks": (
        BLOCKS,
        "(counts.max() + CHUNK - 1) // CHUNK",
        "(counts.min() + CHUNK - 1) // CHUNK - 1",
        T_BLOCKS,
    ),
    "noise: no sign": (NOISE, "^ (word << 31)", "^ (0 * word)", T_NOISE),
    "noise: a coefficient off by 1e-4": (NOISE, "2.628698712935459", "2.6289", T_NOISE),
    "noise: key half ignored": (
        NOISE,
        "middle = _finish(offset + np.uint32(0xC2B2AE35), multiplier ^ k0)\n    return",
        "middle = offset\n    return",
        T_NOISE,
    ),
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
    "posterior: noise without the 2": (
        LANGEVIN,
        "jnp.sqrt(2 * alpha * noise_variance",
        "jnp.sqrt(alpha * noise_variance",
        T_POSTERIOR,
    ),
    "posterior: noise without 1/|D|": (
        LANGEVIN,
        "jnp.sqrt(2 * alpha * noise_variance / num_data)",
        "jnp.sqrt(2 * alpha * noise_variance)",
        T_POSTERIOR,
    ),
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
    """Only mutants whose name holds this text."""
    out: Path = Path("out/mutants.json")
    """Where the outcome goes."""


def survives(file: str, old: str, new: str, tests: str) -> bool:
    """True if ``tests`` pass on a copy of the package with ``old`` replaced."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        path = source / "langevin_dqn" / file
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"{file} has {text.count(old)} times the text {old!r}")
        path.write_text(text.replace(old, new), encoding="utf-8")
        # The project's own pythonpath would come before PYTHONPATH, and the tests would see the unbroken package.
        first = f"pythonpath={source} {ROOT / 'tests/environments/bsuite'}"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-o", first, str(ROOT / tests)]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True
        )
        if done.returncode > 1:
            raise SystemExit(done.stdout + done.stderr)
        return done.returncode == 0


def main(args: Args) -> int:
    outcome = {}
    for name, mutant in MUTANTS.items():
        if args.match in name:
            outcome[name] = "survives" if survives(*mutant) else "caught"
            print(f"{outcome[name]:9} {name}", flush=True)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(outcome, indent=1))
    return int("survives" in outcome.values())


if __name__ == "__main__":
    sys.exit(main(tyro.cli(Args)))
