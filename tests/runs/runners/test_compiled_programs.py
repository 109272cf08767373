"""A long sweep does not keep every program it ever compiled."""

import jax

from langevin_dqn import training
from langevin_dqn.runs.runners import Job, job


def test_programs_are_dropped_after_so_many_kinds_of_runs(monkeypatch):
    cleared, trained = [], []
    monkeypatch.setattr(job, "_compiled", set())
    monkeypatch.setattr(job, "_MOST_COMPILED", 2)
    monkeypatch.setattr(jax, "clear_caches", lambda: cleared.append(True))
    monkeypatch.setattr(training, "train", lambda agent, env, **_: trained.append(env))
    seen = []
    for name in ("value", "action", "value", "policy", "value"):
        Job("dqn", f"probe_{name}", 0, 1, preset="paper").run()
        seen.append(len(cleared))
    assert seen == [0, 0, 0, 1, 1]
    assert len(trained) == 5
