"""Test the noise generator as it is used: TestU01 on its words, exact tests on its normals and keys.

    python tools/noise_battery.py            # a quarter of an hour of one core
    python tools/noise_battery.py --quick    # about one minute

Every word comes from the package's own jitted functions and is piped into TestU01
(``noise_battery.c``, compiled in a temporary folder). ``docs/notes/noise.md`` has the results.
"""

import itertools
import json
import math
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from scipy import fft, special, stats

from langevin_dqn import UserError, prng
from langevin_dqn.cli.arguments import script_options

WINDOW = 7680  # counters per key: what one update of one member draws
MEMBERS = 5
KEYS = 1000  # per chunk
BINS = 1024
SUSPECT = 1e-3  # TestU01 reports p-values outside [SUSPECT, 1 - SUSPECT]
CLEAR = 1e-7  # outside [CLEAR, 1 - CLEAR] this script fails
#: x and x + delta often leave the first xor-shift different in the top bit (or three) only: the worst pairs of inputs.
DELTAS = (0x80008000, 0xE0002000)


@dataclass
class Args:
    """Batteries for the noise generator."""

    quick: bool = False
    """Fewer streams and values: about one minute."""
    seed: int = 0
    """Random seed; another one draws other keys, to check a suspicious p-value."""
    match: str = ""
    """Only the parts whose name holds this text, e.g. "rabbit" or "updates, across"."""
    crush: bool = False
    """Run TestU01's Crush on the updates as well: an hour and more."""
    out: Path = Path("out/noise_battery.json")
    """JSON file for every p-value."""


# -- the streams: chunks of KEYS windows -----------------------------------------------


def _key(seed: jax.Array) -> jax.Array:
    return jax.random.key(seed, impl=prng.PRNG)


def _update_keys(seed: jax.Array, index: jax.Array) -> jax.Array:
    return jax.vmap(partial(jax.random.fold_in, _key(seed)))(index)


def _member_keys(seed: jax.Array, index: jax.Array) -> jax.Array:
    """As ``row_learning`` has them: a key per update, one half of it for noise, split over the members."""
    halves = jax.vmap(jax.random.split)(_update_keys(seed, index // MEMBERS))
    members = jax.vmap(partial(jax.random.split, num=MEMBERS))(halves[:, 1])
    return members[jnp.arange(len(index)), index % MEMBERS]


def _seed_keys(seed: jax.Array, index: jax.Array) -> jax.Array:
    return jax.vmap(_key)(seed * np.uint32(2**22) + index)


def _windows(keys: Callable) -> Callable:
    return lambda seed, index: jax.vmap(lambda key: prng.bits(key, (WINDOW,)))(keys(seed, index))


def _single(seed: jax.Array, index: jax.Array) -> jax.Array:
    counter = index[:, None] * np.uint32(WINDOW) + jnp.arange(WINDOW, dtype=jnp.uint32)
    return prng.mix(counter, prng.key_words(_key(seed)))


STREAMS: dict[str, Callable] = {
    "updates": _windows(_update_keys),
    "members": _windows(_member_keys),
    "seeds": _windows(_seed_keys),
    "single key": _single,
}


def chunks(name: str, seed: int, of: Callable = lambda words: words) -> Iterator[np.ndarray]:
    """The stream in chunks of shape (KEYS, WINDOW)."""
    draw = jax.jit(lambda seed, start: of(STREAMS[name](seed, start + jnp.arange(KEYS, dtype=jnp.uint32))))
    return (np.asarray(draw(jnp.uint32(seed), jnp.uint32(start))) for start in itertools.count(step=KEYS))


def across(chunk: np.ndarray, group: int) -> np.ndarray:
    """The same words with the key running fastest, among ``group`` keys."""
    return np.ascontiguousarray(chunk.reshape(-1, group, WINDOW).swapaxes(1, 2))


# -- TestU01 ---------------------------------------------------------------------------


def compiled(folder: str) -> str:
    hint = "install gcc and TestU01, on Debian (section non-free): apt-get install gcc libtestu01-0-dev"
    compiler, source, program = shutil.which("gcc"), Path(__file__).with_suffix(".c"), f"{folder}/noise_battery"
    if compiler is None:
        raise UserError("gcc is not installed", hint)
    for prefix in ("testu01", ""):  # as Debian names the libraries, then as their authors do
        libraries = ["-ltestu01", f"-l{prefix}probdist", f"-l{prefix}mylib", "-lm"]
        command = [compiler, "-O2", str(source), "-o", program, *libraries]
        if subprocess.run(command, capture_output=True).returncode == 0:
            return program
    raise UserError("TestU01 is not installed", hint)


def testu01(program: str, battery: str, view: str, bits: int, name: str, seed: int) -> list[dict]:
    base, _, order = name.partition(", ")
    words = chunks(base, seed)
    if order:
        words = (across(chunk, MEMBERS if base == "members" else KEYS) for chunk in words)
    command = [program, battery, view, str(bits)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        try:
            for chunk in words:
                process.stdin.write(chunk.data)
        except BrokenPipeError:  # it has had enough
            process.stdin = None
        rows = [line.split("\t") for line in process.stdout.read().decode().splitlines() if line[1:2] == "\t"]
    values = {f"{i} {row[2]}": float(row[1]) for i, row in enumerate(rows) if row[0] == "P"}
    p = {test: value for test, value in values.items() if value >= 0}  # -1: not run
    value = f"{len(p)} p-values in [{min(p.values()):.2g}, {max(p.values()):.5g}]"
    return [row(name, f"{battery}, {view}", int(rows[-1][1]), value, p)]


# -- normals ---------------------------------------------------------------------------


def row(name: str, test: str, n: int, value: str, p: dict[str, float]) -> dict:
    return {"stream": name, "test": test, "n": n, "value": value, "p": {k: float(v) for k, v in p.items()}}


def two_sided(z):
    return 2 * stats.norm.sf(np.abs(z))


def of_maximum(z: float, count: int) -> float:
    """The chance that the largest of ``count`` standard normals is beyond ``z``."""
    return -math.expm1(count * math.log1p(-two_sided(z)))


def bins(z: np.ndarray) -> np.ndarray:
    return np.bincount((special.ndtr(z.ravel()) * BINS).astype(np.int32), minlength=BINS)


def powers(z: np.ndarray) -> np.ndarray:
    """Sums of z, ..., z^6."""
    z = z.ravel().astype(np.float64)
    z2 = z * z
    z3 = z2 * z
    return np.array([z.sum(), z @ z, z @ z2, z2 @ z2, z2 @ z3, z3 @ z3])


def distribution(count: int, samples: int, seed: int) -> list[dict]:
    """The normals of all four streams against the 2^24 equally likely values there are."""
    magnitude = np.arange(2**23, dtype=np.uint32) << 9
    grid = np.concatenate([np.asarray(prng.normal_from_bits(jnp.asarray(magnitude | sign))) for sign in (0, 1)])
    exact = {k: float(np.mean(grid.astype(np.float64) ** k)) for k in range(1, 13)}
    tails = (4.0, 4.5, 5.0)
    sums, counts, beyond, n = np.zeros(6), np.zeros(BINS), np.zeros(3, int), 0
    ks: list[float] = []
    window_sums: list[list[np.ndarray]] = []
    for name in STREAMS:
        for i, z in enumerate(chunks(name, seed, prng.normal_from_bits)):
            n += z.size
            sums, counts = sums + powers(z), counts + bins(z)
            beyond += [np.count_nonzero(np.abs(z) > t) for t in tails]
            window_sums.append([x.sum(1, dtype=np.float64) for x in (z, (z * z - 1) / math.sqrt(2))])
            if i < samples:
                ks.append(stats.kstest(z.ravel()[: 2**20].astype(np.float64), "norm", method="asymp").pvalue)
            if (i + 1) * z.size * len(STREAMS) >= count:
                break
    add = partial(row, "all four")
    rows = []
    for k in range(1, 7):
        score = (sums[k - 1] / n - exact[k]) / math.sqrt((exact[2 * k] - exact[k] ** 2) / n)
        value = f"{sums[k - 1] / n:+.6f} (grid {exact[k]:+.6f}), z = {score:+.2f}"
        rows.append(add(f"moment {k}", n, value, {"z": two_sided(score)}))
    expected = n * bins(grid) / grid.size
    chi2 = float(((counts - expected) ** 2 / expected).sum())
    rows.append(add(f"chi-square, {BINS} bins", n, f"{chi2:.1f}", {"chi2": stats.chi2.sf(chi2, BINS - 1)}))
    for t, seen in zip(tails, beyond.tolist(), strict=True):
        share = float(np.mean(np.abs(grid) > t))
        value = f"{seen} (grid {n * share:.0f}, N(0, 1) {n * two_sided(t):.0f})"
        rows.append(add(f"beyond ±{t:g}", n, value, {"binomial": stats.binomtest(seen, n, share).pvalue}))
    value = f"{len(ks)} p-values in [{min(ks):.2g}, {max(ks):.5g}]"
    rows.append(add("KS, 2^20 each", len(ks) * 2**20, value, {"KS of p": stats.kstest(ks, "uniform").pvalue}))
    squares = np.concatenate(window_sums, axis=1) ** 2 / WINDOW
    variance, windows = squares.mean(1), squares.shape[1]
    p = {name: two_sided((v - 1) / math.sqrt(2 / windows)) for name, v in zip(("z", "z^2"), variance, strict=True)}
    value = "variance {:.4f}, of z^2 {:.4f}, of {}".format(*variance, windows)
    rows.append(add("sums over windows", n, value, p))
    return rows


# -- correlations ----------------------------------------------------------------------


def scores(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[int, np.ndarray]:
    """z-scores of the correlation of z with z', and of z^2 with z'^2."""
    n, total = 0, np.zeros(2)
    for left, right in pairs:
        a, b = left.ravel(), right.ravel()
        n += a.size
        total += [np.dot(a, b), np.dot(a * a - 1, b * b - 1) / 2]
    return n, total / math.sqrt(n)


def largest(name: str, test: str, n: int, z: np.ndarray) -> dict:
    worst = float(np.abs(z).max())
    value = f"largest r {worst / math.sqrt(n):.1e}, largest z {worst:.2f} of {z.size}"
    return row(name, test, n, value, {"max": of_maximum(worst, z.size)})


def correlations(name: str, count: int, seed: int) -> list[dict]:
    """Between keys, between counters, and by FFT at every circular lag of every window."""
    take = list(itertools.islice(chunks(name, seed, prng.normal_from_bits), count))
    if name == "members":
        split = [z.reshape(-1, MEMBERS, WINDOW) for z in take]
        pairs = list(itertools.combinations(range(MEMBERS), 2))
        keys = [scores((z[:, i], z[:, j]) for z in split) for i, j in pairs]
    else:
        keys = [scores((z[:-1], z[1:]) for z in take)]
    counters = [scores((z[:, :-lag], z[:, lag:]) for z in take) for lag in range(1, 5)]
    rows = [
        largest(name, test, each[0][0], np.concatenate([z for _, z in each]))
        for test, each in (("between keys", keys), ("counters, lags 1-4", counters))
    ]
    for test, shift, lags in (
        ("all lags, own window", 0, slice(1, WINDOW // 2)),
        ("all lags, next window", 1, slice(None)),
    ):
        mean, worst, windows = np.zeros(WINDOW)[lags], 0.0, 0
        for z in take:
            f = fft.rfft(z, axis=1)
            r = fft.irfft(f[: KEYS - shift] * f[shift:].conj(), n=WINDOW, axis=1)[:, lags] / math.sqrt(WINDOW)
            mean, worst, windows = mean + r.sum(0), max(worst, float(np.abs(r).max())), windows + len(r)
        mean /= math.sqrt(windows)
        p = {"max": of_maximum(worst, windows * mean.size), "chi2 of means": stats.chi2.sf(mean @ mean, mean.size)}
        value = f"largest z {worst:.2f} of {windows * mean.size:.1e}, means {np.abs(mean).max():.2f} of {mean.size}"
        rows.append(row(name, test, windows * WINDOW, value, p))
    return rows


# -- keys ------------------------------------------------------------------------------


@jax.jit
def _flip(keys: jax.Array, counter: jax.Array, mask: jax.Array) -> tuple[jax.Array, jax.Array]:
    """How often each output bit changes with the masked bits, and z-scores of the normals' correlations."""
    left, right = jax.vmap(prng.mix)(counter, keys), jax.vmap(prng.mix)(counter ^ mask[2], keys ^ mask[:2])
    changed = jnp.stack([((left ^ right) >> i & 1).sum(dtype=jnp.uint32) for i in range(32)])
    a, b = prng.normal_from_bits(left), prng.normal_from_bits(right)
    return changed, jnp.stack([jnp.dot(a, b), jnp.dot(a * a - 1, b * b - 1) / 2]) / math.sqrt(len(keys))


def avalanche(n: int, seed: int) -> list[dict]:
    """One bit of the key, or of the counter, against the 32 bits of the word."""
    rng = np.random.default_rng(seed)
    keys, counter = rng.integers(2**32, size=(n, 2), dtype=np.uint32), rng.integers(WINDOW, size=n, dtype=np.uint32)
    masks = np.kron(np.eye(3, dtype=np.uint32), 1 << np.arange(32, dtype=np.uint32)[:, None])
    flipped, correlated = (np.stack(x) for x in zip(*(_flip(keys, counter, mask) for mask in masks), strict=True))
    rows = []
    for bits, which in (
        ("key", slice(0, 64)),
        ("counter, bits 0-12", slice(64, 77)),
        ("counter, bits 13-31", slice(77, 96)),
    ):
        rate = flipped[which] / n
        z = (rate - 0.5) * 2 * math.sqrt(n)
        worst = float(np.abs(z).max())
        p = {"chi2": stats.chi2.sf((z * z).sum(), z.size), "max": of_maximum(worst, z.size)}
        value = f"rate {rate.mean():.6f}, worst of {z.size} off by {np.abs(rate - 0.5).max():.4f}, z {worst:.2f}"
        rows.append(row(f"one bit of {bits}", "avalanche", n, value, p))
        rows.append(largest(f"one bit of {bits}", "normals", n, correlated[which].ravel()))
    return rows


def key_collisions(n: int, seed: int) -> list[dict]:
    """Keys of n successive ``fold_in``: words that repeat as random ones do, pairs that never repeat."""
    fold = jax.jit(lambda index: jax.random.key_data(_update_keys(jnp.uint32(seed), index)))
    words = np.asarray(fold(jnp.arange(n, dtype=jnp.uint32)))
    expected = n + 2.0**32 * math.expm1(n * math.log1p(-(2.0**-32)))
    rows = []
    for half in (0, 1):
        repeats = n - np.unique(words[:, half]).size
        p = {"z": two_sided((repeats - expected) / math.sqrt(expected))}
        rows.append(row("fold_in", f"word {half} of keys", n, f"{repeats} repeats (random: {expected:.0f})", p))
    repeats = n - np.unique(words.view(np.uint64)).size
    p = {"one or more": n**2 / 2**65} if repeats else {}
    return [*rows, row("fold_in", "whole keys", n, f"{repeats} repeats", p)]


def known_structure(count: int, seed: int) -> list[dict]:
    """What no random stream has, and this one does: measured, not judged."""
    repeats = windows = 0
    for chunk in itertools.islice(chunks("updates", seed), count):
        ordered = np.sort(chunk, axis=1)
        repeats, windows = repeats + int((ordered[:, 1:] == ordered[:, :-1]).sum()), windows + len(chunk)
    expected = windows * WINDOW * (WINDOW - 1) / 2**33
    rows = [row("updates", "repeated words", windows * WINDOW, f"{repeats} (random: {expected:.0f})", {})]
    n, keys = 2**16, jnp.asarray(np.random.default_rng(seed).integers(2**32, size=(64, 2), dtype=np.uint32))
    counter = jnp.arange(n, dtype=jnp.uint32)
    for delta in DELTAS:
        products, lags = [], []
        for key in keys:
            multiplier = int(prng._finish(key[0] ^ np.uint32(0x9E3779B9), key[1])) | 1  # as in prng.mix
            lag = delta * pow(multiplier, -1, 2**32) % 2**32
            z, far = (prng.normal_from_bits(prng.mix(c, key)) for c in (counter, counter + np.uint32(lag)))
            products.append(float(jnp.dot(z, far)) / n)
            lags.append(min(lag, 2**32 - lag))
        value = f"r = {np.mean(products):+.3f} at lags {min(lags)} to {max(lags)}, multiples of {math.gcd(*lags)}"
        rows.append(row("64 keys", f"lag of {delta:#x}", len(keys) * n, value, {}))
    return rows


# -- all of it -------------------------------------------------------------------------


def parts(args: Args, program: str) -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    quick, seed = args.quick, args.seed
    orders = [*STREAMS, "updates, across", "members, across", "seeds, across"]
    jobs = [("smallcrush", view, 0, name) for name in orders for view in ("plain", "reversed", "normal")]
    jobs += [("rabbit", "plain", 2**26, name) for name in STREAMS]
    jobs += [("alphabit", "plain", 2**32, name) for name in STREAMS]
    if quick:
        jobs = [("smallcrush", "plain", 0, "updates"), ("smallcrush", "reversed", 0, "members, across")]
        jobs += [("rabbit", "normal", 2**22, "seeds"), ("alphabit", "plain", 2**26, "single key")]
    if args.crush:
        jobs.append(("crush", "plain", 0, "updates"))
    for job in jobs:
        yield " ".join(map(str, job)), partial(testu01, program, *job, seed)
    yield "distribution of normals", partial(distribution, 2**26 if quick else 2**30, 1 if quick else 32, seed)
    for name in ("updates", "members", "seeds"):
        yield f"correlations of {name}", partial(correlations, name, 1 if quick else 16, seed)
    yield "avalanche", partial(avalanche, 2**16 if quick else 2**20, seed)
    yield "key collisions", partial(key_collisions, 2**20 if quick else 2**24, seed)
    yield "known structure", partial(known_structure, 1 if quick else 16, seed)


def table(rows: list[dict]) -> str:
    lines = ["| stream | test | values | result | p outside |", "|---|---|---|---|---|"]
    for r in rows:
        p = list(r["p"].values())
        result = "; ".join([r["value"], *(f"p = {x:.3g}" for x in p)]) if len(p) < 3 else r["value"]
        cells = [r["stream"], r["test"], f"{r['n']:.3g}", result, f"{r['outside']} of {len(p)}" if p else "-"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def cpu_seconds() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main(args: Args) -> int:
    rows: list[dict] = []
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, run in parts(args, compiled(folder)):
            if args.match not in name:
                continue
            before = cpu_seconds()
            new = run()
            for r in new:
                r["outside"] = sum(not SUSPECT <= p <= 1 - SUSPECT for p in r["p"].values())
            rows += new
            print(f"{name}: {cpu_seconds() - before:.0f} s of CPU", file=sys.stderr, flush=True)
    every = [p for r in rows for p in r["p"].values()]
    total = {
        "p_values": len(every),
        "outside": sum(r["outside"] for r in rows),
        "expected_outside": round(2 * SUSPECT * len(every), 1),
        "testu01_words": sum(r["n"] for r in rows if len(r["p"]) > 2),
        "cpu_seconds": round(cpu_seconds()),
        "seconds": round(time.perf_counter() - started),
    }
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"seed": args.seed, "total": total, "rows": rows}, indent=1))
    print(table(rows), "", ", ".join(f"{k} {v}" for k, v in total.items()), sep="\n")
    for r in rows:
        for test, p in r["p"].items():
            if not SUSPECT <= p <= 1 - SUSPECT:
                print(f"suspicious: {r['stream']}, {r['test']}, {test}: p = {p:.3g} (1 - p = {1 - p:.3g})")
    return int(any(not CLEAR <= p <= 1 - CLEAR for p in every))


if __name__ == "__main__":
    try:
        sys.exit(main(script_options(Args, __doc__)))
    except UserError as error:
        sys.exit(f"error: {error}")
