"""Files that are written for a path that somebody names: whole, and never in the place of what is no file."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from disks_sample import X, Y, broker_disk
from repair_sample import ALL, disks, planned

from harness.base.errors import HarnessError
from harness.base.files import write_text
from harness.cli import app as cli
from harness.stages.topic_id_plan import plan_file, write_plan
from harness.topicids.export import is_export


def fifo(path: Path) -> None:
    os.mkfifo(path)


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(path.parent)  # a path of more than 107 bytes is too long for a socket
        listening.bind(path.name)


def device(path: Path) -> None:
    """Make one of our own, like /dev/null: a test that fails must not cost the host its devices."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


def link_to(target: str):
    return lambda path: path.symlink_to(target)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (fifo, "a pipe"),
        (bound, "a socket"),
        (Path.mkdir, "a folder"),
        (device, "a device"),
        (link_to("."), "a folder"),
    ],
    ids=["pipe", "socket", "folder", "device", "link to a folder"],
)
def test_what_is_no_file_is_left_as_it_is(tmp_path, monkeypatch, make, what):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "place"
    make(place)
    before = place.lstat()
    with pytest.raises(HarnessError) as error:
        write_text(place, "content")
    assert error.value.message == f"{place} is {what}, not a file: nothing was written."
    assert (place.lstat().st_ino, place.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert [each.name for each in tmp_path.iterdir()] == ["place"]


def test_the_file_that_a_link_leads_to_is_written_and_the_link_stays(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for name, link in (("there", "link"), ("to be made", "dangling")):
        (tmp_path / link).symlink_to(Path("elsewhere", name))
    (tmp_path / "elsewhere" / "there").write_text("before")
    for link, name in (("link", "there"), ("dangling", "to be made")):
        assert write_text(tmp_path / link, "content") == tmp_path / link
        assert (tmp_path / link).is_symlink()
        assert (tmp_path / "elsewhere" / name).read_text() == "content"


def test_a_link_that_goes_in_circles_is_left(tmp_path):
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(OSError, match="symbolic links"):
        write_text(tmp_path / "link", "content")
    assert (tmp_path / "link").is_symlink()


# As a user names them


@pytest.fixture
def disk(tmp_path):
    return broker_disk(tmp_path / "d", 1, {"t-0": X})


def test_an_export_leaves_a_pipe_and_a_folder_as_they_are(disk, tmp_path, monkeypatch, capsys):
    fifo(tmp_path / "pipe")
    for place, what in ((tmp_path / "pipe", "a pipe"), (disk, "a folder")):
        words = ["harness", "topic-ids", "check", "--data", str(disk), "--export", str(place)]
        monkeypatch.setattr(sys, "argv", words)
        assert cli._run() == 2
        assert f"{place.name} is {what}, not a file: nothing was written." in " ".join(capsys.readouterr().err.split())
    assert (tmp_path / "pipe").is_fifo()


def test_an_export_to_what_stdout_is_does_not_replace_it(disk, tmp_path):
    stdout = tmp_path / "stdout"
    stdout.symlink_to("/proc/self/fd/1")  # as /dev/stdout is
    words = (sys.executable, "-m", "harness", "topic-ids", "check", "--data", disk, "--export", stdout)
    said = subprocess.run(words, capture_output=True, text=True, cwd=Path(cli.__file__).parents[2])
    assert (said.returncode, said.stdout) == (2, "")
    assert "stdout is a pipe, not a file: nothing was written." in " ".join(said.stderr.split())
    assert stdout.is_symlink()


def test_an_export_is_written_where_a_link_leads(disk, tmp_path, monkeypatch):
    (tmp_path / "e").symlink_to("real.jsonl")
    monkeypatch.setattr(
        sys, "argv", ["harness", "topic-ids", "check", "--data", str(disk), "--export", f"{tmp_path}/e"]
    )
    assert cli._run() == 0
    assert ((tmp_path / "e").is_symlink(), is_export(tmp_path / "real.jsonl")) == (True, True)


def test_a_plan_is_written_to_a_file_or_says_why_not(tmp_path):
    plan = planned(Y, disks(dict.fromkeys(ALL, (X, X))))
    fifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    with pytest.raises(HarnessError, match="pipe is a pipe, not a file"):
        write_plan(plan, tmp_path / "pipe")
    with pytest.raises(HarnessError, match=r"plan.json cannot be written: \w+.* Name another file by --out"):
        write_plan(plan, tmp_path / "file" / "plan.json")
    write_plan(plan, tmp_path / "plan.json")
    assert plan_file(tmp_path / "plan.json").read() == plan
