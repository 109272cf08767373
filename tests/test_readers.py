"""Every function that reads a file is known here, opens it in one place, and is given hostile files.

The list is derived from the source: a new reader fails the first test until it is in ``READERS``.
"""

import ast
import functools
import io
import json
import os
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

import langevin_dqn
from langevin_dqn import UserError, array_files, files
from langevin_dqn.environments.bsuite import mnist_files

ROOT = Path(langevin_dqn.__file__).parent

#: Calls that open a file, by the last part of their names.
OPENING = {
    "open", "fdopen", "read_text", "read_bytes", "fromfile", "genfromtxt", "loadtxt", "memmap",
    "open_memmap",     "open_regular",
}  # fmt: skip
#: Calls that decode one, and that would run or import what it says.
DECODING = {
    "load", "ZipFile", "GzipFile", "DictReader", "read_parquet", "read_csv", "read_ipc", "scan_parquet", "scan_csv",
}  # fmt: skip
RUNNING = {"eval", "exec", "Unpickler", "Popen", "system", "run_path", "run_module", "compile"}

#: Functions that open files of others: all of them through ``files``.
READERS = {
    "array_files._opened", "cli.checkpoints.remembered", "environments.bsuite.mnist_files._read", "files.read_text",
    "report.verdicts.read", "runs.index.Index._read", "runs.metric_log._read", "runs.packs._parts",
    "runs.progress_file.read", "runs.run_files.read",
}  # fmt: skip
#: Functions that open files by themselves: the one place, files that were just written, and the operating system's.
OTHERS = {
    "files.open_regular", "files.replacing", "files.sync_folder", "machine._lines", "plots.uncertainty.animate",
    "report.page._inline", "runs.metric_log._rewritten",
}  # fmt: skip


def calls(names):
    """The functions of the package that call any of ``names``, by module and name."""
    found = {}
    for path in ROOT.rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        _walk(ast.parse(path.read_text(encoding="utf-8")), module, names, found)
    return found


def _walk(node, place, names, found):
    for child in ast.iter_child_nodes(node):
        inner = f"{place}.{child.name}" if isinstance(child, ast.FunctionDef | ast.ClassDef) else place
        if isinstance(child, ast.Call):
            called = child.func.attr if isinstance(child.func, ast.Attribute) else getattr(child.func, "id", "")
            if called in names:
                found.setdefault(inner, set()).add(ast.unparse(child.func))
        _walk(child, inner, names, found)


#: Methods of the package's own classes that have such names and open nothing by themselves.
OWN = {
    "ArrayFile.open", "where.open", "archive.open", "file.load", "checkpoint.load", "store.load", "Store(folder).load",
    "bsuite.load", "mnist_files.load",
}  # fmt: skip


def test_every_reader_is_known():
    opening = {place for place, what in calls(OPENING).items() if what - OWN}
    assert opening == READERS | OTHERS
    decoding = {place for place, what in calls(DECODING).items() if what - OWN}
    assert decoding == {
        "array_files.ArrayFile.open",
        "array_files._arrays",
        "environments.bsuite.mnist_files._read",
        "runs.index.Index._read",
        "runs.metric_log.CsvWriter.__init__",
        "runs.packs._parts",
        "runs.run_files.read",
    }


def test_no_reader_runs_or_imports_anything():
    running = {place: what - {"platform.system", "re.compile"} for place, what in calls(RUNNING).items()}
    assert {place: what for place, what in running.items() if what} == {}
    for path in ROOT.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert "pickle.load" not in source
        assert "allow_pickle=True" not in source


# -- hostile files --------------------------------------------------------------------


def read_agent(path):
    return langevin_dqn.load_agent(path)


def read_checkpoint(path):
    from langevin_dqn.runs.checkpoint import Checkpoints

    home = path.parent / "saved"
    home.mkdir()
    path.rename(home / "checkpoint_000000000001.npz")
    return Checkpoints(home).open()


def read_request(path):
    from langevin_dqn.cli import checkpoints
    from langevin_dqn.cli.run import Args

    path.rename(path.with_name(checkpoints.REQUEST))
    return checkpoints.remembered(Args(resume=str(path.parent)))


def read_progress(path):
    from langevin_dqn.runs import progress_file

    path.rename(path.with_name(progress_file.NAME))
    assert progress_file.read(path.parent) is None
    raise UserError("nothing to read", "as it should be")


def read_run(path):
    from langevin_dqn.runs import run_files

    assert run_files.read(path) is None
    raise UserError("no run", "as it should be")


def read_pack(path):
    from langevin_dqn.runs.packs import Packs

    home = path.parent / "v2" / "packed"
    home.mkdir(parents=True)
    path.rename(home / "a.parquet")
    packed = Packs(home.parent)
    packed.look()
    assert (packed.keys(), packed.damaged) == (set(), [home / "a.parquet"])
    raise UserError("no pack", "as it should be")


def read_verdicts(path):
    from langevin_dqn.report import verdicts

    return verdicts.read(path)


def read_log(path):
    from langevin_dqn.runs.metric_log import MetricLog

    path.rename(path.with_name("metrics.jsonl"))
    with MetricLog(path.parent, ["json"], steps=10):
        assert path.with_name("metrics.jsonl").read_text() == ""
    raise UserError("replaced", "as it should be")


def read_index(path):
    from langevin_dqn.runs import index

    store_index = index.Index(path.parent)
    store_index.path = path
    assert store_index._read(index._signatures([]), None) is None
    raise UserError("not used", "as it should be")


def read_mnist(path):
    return mnist_files._read(path, mnist_files.IMAGES, 3)


HOW = {
    "array_files._opened": [read_agent, read_checkpoint],
    "cli.checkpoints.remembered": [read_request],
    "environments.bsuite.mnist_files._read": [read_mnist],
    "report.verdicts.read": [read_verdicts],
    "runs.index.Index._read": [read_index],
    "runs.metric_log._read": [read_log],
    "runs.packs._parts": [read_pack],
    "runs.progress_file.read": [read_progress],
    "runs.run_files.read": [read_run],
}


ALL = [reader for some in HOW.values() for reader in some]


def test_every_reader_is_tested():
    assert set(HOW) == READERS - {"files.read_text"}


@functools.cache
def _bomb():
    """A file of 0.4 MB that unpacks to 400 MB."""
    made, size = io.BytesIO(), 400 * 2**20
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w") as file:
        header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({size},), }}".encode().ljust(117) + b"\n"
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        for _ in range(400):
            file.write(bytes(2**20))
    return made.getvalue()


def declared(path):
    """A header that declares 10^12 numbers."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        about = io.BytesIO()
        np.save(about, np.array(json.dumps({"shapes": {"x": [10**12]}})))
        archive.writestr("about.npy", about.getvalue())


def sparse(path):
    with path.open("wb") as file:
        file.truncate(2**42)


HOSTILE = {
    "empty": lambda path: path.write_bytes(b""),
    "bytes": lambda path: path.write_bytes(bytes(range(256)) * 40),
    "deep JSON": lambda path: path.write_text("[" * 200_000),
    "another type": lambda path: path.write_text("[1, 2]"),
    "HTML": lambda path: path.write_text("<script>alert(1)</script>\n"),
    "fifo": os.mkfifo,
    "folder": lambda path: path.mkdir(),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "larger than any memory": sparse,
    "declares more than any memory": declared,
    "bomb": lambda path: path.write_bytes(_bomb()),
    "pickle": lambda path: path.write_bytes(b"cos\nsystem\n(S'touch hacked'\ntR."),
    "parquet without a footer": lambda path: path.write_bytes(b"PAR1" + bytes(100) + b"\xff\xff\xff\x7fPAR1"),
}


@pytest.mark.filterwarnings("ignore:.*cannot be read and is replaced")
@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("reader", ALL, ids=lambda reader: reader.__name__)
def test_a_hostile_file_is_refused(reader, hostile, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / "file.npz"
    HOSTILE[hostile](path)
    began = time.process_time()
    with pytest.raises((UserError, OSError)):
        reader(path)
    assert time.process_time() - began < 10
    assert not (tmp_path / "hacked").exists()


def test_links_are_followed_only_where_the_user_names_them(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("text")
    link.symlink_to(target)
    assert files.read_text(link, links=True) == "text"
    with pytest.raises(OSError, match="a symbolic link, which is not followed here"):
        files.read_text(link)
    with pytest.raises(OSError, match="it has 4 bytes, and at most 3 are read"):
        files.read_text(target, most=3)


def test_nothing_is_written_through_a_link(tmp_path):
    precious, link = tmp_path / "precious", tmp_path / "link"
    precious.write_text("as it was")
    link.symlink_to(precious)
    files.write_text(link, "new")
    assert precious.read_text() == "as it was"
    assert (link.is_symlink(), link.read_text()) == (False, "new")
    array_files.write(tmp_path / "a.npz", {}, {"x": np.ones(3)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "link", "precious"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_text("as it was")
    with pytest.raises(TypeError), files.replacing(path, "w") as file:
        file.write(b"half")
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_a_bomb_is_refused_by_its_headers(tmp_path):
    """Nothing of it is unpacked."""
    path = tmp_path / "a.npz"
    path.write_bytes(_bomb())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(array_files, "_arrays", None)
        with pytest.raises(ValueError, match="is not a file of arrays"):
            array_files.ArrayFile.open(path)
