"""The tables of ``langevin-dqn bench``."""

from langevin_dqn.bench import environments
from langevin_dqn.cli import bench


def test_ids_are_whole_in_80_columns(tmp_path, monkeypatch, capsys):
    name = "deep_sea_stochastic/10"
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(environments, "measure", lambda **_: [{}])
    monkeypatch.setattr(environments, "cells", lambda _: [name, *["123.4 M/s"] * 5])
    monkeypatch.setattr(environments, "markdown", lambda _: "")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: True)
    assert bench._environments(bench.Args(environments=True), tmp_path, 0) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"{name} ") for line in lines)
    assert max(map(len, lines[:-1])) <= 80  # the last one names the folder
