"""What can be written is found out before anything runs."""

import errno
import os

import pytest

from langevin_dqn.errors import UserError
from langevin_dqn.runs import folders


def refusal(check, path):
    with pytest.raises(UserError) as refused:
        check(path)
    return said(refused.value)


def said(error):
    """What is wrong, and the hint."""
    message, _, hint = str(error).partition("\nhint: ")
    return message, hint


def test_a_file_in_a_new_folder_is_accepted_and_not_made(tmp_path):
    file = tmp_path / "new" / "folder" / "plot.png"
    folders.check_file(file)
    assert list(file.parent.iterdir()) == []


def test_a_file_that_is_there_is_accepted_and_not_changed(tmp_path):
    file = tmp_path / "plot.png"
    file.write_bytes(b"kept")
    folders.check_file(file)
    assert file.read_bytes() == b"kept"


def test_what_is_no_file_is_refused(tmp_path):
    assert refusal(folders.check_file, tmp_path) == (f"{tmp_path} is a folder", "use the name of a file")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refusal(folders.check_file, pipe) == (f"{pipe} is not a regular file", "use another name")


@pytest.mark.parametrize(("length", "accepted"), [(255, True), (256, False)])
def test_names_have_at_most_255_bytes(tmp_path, length, accepted):
    name = "\u00e4" * 100 + "x" * (length - 200)
    if accepted:
        folders.check_file(tmp_path / name)
    else:
        message, hint = refusal(folders.check_file, tmp_path / name)
        assert (message, hint) == ("the name of the file is too long", "use at most 255 bytes")


def test_a_long_name_in_the_middle_of_a_path(tmp_path):
    message, hint = refusal(folders.check_file, tmp_path / ("x" * 300) / "plot.png")
    assert message.startswith("cannot write to ")
    assert message.endswith("File name too long")
    assert hint == "use a shorter name"


def test_a_circle_of_links(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    message, _ = refusal(folders.check_file, tmp_path / "a" / "plot.png")
    assert message.startswith("cannot write to ")


def test_a_link_is_refused(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    assert refusal(folders.check_no_link, link)[0] == f"{link} is a symbolic link"
    folders.check_no_link(tmp_path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_needs_room(tmp_path, number):
    error = folders.file_error(OSError(number, os.strerror(number)), tmp_path)
    assert said(error) == (f"cannot write to {tmp_path}: {os.strerror(number)}", "make room on the disk")
    assert said(folders.file_error(OSError(number, "full"), tmp_path, "remove old runs"))[1] == "remove old runs"


def test_the_number_of_an_error_that_is_only_words():
    """polars raises errors of its own, which name the operating system's number in the text."""
    error = RuntimeError("No space left on device (os error 28)")
    assert folders.error_number(error) == errno.ENOSPC
    assert said(folders.file_error(error))[1] == "make room on the disk"
    assert folders.error_number(RuntimeError("odd")) == 0
    assert said(folders.file_error(RuntimeError("odd \n thing"))) == ("cannot use a file: odd thing", "check the path")


def test_long_paths_are_cut(tmp_path):
    message, _ = said(folders.file_error(OSError(errno.EIO, "bad"), tmp_path / ("x" * 300)))
    assert len(message) < 120
    assert message.endswith("…: bad")
