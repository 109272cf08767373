"""Our log is what bsuite's logger writes for the same episodes, and its loader reads it."""

import numpy as np
import polars as pl
import pytest

from langevin_dqn import AgentConfig, UserError, train
from langevin_dqn.analysis import bsuite_log
from langevin_dqn.runs.result import Result

bsuite = pytest.importorskip("bsuite")
csv_load = pytest.importorskip("bsuite.logging.csv_load")
wrappers = pytest.importorskip("bsuite.utils.wrappers")

# One id per environment that logs columns of its own, with its number of actions.
ENVIRONMENTS = {
    "bandit/0": 11, "catch/0": 3, "cartpole/0": 3, "cartpole_swingup/0": 3, "mountain_car/0": 3, "deep_sea/0": 2,
    "deep_sea_stochastic/0": 2, "memory_len/3": 2, "umbrella_length/3": 2, "discounting_chain/0": 5, "catch_noise/4": 3,
}  # fmt: skip


class Rows(list):
    """A logger that keeps what bsuite writes to it."""

    write = list.append


def play(env, episodes, actions, rng):
    """Random actions in bsuite's environment: per-episode returns, lengths and what ``bsuite_info`` grew by."""
    returns, lengths, infos = [], [], [env.bsuite_info()]
    for _ in range(episodes):
        timestep = env.reset()
        total, steps = 0.0, 0
        while not timestep.last():
            timestep = env.step(rng.integers(actions))
            total, steps = total + timestep.reward, steps + 1
        returns.append(total)
        lengths.append(steps)
        infos.append(env.bsuite_info())
    measures = {name: np.diff([float(info[name]) for info in infos]) for name in infos[0]}
    if "best_episode" in measures:
        measures["best_episode"] = np.array(returns)
    return np.array(returns), np.array(lengths), measures


def result_of(env_id, returns, lengths, measures):
    return Result("dqn", env_id, 0, "paper", AgentConfig(), None, returns, 0, 0.0, lengths, measures)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_rows_are_those_of_bsuites_logger(env_id):
    rows = Rows()
    env = wrappers.Logging(bsuite.load_from_id(env_id), rows)
    result = result_of(env_id, *play(env, 30, ENVIRONMENTS[env_id], np.random.default_rng(0)))
    log = bsuite_log.log_of(result)
    assert log.columns == list(rows[0])
    assert len(log) == len(rows) == 16
    for name in log.columns:
        assert log[name].to_list() == pytest.approx([row[name] for row in rows], abs=1e-6), name


@pytest.fixture
def trained(quick_compilation):
    return train("dqn", "deep_sea/0", preset="paper", seed=0, episodes=25, hidden=(5, 5))


def test_bsuite_reads_our_files(tmp_path, trained):
    path = bsuite_log.write_csv(trained, tmp_path)
    assert path.name == "bsuite_id_-_deep_sea-0.csv"
    read = csv_load.load_one_result_set(str(tmp_path))
    ours = bsuite_log.logs_of([trained])
    for name in ours.columns:
        assert read[name].tolist() == ours[name].to_list(), name
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_run_logs_what_its_episodes_add_up_to(trained):
    last = bsuite_log.log_of(trained).row(-1, named=True)
    assert last["episode"] == 25
    assert last["steps"] == 250
    assert last["total_return"] == pytest.approx(trained.total_return)
    assert last["total_bad_episodes"] == trained.measures["total_bad_episodes"].sum()


def test_logs_of_several_runs_carry_their_settings():
    runs = [
        result_of(env_id, np.ones(12), np.ones(12, int), {column: np.ones(12)})
        for env_id, column in (("deep_sea/3", "total_bad_episodes"), ("catch_noise/19", "total_regret"))
    ]
    logs = bsuite_log.logs_of(runs)
    assert logs.filter(bsuite_id="deep_sea/3")["size"].unique().to_list() == [16]
    assert logs.filter(bsuite_id="catch_noise/19")["noise_scale"].unique().to_list() == [10.0]
    assert logs.filter(bsuite_env="catch_noise")["total_bad_episodes"].null_count() == 11
    assert logs.filter(bsuite_env="deep_sea").select(pl.col("total_bad_episodes").max()).item() == 12


@pytest.mark.parametrize("env_id", ["deep_sea/21", "deep_sea", "deep_sea:depth=10", "deep_see/0", "deep_sea/-1"])
def test_only_bsuite_ids_have_a_file(env_id):
    with pytest.raises(UserError, match="not a bsuite id"):
        bsuite_log.csv_path("somewhere", env_id)
