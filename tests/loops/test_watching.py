"""Metrics: they change nothing, cost nothing when off, and say what one would compute by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from on_the_host import OnTheHost
from own_agents import SixMethods

import langevin_dqn
from langevin_dqn import keys, stopping, train
from langevin_dqn.agents.registry import resolve_agent
from langevin_dqn.loops import compiled
from langevin_dqn.runs import training_run

SEA = "deep_sea:depth=4"
SMALL = {"hidden": (5,), "batch_size": 8}
COLUMNS = [
    "episode", "steps", "updates", "seconds", "return", "length", "regret", "loss", "td_error", "gradient_norm",
    "q_mean", "q_spread", "epsilon", "replay_size", "steps_per_second", "updates_per_second",
]  # fmt: skip
CLOCK = {"seconds", "steps_per_second", "updates_per_second"}

pytestmark = pytest.mark.usefixtures("quick_compilation")


def without_clock(rows):
    return [{name: value for name, value in row.items() if name not in CLOCK} for row in rows]


KINDS = {
    "table": ("langevin_dqn", SEA, {}),
    "lazy": ("ensemble_langevin_dqn", SEA, {"members": 2, "row_updates": "lazy"}),
    "bootstrapped": ("boot_dqn", "catch/0", {"members": 2, "insertion": "buffers"}),
    "host": ("dqn", "gym:CartPole-v1", {"buffer_size": 300}),
}


@pytest.mark.parametrize("kind", ["table", *(pytest.param(k, marks=pytest.mark.slow) for k in list(KINDS)[1:])])
def test_a_run_with_metrics_is_the_run_without(kind):
    """Returns and every number of the agent's state, to the bit; the program of the loop is the very same."""
    agent, env, changes = KINDS[kind]
    run = {"seed": 2, "episodes": 12, "keep_agent": True, **SMALL, **changes}
    plain = train(agent, env, **run)
    programs = sum(program._cache_size() for program in compiled.RUN_CHUNK._compiled.values())
    rows = []
    watched = train(agent, env, on_metrics=rows.append, metrics_every=9, **run)
    assert sum(program._cache_size() for program in compiled.RUN_CHUNK._compiled.values()) == programs
    assert watched.returns.tobytes() == plain.returns.tobytes()
    for one, other in zip(*(jax.tree.leaves(result.trained.state) for result in (plain, watched)), strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
    assert [list(row) for row in rows] == [COLUMNS] * len(rows)
    assert all(np.isfinite(row["loss"]) and row["td_error"] >= 0 and row["gradient_norm"] >= 0 for row in rows)
    assert rows[-1]["episode"] == 12
    assert rows[-1]["replay_size"] == plain.steps or kind == "bootstrapped"


@pytest.mark.parametrize("env", [SEA, OnTheHost])
def test_rows_come_at_stated_steps_and_cover_every_episode(env):
    """Episodes of four steps, a row every ten: after steps 12, 20, 32 and 40, and at the end."""
    rows = []
    make = env if env is SEA else env(SEA)
    result = train(SixMethods(), make, episodes=12, on_metrics=rows.append, metrics_every=10)
    assert [row["steps"] for row in rows] == [12, 20, 32, 40, 48]
    assert [row["episode"] for row in rows] == [3, 5, 8, 10, 12]
    for row, first, last in zip(rows, (0, 3, 5, 8, 10), (3, 5, 8, 10, 12), strict=True):
        assert row["return"] == pytest.approx(result.returns[first:last].mean())
        assert row["length"] == 4
        assert row["steps_per_second"] > 0
    if env is SEA:
        assert rows[-1]["regret"] == pytest.approx(result.regret)
    assert rows[-1]["updates"] == result.updates == 0


def test_an_agent_from_outside_has_the_columns_that_every_run_has():
    rows = []
    train(SixMethods(), SEA, episodes=3, on_metrics=rows.append)
    assert list(rows[0]) == [name for name in COLUMNS if COLUMNS.index(name) < 7 or "per_second" in name]


class Talks(SixMethods):
    """Says more of itself than numbers; what is no number is left out."""

    def statistics(self, state):
        return {"updates": state.learned, "pulls": state.count, "zeal": 0.5}

    def metrics(self, key, state):
        return self.statistics(state) | {"draw": jax.random.uniform(key), "loss": jnp.nan}


def test_an_agent_adds_columns_of_its_own():
    rows = []
    agent = langevin_dqn.pytrees.pytree(Talks)(1.0)
    result = train(agent, SEA, episodes=12, on_metrics=rows.append, metrics_every=4)
    assert list(rows[0])[7:10] == ["loss", "draw", "zeal"]
    assert rows[0]["loss"] is None
    assert rows[0]["zeal"] == 0.5
    assert len({row["draw"] for row in rows}) == 12  # another key for every row
    assert rows[-1]["updates"] == result.updates == 11 * 4


@pytest.mark.slow
def test_what_a_row_says_is_what_one_computes():
    """Loss, TD error, gradient and values of the minibatch that the key draws, by hand, of an ensemble with a prior."""
    env = langevin_dqn.make_env(SEA)
    changes = {"members": 3, "row_updates": "dense", "prior_std": 0.5, "regularizer": 0.1, **SMALL}
    rows = []
    train("ensemble_langevin_dqn", env, episodes=6, seed=4, on_metrics=rows.append, **changes)
    agent = resolve_agent("ensemble_langevin_dqn", env, changes=changes).agent
    key = keys.run_key(4)
    limits = compiled.Limits(np.int32(6), np.int32(999), np.int32(999), np.float32(-np.inf))
    state = compiled.run_chunk(agent, env, key, compiled.begin(agent, env, key, 6), limits).state
    batch_key, _ = jax.random.split(keys.metrics_key(key, 6))
    problem = agent._problem_now(state)
    batch, num_data = problem.minibatches(batch_key, state.replay)
    losses, errors, norms = [], [], []
    for m in range(3):
        own = jax.tree.map(lambda x, m=m: x[m], batch)
        params, target = (
            jax.tree.map(lambda x, m=m: x[m], tree) for tree in (state.learner.params, state.learner.target)
        )

        def loss(params, own=own, target=target):
            q = jax.vmap(lambda o: agent.network.apply(params, jnp.minimum(o, 15)))(own.obs)[jnp.arange(8), own.action]
            after = jnp.stack([target[jnp.minimum(o, 15)] for o in own.next_obs]) + own.extras["next_prior"]
            goal = own.reward + agent.settings.discount * own.continues * after.max(-1) - own.extras["prior"]
            return ((goal - q) ** 2).mean(), goal - q

        (value, error), slope = jax.value_and_grad(loss, has_aux=True)(params)
        penalty = 2 * 0.1 * agent.settings.noise_variance / num_data[m]
        slope = jax.tree.map(lambda g, p, penalty=penalty: g + penalty * p, slope, params)
        losses.append(value)
        errors.append(jnp.abs(error).mean())
        norms.append(jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(slope))))
    scale = state.scale.scale
    q = jnp.stack([agent.ensemble_values(state, o) for o in batch.obs[0]])
    assert rows[-1]["loss"] == pytest.approx(float(jnp.stack(losses).mean()), rel=1e-4)
    assert rows[-1]["td_error"] == pytest.approx(float(jnp.stack(errors).mean() * scale), rel=1e-4)
    assert rows[-1]["gradient_norm"] == pytest.approx(float(jnp.stack(norms).mean()), rel=1e-4)
    assert rows[-1]["q_mean"] == pytest.approx(float(q.mean()), rel=1e-4)
    assert rows[-1]["q_spread"] == pytest.approx(float(q.std(1).mean()), rel=1e-4)
    assert rows[-1]["epsilon"] == 0
    assert rows[-1]["replay_size"] == 24


@pytest.mark.slow
def test_lazy_rows_are_seen_as_dense_ones():
    """Without noise both learners make the same updates, and so the same metrics but for rounding."""
    found = []
    for rows in ("lazy", "dense"):
        seen = []
        changes = {"row_updates": rows, "members": 2, "noise_variance": 0.0, "updates_per_step": 4, **SMALL}
        train("ensemble_langevin_dqn", SEA, episodes=40, seed=1, on_metrics=seen.append, metrics_every=20, **changes)
        found.append(seen)
    for lazy, dense in zip(*found, strict=True):
        for name in ("loss", "td_error", "gradient_norm", "q_mean", "q_spread"):
            assert lazy[name] == pytest.approx(dense[name], rel=0.02, abs=1e-4), (name, lazy["episode"])


@pytest.mark.parametrize("moment", [0, 3, 9])
def test_rows_of_a_resumed_run_are_those_of_one_left_alone(tmp_path, monkeypatch, moment):
    monkeypatch.setattr(training_run, "_CHUNK_SECONDS", 0.0)
    run = {"agent": SixMethods(), "env": SEA, "episodes": 12, "metrics_every": 10}
    whole, parts, seen = [], [], []
    train(on_metrics=whole.append, **run)

    def stop(result):
        if len(seen) == moment:
            stopping.request(2)
        seen.append(result)

    try:
        train(on_metrics=parts.append, checkpoint=tmp_path, progress=stop, **run)
    except KeyboardInterrupt:
        train(on_metrics=parts.append, resume=tmp_path, **run)
    assert without_clock(parts) == without_clock(whole)
    train(on_metrics=parts.append, resume=tmp_path, **run)  # it has ended: no more rows
    assert len(parts) == len(whole)


def test_compiling_is_counted_apart():
    first = train("dqn", "probe_action", episodes=7, hidden=(3,), batch_size=8)
    again = train("dqn", "probe_action", episodes=7, hidden=(3,), batch_size=8, seed=1)
    assert first.compile_seconds > first.seconds > 0
    assert again.compile_seconds < 0.2 * first.compile_seconds
    assert first.to_dict()["compile_seconds"] == round(first.compile_seconds, 3)
