"""What bsuite itself scores made-up logs with: the data behind tests/analysis/test_bsuite_scores.py.

bsuite 0.3.5's analysis does not import beside current libraries, so this runs in an environment of its own:

    python3.11 -m venv old
    old/bin/pip install numpy==1.24.4 pandas==1.5.3 matplotlib==3.7.5 plotnine==0.10.1 mizani==0.8.1 \
        scipy==1.10.1 statsmodels==0.14.0 dm_env frozendict scikit-image termcolor absl-py six requests polars
    old/bin/pip install --no-deps bsuite==0.3.5
    old/bin/python tools/bsuite_score_oracle.py tests/data

It writes bsuite_logs.parquet (six made-up agents on all settings) and bsuite_expected.json (bsuite's scores per
experiment and tag; null where bsuite has none).
"""

import json
import math
import sys
import warnings
from pathlib import Path

if "--help" in sys.argv[1:]:
    print(__doc__, end="")
    sys.exit(0)
if len(sys.argv) != 2:
    print("error: no folder to write to\nhint: python tools/bsuite_score_oracle.py tests/data", file=sys.stderr)
    sys.exit(2)
try:
    import numpy as np
    import pandas as pd
    import polars as pl
    from bsuite import sweep
    from bsuite.experiments import summary_analysis
    from bsuite.experiments.deep_sea import analysis as deep_sea_analysis
    from bsuite.logging import logging_utils
except (ImportError, OSError) as error:  # a newer matplotlib has no style of the name that bsuite uses
    print(
        f"error: bsuite's analysis cannot be imported here: {error}".splitlines()[0],
        "hint: python tools/bsuite_score_oracle.py --help shows how to make an environment for it",
        sep="\n",
        file=sys.stderr,
    )
    sys.exit(2)

# Some of bsuite's logged episodes: enough for every rule, few enough for a small file.
LOGGED = (1, 3, 10, 30, 100, 120, 250, 500, 700, 900, 1000, 1200, 2500, 5000, 9000, 10000)
AGENTS = ("random", "halfway", "perfect", "partial", "diverging", "stopped")


def skill(agent, rng):
    """Episodes until it acts well, and how well it acts then, from 0 (as at random) to 1."""
    if agent == "random":
        return math.inf, 0.0
    if agent == "perfect":
        return rng.integers(1, 200), 1.0
    return 10 ** rng.uniform(1, 4.5), rng.uniform(0.3, 1)


def stops(agent, rng, episodes):
    """The last episode it runs: fewer for runs that were cut short or broke down."""
    if agent == "partial" and rng.random() < 0.5:
        return rng.choice([120, 700, 900])
    if agent == "stopped":
        return 500
    if agent == "diverging" and rng.random() < 0.2:
        return rng.choice([30, 500])
    return episodes


def made_up_run(agent, bsuite_id, rng):
    experiment = bsuite_id.split("/")[0]
    learned, quality = skill(agent, rng)
    last = stops(agent, rng, sweep.EPISODES[bsuite_id])
    episode = np.array([e for e in LOGGED if e <= last])
    good = quality * np.maximum(episode - learned, 0)  # episodes that went well, in expectation
    bad = episode - good
    base = experiment.replace("_noise", "").replace("_scale", "")
    best_return, worst_return = {
        "cartpole": (1000, 50), "cartpole_swingup": (600, -5), "mountain_car": (-110, -1000),
        "discounting_chain": (1.1, 1.0), "memory_len": (1, 0), "memory_size": (1, 0),
        "deep_sea": (0.99, 0), "deep_sea_stochastic": (0.4, 0),
    }.get(base, (1, -1))  # fmt: skip
    total = np.round(best_return * good + worst_return * bad, 2)
    columns = {"total_return": total}
    if base in ("bandit", "catch", "mnist", "umbrella_length", "umbrella_distract"):
        columns["total_regret"] = np.round({"bandit": 0.5, "mnist": 1.8, "catch": 1.6}.get(base, 1.0) * bad)
    elif base in ("memory_len", "memory_size"):
        columns["total_perfect"] = np.round(good + 0.5 * bad)
    elif base.startswith("deep_sea"):
        columns["total_bad_episodes"] = np.floor(bad)
    elif base != "discounting_chain":
        columns["raw_return"] = np.round(total)
        if base != "mountain_car":
            columns["best_episode"] = np.round(np.where(good > 0, quality * best_return, worst_return))
    return pd.DataFrame({"agent": agent, "bsuite_id": bsuite_id, "episode": episode, **columns})


def number(value):
    return None if math.isnan(value) else float(value)


def main(folder):
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    logs = pd.concat([made_up_run(agent, i, rng) for agent in AGENTS for i in sweep.SWEEP])
    expected = {}
    for agent, mine in logs.groupby("agent"):
        table = logging_utils.join_metadata(mine)
        scores = summary_analysis.bsuite_score(table)
        by_tag = summary_analysis.ave_score_by_tag(scores, [])
        seas = table[table.bsuite_env == "deep_sea"]
        loose = deep_sea_analysis.find_solution(seas, thresh=0.9)
        beats = loose.solved & (loose.episode < 2 ** loose["size"] + 100)
        expected[agent] = {
            "scores": {row.bsuite_env: number(row.score) for row in scores.itertuples()},
            "finished": {row.bsuite_env: bool(row.finished) for row in scores.itertuples()},
            "tags": {row.tag: number(row.score) for row in by_tag.sort_values("tag").itertuples()},
            "deep_sea at 0.9": number(np.mean(beats)),
        }
    numbers = pl.from_pandas(logs.reset_index(drop=True)).with_columns(pl.col("episode").cast(pl.Int32))
    numbers.write_parquet(folder / "bsuite_logs.parquet", compression="zstd", compression_level=22)
    (folder / "bsuite_expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    print(f"{len(logs)} rows, {(folder / 'bsuite_logs.parquet').stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
