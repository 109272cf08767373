"""The kinds of cases: for each, a strategy, and what is done with a value of it in a folder."""

import contextlib
import io
import json
import warnings
from unittest import mock

import numpy as np
import spoiled
import words
from harness import Broken, ask, call
from hypothesis import strategies as st

from langevin_dqn import evaluate as EVALUATE  # noqa: N812  # before it is replaced

KINDS = {}


def kind(strategy):
    def register(case):
        KINDS[case.__name__] = (strategy, case)
        return case

    return register


# -- configuration and Python ---------------------------------------------------------

values = (
    st.sampled_from(spoiled.WRONG)
    | st.floats()
    | st.integers()
    | words.names
    | st.booleans()
    | st.just(np.float64(2))
    | st.just(np.array([1, 2]))
)


@st.composite
def changes(draw):
    from langevin_dqn.config import FIELD_TYPES

    return draw(st.dictionaries(st.sampled_from(sorted(FIELD_TYPES)) | words.names, values, max_size=3))


@kind(changes())
def configuration(folder, given):
    from langevin_dqn import AgentConfig, preset

    ask(AgentConfig().replace, **given)
    ask(AgentConfig.from_dict, given)
    made = ask(preset, "dqn", "paper", **given)
    if made is not None:
        json.dumps(made.to_dict(), allow_nan=False)
        for name, value in given.items():
            if isinstance(value, float) and isinstance(getattr(AgentConfig(), name, None), int):
                raise Broken(f"{name}={value!r} was taken for a whole number")


@kind(
    st.tuples(
        st.sampled_from(
            ["train", "train_seeds", "sweep", "evaluate", "load_agent", "save_agent", "job", "log", "load_results"]
        ),
        words.agents,
        words.env_ids,
        st.dictionaries(
            st.sampled_from(
                [
                    "seed",
                    "seeds",
                    "episodes",
                    "steps",
                    "preset",
                    "network",
                    "stop_when_solved",
                    "check_every",
                    "keep_agent",
                    "record",
                    "checkpoint_every",
                    "metrics_every",
                    "hidden",
                    "members",
                    "learning_rate",
                    "workers",
                    "how",
                    "runner",
                    "grid",
                ]
            ),
            values,
            max_size=3,
        ),
        values,
    )
)
def python_api(folder, given):
    import langevin_dqn
    from langevin_dqn import seeds, training
    from langevin_dqn.runs.runners import Job

    what, agent, env, options, value = given
    if what == "evaluate":  # what is no trained agent
        ask(EVALUATE, value, env, **_only(options, "episodes", "seed"))
        return
    started = mock.Mock(side_effect=langevin_dqn.UserError("started", "stop here"))
    with (
        mock.patch.object(training, "TrainingRun", started),
        mock.patch.object(seeds, "_mapped", started),
        mock.patch.object(seeds, "run_in_processes", started),
    ):
        calls = {
            "train": lambda: ask(langevin_dqn.train, agent, env, **options),
            "train_seeds": lambda: ask(
                langevin_dqn.train_seeds, agent, env, **{"seeds": [0], **_without(options, "seed")}
            ),
            "sweep": lambda: ask(langevin_dqn.sweep, agent, env, **{"seeds": [0], **_without(options, "seed", "ray")}),
            "load_agent": lambda: ask(
                langevin_dqn.load_agent, folder / "none.npz", env, agent=agent, network=options.get("network")
            ),
            "save_agent": lambda: ask(langevin_dqn.save_agent, mock.Mock(trained=None), folder / "a.npz"),
            "job": lambda: ask(Job, agent, env, value, changes=_without(options, "seed", "seeds")),
            "log": lambda: ask(langevin_dqn.MetricLog, folder / "log", [str(value)]),
            "load_results": lambda: ask(langevin_dqn.load_results, folder / "none"),
        }
        calls[what]()


def _without(options, *names):
    return {name: value for name, value in options.items() if name not in names}


def _only(options, *names):
    return {name: value for name, value in options.items() if name in names}


@kind(words.env_ids)
def environment_ids(folder, env):
    from langevin_dqn import make_env
    from langevin_dqn.environments import HostEnvironment, safe_env

    made = ask(make_env, env)
    if isinstance(made, HostEnvironment):
        made.close()
    with mock.patch("langevin_dqn.ids.import_module", mock.Mock(side_effect=Broken("a file causes an import"))):
        if ":" not in env or env.partition(":")[0] in ("dm", "jax", "python"):
            ask(safe_env, env, "a file")


# -- the command line -----------------------------------------------------------------

_VALUES = {int: words.numbers, float: words.numbers, str: words.names | words.paths, bool: st.none()}
_OWN = {
    "agent": words.agents,
    "agents": words.agents,
    "env": words.env_ids,
    "seeds": words.numbers | st.sampled_from(["0-1", "7", "1-0", "0,,1", "-", "0-99999999"]),
    "set": words.assignments(),
    "grid": words.assignments(),
    "store": words.paths,
    "plot": words.paths,
    "maps": words.paths,
    "save": words.paths,
    "bsuite_csv": words.paths,
    "checkpoint": words.paths,
    "resume": words.paths,
    "log": words.paths,
    "out": words.paths,
    "figures": words.paths,
    "markdown": words.paths,
    "mnist_dir": words.paths,
    "runner": st.sampled_from(["threads", "Threads", ""]),
    "preset": st.sampled_from(["paper", "recommended", "released", "papr", ""]),
    "settings": words.env_ids,
    "record": st.sampled_from(["q", "x"]),
    "log_to": st.sampled_from(["csv", "csv,json", "x", ",", "csv,csv"]),
    "verdicts": words.paths,
}
#: Options that would measure, start a cluster or take long with good values.
_LEFT_OUT = {"ray", "quick", "environments", "solve_limit", "rerun", "repeats"}


@st.composite
def command_lines(draw):
    import dataclasses
    from importlib import import_module
    from typing import get_type_hints

    from langevin_dqn.cli.main import COMMANDS

    command = draw(st.sampled_from(sorted(set(COMMANDS) - {"bench"})) | st.sampled_from(["run", "run", "evaluate"]))
    options = import_module(COMMANDS[command][0]).Args
    fields = {f.name for f in dataclasses.fields(options)} - _LEFT_OUT
    types = get_type_hints(options)  # without the words of the help, which tyro adds when a command is first called
    line = [command]
    if command == "run":  # most of them good but for one or two options
        line += ["--agent", draw(st.sampled_from(["dqn", "dqn", "dqn", "dqn", "dqm"])), "--episodes", "3"]
        line += draw(st.sampled_from([[], ["--env", "deep_sea:depth=4"], ["--env", "bandit/0"], ["--json"]]))
    if command in ("evaluate", "reproduce"):
        name = draw(
            words.paths if command == "evaluate" else words.names | st.sampled_from(["fig2", "python:os:getcwd"])
        )
        line += ["--plan"] if command == "reproduce" else []
        line += [name]
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True))
    for name in chosen:
        kinds = [one for one in (bool, int, float, str) if one.__name__ in str(types[name])] or [str]
        strategy = _OWN.get(name, _VALUES[kinds[0]])
        option = "--" + name.replace("_", "-")
        value = None if kinds == [bool] else draw(strategy)
        line += [option] if value is None else [f"{option}={value}"] if draw(st.booleans()) else [option, value]
    if draw(st.integers(0, 9)) == 0:
        line.insert(draw(st.integers(0, len(line))), draw(words.names))
    return line


@kind(command_lines())
def command_line(folder, line):
    words.prepared(folder)
    if line[0] in ("report", "status", "verify"):
        _store(folder)
        line += ["--figure", "fig2"] if line[0] == "report" and "--figure" not in str(line) else []
        line = [*line, "--store", "store"] if not any(word.startswith("--store") for word in line) else line
    call(*line)


@kind(
    st.tuples(
        words.names.filter(lambda name: "\0" not in name),
        st.sampled_from(["agent", "env", "preset", "diverged", "machine"]),
    )
)
def names_in_files(folder, given):
    """A stored run, changed on purpose and with the right checksum: its texts are shown, and do nothing."""
    import polars as pl

    from langevin_dqn.runs import checksum

    text, column = given
    path = _store(folder)
    table = pl.read_parquet(path).drop(checksum.COLUMN)
    try:
        checksum.added(table.with_columns(pl.lit(text).alias(column))).write_parquet(path)
    except UnicodeEncodeError:
        return
    for command in ("status", "verify"):
        call(command, "--store", "store")
    call("status", "--store", "store", "--json")


def _store(folder):
    name, content = spoiled.stored_run()
    path = folder / "store" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


# -- files ----------------------------------------------------------------------------


@kind(st.tuples(st.booleans(), st.integers(0, 1), spoiled.spoilings))
def idx_files(folder, given):
    from langevin_dqn import make_env

    packed, which, how = given
    for name, content in spoiled.idx(packed).items():
        (folder / name).write_bytes(content)
    spoiled.spoil(folder / list(spoiled.idx(packed))[which], how)
    with mock.patch.dict("os.environ", {"LANGEVIN_DQN_MNIST": str(folder)}):
        ask(make_env, "mnist/0")


@kind(spoiled.spoilings)
def parquet_files(folder, how):
    path = _store(folder)
    spoiled.spoil(path, how)
    from langevin_dqn.runs.store import Store

    good, found = spoiled.made_up(spoiled.job()), Store(folder / "store").get(spoiled.job())
    if found is not None and not (
        np.array_equal(found.returns, good.returns) and (found.seconds, found.updates) == (good.seconds, good.updates)
    ):
        raise Broken("values of a stored run changed unnoticed")
    call("verify", "--store", "store")
    call("status", "--store", "store")


@kind(
    st.tuples(
        st.sampled_from(
            [
                "seed",
                "returns",
                "lengths",
                "job",
                "members",
                "hidden",
                "seconds",
                "diverged",
                "finished_at",
                "measure_x",
                "record_shape",
                "learning_rate",
                "max_return",
                "episodes",
                "agent_description",
            ]
        ),
        st.sampled_from(["drop", *spoiled.WRONG[:13]])
        | st.text(max_size=5)
        | st.floats()
        | st.integers(-(2**60), 2**60),
    )
)
def parquet_columns(folder, given):
    """Rows without a column, or with one of another type, under the right checksum."""
    import polars as pl

    from langevin_dqn.runs import checksum
    from langevin_dqn.runs.store import Store

    column, value = given
    path = _store(folder)
    table = pl.read_parquet(path).drop(checksum.COLUMN)
    if value == "drop":
        table = table.drop(column, strict=False)
    else:
        try:
            table = table.with_columns(pl.Series(column, [value]))
            checksum.added(table).write_parquet(io.BytesIO())
        except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
            return  # nothing that a table can hold
    checksum.added(table).write_parquet(path)
    ask(Store(folder / "store").get, spoiled.job())
    _store_again(folder, path, checksum.added(table))
    call("verify", "--store", "store")
    _store_again(folder, path, checksum.added(table))
    call("status", "--store", "store")


_ANY = st.sampled_from(spoiled.WRONG) | st.text(max_size=5) | st.floats() | st.integers()


def _store_again(folder, path, table):
    if not path.exists():
        table.write_parquet(path)


@kind(
    st.tuples(
        st.sampled_from(["progress", "request", "claims"]),
        spoiled.wrong_types(spoiled.PROGRESS),
        spoiled.wrong_types(spoiled.REQUEST),
        spoiled.wrong_types(spoiled.CLAIM),
        st.none() | spoiled.spoilings,
    )
)
def json_files(folder, given):
    which, progress, request, claim, how = given
    _store(folder)
    path, content, line = {
        "progress": (folder / "store" / "progress.json", progress, ["status", "--store", "store"]),
        "request": (folder / "saved" / "run.json", request, ["run", "--resume", "saved"]),
        "claims": (
            folder / "claims.json",
            claim,
            ["verify", "--store", "store", "--verdicts", "claims.json", "--figure", "fig2"],
        ),
    }[which]
    path.parent.mkdir(exist_ok=True)
    path.write_text(spoiled.as_text(content))
    if which == "request":
        _, name, checkpoint = spoiled.trained()
        (folder / "saved" / "seed_0").mkdir()
        (folder / "saved" / "seed_0" / name).write_bytes(checkpoint)
    if how is not None:
        spoiled.spoil(path, how)
    call(*line)


@kind(st.tuples(spoiled.spoilings, st.sampled_from(["csv", "json"])))
def metric_logs(folder, given):
    from langevin_dqn import MetricLog

    how, form = given
    rows = [{"episode": n, "steps": 10 * n, "return": 0.5} for n in range(1, 6)]
    with MetricLog(folder, [form]) as log:
        for row in rows:
            log.write(row)
    path = folder / {"csv": "metrics.csv", "json": "metrics.jsonl"}[form]
    spoiled.spoil(path, how)
    if path.is_dir():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log = ask(MetricLog, folder, [form], steps=30)
    if log is not None:
        log.write(rows[3])
        log.close()
        if path.is_symlink():
            raise Broken("a log was written through a link")


@kind(spoiled.spoilings)
def saved_agents(folder, how):
    import jax

    from langevin_dqn import load_agent

    content, _, _ = spoiled.trained()
    (folder / "good.npz").write_bytes(content)
    path = folder / "agents" / "seed_0.npz"
    path.parent.mkdir()
    path.write_bytes(content)
    spoiled.spoil(path, how)
    found = ask(load_agent, path)
    if found is not None:
        good = load_agent(folder / "good.npz")
        same = jax.tree.map(np.array_equal, good.trained.state, found.trained.state)
        if (
            not all(jax.tree.leaves(same))
            or good.config != found.config
            or (good.seed, good.env) != (found.seed, found.env)
        ):
            raise Broken("a saved agent changed unnoticed")
    call("evaluate", "agents", "--episodes", "2")
    call("verify", "--agents", "agents")


@kind(
    st.sampled_from(
        ["agent", "preset", "env", "seed", "episodes", "config", "description", "space", "num_actions", "package"]
    ).flatmap(lambda name: st.tuples(st.just(name), _ANY))
)
def saved_agents_with_other_types(folder, given):
    from langevin_dqn import array_files

    name, value = given
    with np.load(io.BytesIO(spoiled.trained()[0])) as file:
        arrays = {key: file[key] for key in file.files}
    about = json.loads(str(arrays.pop("about")))
    del about["checksum"]
    array_files.write(folder / "a.npz", about | {name: value}, arrays)
    call("evaluate", "a.npz", "--episodes", "2")
    call("evaluate", "a.npz", "--episodes", "2", "--env", "deep_sea:depth=4", "--json")


@kind(spoiled.spoilings)
def checkpoints(folder, how):
    from langevin_dqn import UserError
    from langevin_dqn.agents.registry import resolve_agent
    from langevin_dqn.environments import make_env
    from langevin_dqn.keys import run_key
    from langevin_dqn.runs import resuming
    from langevin_dqn.runs.checkpoint import Checkpoints

    _, name, content = spoiled.trained()
    path = folder / "saved" / name
    path.parent.mkdir()
    path.write_bytes(content)
    spoiled.spoil(path, how)
    where = Checkpoints(folder / "saved")
    file = ask(where.open)
    if file is None:
        return
    environment = make_env("deep_sea:depth=4")
    given = {"hidden": (4,), "batch_size": 4, "buffer_size": 64}
    agent = resolve_agent("dqn", environment, preset="paper", changes=given, env="deep_sea:depth=4").agent
    with contextlib.suppress(UserError):
        resuming.compiled_run(file, agent, environment, run_key(0), episodes=5, steps=None, records=False)
