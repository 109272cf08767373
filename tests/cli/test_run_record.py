"""``langevin-dqn run --record``: what it gives, and what it refuses."""

import json

import pytest

SMALL = ["run", "--agent", "langevin_dqn", "--env", "deep_sea:depth=4", "--episodes", "21", "--set", "hidden=5,5"]


@pytest.mark.slow
def test_the_record_is_in_the_json_and_on_the_maps(langevin_dqn_command, tmp_path):
    maps = tmp_path / "maps.png"
    code, out, err = langevin_dqn_command(*SMALL, "--record", "q", "--json", "--maps", str(maps))
    assert code == 0
    (line,) = out.splitlines()
    record = json.loads(line)["record"]
    assert record["episodes"] == [10, 20]
    assert [len(m) for m in record["spread"]] == [16, 16]
    assert sum(record["visits"][1]) == 19 * 4
    assert maps.stat().st_size > 5_000
    assert "maps.png" in err


@pytest.mark.slow
def test_without_it_there_is_no_record(langevin_dqn_command):
    code, out, _ = langevin_dqn_command(*SMALL, "--json")
    assert code == 0
    assert "record" not in json.loads(out)


@pytest.mark.parametrize(
    "words",
    [
        ["--record", "p", "--json"],
        ["--record", "q"],
        ["--maps", "maps.png"],
        ["--record", "q", "--maps", "maps.txt"],
        ["--record", "q", "--json", "--env", "cartpole"],
        ["--record", "q", "--json", "--env", "gym:CliffWalking-v1"],
        ["--record", "q", "--maps", "maps.png", "--env", "catch"],
        ["--record", "q", "--json", "--env", "deep_sea:depth=90"],
        ["--record", "q", "--json", "--set", "row_updates=lazy", "--set", "regularizer=0"],
    ],
    ids=" ".join,
)
def test_mistakes_are_a_line_and_a_hint(langevin_dqn_command, words):
    code, out, err = langevin_dqn_command(*SMALL, *words)
    assert code == 2
    assert out == ""
    error, hint = err.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
