"""Numbers, texts and paths that no run can use: one line, one hint, exit code 2, and nothing is trained."""

import pytest

RUN = ["run", "--agent", "dqn", "--env", "deep_sea:depth=4", "--episodes", "3"]
LONG = "x" * 300


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*RUN[:-1], "10000000000"], "--episodes 10000000000 is out of range\nhint: --episodes must be at most"),
        ([*RUN, "--steps", "1" + 30 * "0"], "--steps (more than 20 digits) is out of range"),
        ([*RUN, "--seeds", "99999999999"], "seed=99999999999 is out of range\nhint: seed must be at most 4294967295"),
        ([*RUN, "--seeds", "9" * 5000], "seed=(more than 20 digits) is out of range"),
        ([*RUN, "--seeds", "0-99999999"], "too many seeds in '0-99999999'\nhint: at most 100,000"),
        ([*RUN, "--metrics-every", "0"], "--metrics-every 0 is out of range\nhint: --metrics-every must be at least 1"),
        ([*RUN[:-1], "1e3"], "--episodes 1e3 is not a whole number\nhint: for example, --episodes 100"),
        ([*RUN, "--checkpoint-every", "x"], "--checkpoint-every x is not a number\nhint: for example"),
        ([*RUN, "--set", "hidden=100000000000"], "hidden is out of range\nhint: use at most 100 layers"),
        ([*RUN, "--set"], "--set has no value\nhint: write --set VALUE"),
        ([*RUN, "--set", "--json"], "--set has no value"),
        ([*RUN, "--plot", ""], "--plot '' cannot be used\nhint: give --plot a value"),
        ([*RUN, "--plot", "/proc/a.png"], "cannot write to /proc"),
        ([*RUN, "--plot", f"{LONG}.png"], "the name of the file is too long\nhint: use at most 255 bytes"),
        ([*RUN, "--store", LONG], "File name too long\nhint: use a shorter name"),
        (["evaluate", LONG], "File name too long\nhint: use a shorter name"),
        (["evaluate", "agent.npz", "--seed", "-1"], "--seed -1 is out of range\nhint: --seed must be at least 0"),
        (["status", "--store", LONG], "File name too long\nhint: use a shorter name"),
        ([*RUN, "--env", "deep_sea/3:depth=4"], "deep_sea/3:depth=4: an id with a number takes no settings"),
        ([*RUN, "--env", "deep_sea:depth=5,depth=6"], "setting 'depth' is given twice\nhint: keep one of"),
        ([*RUN, "--env", "cartpole/99"], "cartpole has no setting 99\nhint: ids run from cartpole/0 to cartpole/19"),
        (["bsuite", "--settings", "quik"], "unknown value of --settings 'quik'\nhint: did you mean 'quick'?"),
        (["bench", "--solve-limit", "-1"], "--solve-limit -1 is out of range\nhint: --solve-limit must be at least 0"),
        (["compare", "--agents", "dqm", "--env", "catch"], "unknown agent 'dqm'\nhint: did you mean 'dqn'?\n"),
        ([*RUN, "--env", "dm:sys:exit"], "dm:sys:exit cannot be made: SystemExit"),
    ],
)
def test_it_is_refused(langevin_dqn_command, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = langevin_dqn_command(*words)
    assert code == 2
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 2
    assert message in err
    assert not list(tmp_path.iterdir())


def test_a_picture_in_a_file(langevin_dqn_command, tmp_path):
    (tmp_path / "file").touch()
    code, _, err = langevin_dqn_command(*RUN, "--plot", str(tmp_path / "file" / "a.png"))
    assert (code, "file is not a folder\nhint: use the name of a file in a folder" in err) == (2, True)
