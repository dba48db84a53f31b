"""Files and folders appear whole or not at all."""

import threading
from pathlib import Path

import pytest

from harness.base.files import PARTIAL, move_folder, write_bytes, write_text, write_with
from harness.rundir.directory import RunDirectory


def folder(path: Path, content: str) -> Path:
    path.mkdir(parents=True)
    (path / "file").write_text(content)
    return path


def test_a_file_is_replaced_whole_and_its_folder_is_made(tmp_path):
    path = tmp_path / "new" / "file"
    assert write_text(path, "one") == path
    assert write_bytes(path, b"two") == path
    assert path.read_bytes() == b"two"
    assert [each.name for each in path.parent.iterdir()] == ["file"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path):
    path = write_text(tmp_path / "file", "old")

    def fail(staged: Path) -> None:
        staged.write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_with(path, fail)
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_the_slower_of_two_uses_the_folder_of_the_quicker(tmp_path):
    place = folder(tmp_path / "place", "first")
    move_folder(folder(tmp_path / "made", "second"), place)
    assert (place / "file").read_text() == "first"


def test_of_many_at_once_one_wins_and_none_fails(tmp_path):
    made = [folder(tmp_path / f"made-{n}", str(n)) for n in range(8)]
    failed: list[OSError] = []
    start = threading.Barrier(len(made))

    def move(each: Path) -> None:
        start.wait()
        try:
            move_folder(each, tmp_path / "place")
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=move, args=(each,)) for each in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert (tmp_path / "place" / "file").read_text() in "01234567"
    assert sum(each.exists() for each in made) == len(made) - 1


def test_a_place_that_cannot_be_used_is_still_an_error(tmp_path):
    (tmp_path / "place").write_text("a file")
    with pytest.raises(OSError, match="place"):
        move_folder(folder(tmp_path / "made", "x"), tmp_path / "place")


def test_what_a_killed_stage_left_half_written_is_removed_be_it_a_file_or_a_folder(tmp_path):
    staged = tmp_path / "logs" / f"{PARTIAL}results"
    staged.mkdir(parents=True)
    (staged / f"{PARTIAL}counts").write_text("half")
    (tmp_path / f"{PARTIAL}run.json").write_text("half")
    (tmp_path / "run.json").write_text("whole")
    (tmp_path / f"{PARTIAL}link").symlink_to(tmp_path / "logs", target_is_directory=True)
    RunDirectory(tmp_path).remove_unfinished()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["logs", "run.json"]
