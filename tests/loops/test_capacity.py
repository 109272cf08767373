"""Room for results and replay: the same for many budgets."""

from langevin_dqn import make_env, train
from langevin_dqn.environments.base import ArraySpace
from langevin_dqn.loops import compiled
from langevin_dqn.loops.capacity import exact_room, rounded_room, rounded_steps


def test_budgets_share_a_room():
    sea = make_env("deep_sea:depth=10")
    rooms = {rounded_room(sea, episodes, None) for episodes in (1, 2, 700, 1024)}
    assert len(rooms) == 1
    assert rounded_room(sea, 1025, None).episodes == 2048
    for episodes, steps in ((1, None), (5000, None), (9000, 70_001), (3, 3)):
        needed, room = exact_room(sea, episodes, steps), rounded_room(sea, episodes, steps)
        assert room.episodes >= needed.episodes
        assert room.steps >= needed.steps


def test_large_observations_get_no_more_than_they_need():
    assert rounded_steps(ArraySpace((84, 84)), 1000) == 1000
    assert rounded_steps(ArraySpace((4,)), 1000) == 2**16
    assert rounded_steps(ArraySpace((4,)), None) is None


def test_another_budget_compiles_nothing():
    settings = {"hidden": (3,), "batch_size": 8, "keep_agent": True}
    short = train("dqn", "probe_action", episodes=4, **settings)
    program = compiled.RUN_CHUNK.compiled_for(short.trained.agent, make_env("probe_action"))
    before = program._cache_size()
    long = train("dqn", "probe_action", episodes=9, **settings)
    assert program._cache_size() == before
    assert long.returns[:4].tolist() == short.returns.tolist()
