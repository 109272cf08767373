"""``langevin-dqn run --bsuite-csv``: logs that bsuite reads, and nothing lost."""

import pytest

SMALL = ["run", "--agent", "dqn", "--env", "deep_sea/0", "--episodes", "12", "--set", "hidden=5,5", "--json"]
NAME = "bsuite_id_-_deep_sea-0.csv"


@pytest.fixture
def run(langevin_dqn_command, quick_compilation):
    return langevin_dqn_command


@pytest.mark.slow
def test_one_seed_goes_to_the_folder_and_several_to_their_own(run, tmp_path):
    csv_load = pytest.importorskip("bsuite.logging.csv_load")
    assert run(*SMALL, "--bsuite-csv", tmp_path / "one")[0] == 0
    assert run(*SMALL, "--bsuite-csv", tmp_path / "two", "--seeds", "0-1")[0] == 0
    one = (tmp_path / "one" / NAME).read_text()
    assert one == (tmp_path / "two" / "seed_0" / NAME).read_text()
    assert one != (tmp_path / "two" / "seed_1" / NAME).read_text()
    assert csv_load.load_one_result_set(str(tmp_path / "one"))["episode"].max() == 12


def test_nothing_is_replaced_without_being_asked(run, tmp_path):
    (tmp_path / "seed_1").mkdir()
    (tmp_path / "seed_1" / NAME).write_text("precious")
    words = [*SMALL, "--seeds", "0-1", "--bsuite-csv", tmp_path]
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert NAME in err.splitlines()[0]
    assert "--overwrite" in err.splitlines()[1]
    assert (tmp_path / "seed_1" / NAME).read_text() == "precious"
    assert not (tmp_path / "seed_0" / NAME).exists()
    assert run(*words, "--overwrite")[0] == 0
    assert (tmp_path / "seed_1" / NAME).read_text().startswith("steps,episode,total_return")


@pytest.mark.parametrize("case", ["not a bsuite id", "a file where the folder should be"])
def test_bad_input(run, tmp_path, case):
    folder = tmp_path / "out"
    words = [*SMALL, "--bsuite-csv", folder]
    if case == "not a bsuite id":
        words += ["--env", "deep_sea:depth=10"]
    else:
        folder.write_text("")
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert [line.split(":")[0] for line in err.splitlines()] == ["error", "hint"]
