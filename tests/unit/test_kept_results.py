"""Results kept by the digest of all that decides them: whole or not at all, young, few, never taken when damaged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

import pytest

from harness.base.locks import SCRATCH
from harness.model.reuse import Origin
from harness.rundir.kept_results import KEPT_FOR, DamagedEntryError, KeptResults, files_below

NOW = datetime(2026, 11, 25, 14, 2, tzinfo=UTC)
KEY, OTHER = "a" * 64, "b" * 64
FILES = {"runs/turn1/stock/1/journal.jsonl": b"one\n", "runs/turn1/stock/1/result.json": b"{}"}


def origin(key: str = KEY, at: datetime = NOW) -> Origin:
    return Origin("/out/first", at.isoformat(), key, 7)


@pytest.fixture
def kept(tmp_path: Path) -> KeptResults:
    found = KeptResults(tmp_path / "results", lambda: NOW)
    assert found.keep(origin(), FILES)
    return found


def taken(kept: KeptResults, beside: Path, key: str = KEY) -> tuple[Origin, dict[str, bytes]] | None:
    with kept.taken(key, beside) as found:
        return (found[0], {name: path.read_bytes() for name, path in files_below(found[1]).items()}) if found else None


def listed(kept: KeptResults) -> Path:
    return kept.folder / KEY / "kept.json"


def change(kept: KeptResults, **fields: object) -> None:
    document = json.loads(listed(kept).read_text())
    listed(kept).write_text(json.dumps({**document, **fields}))


def test_what_was_kept_is_taken_as_it_was_and_nothing_of_the_taking_is_left(kept: KeptResults, tmp_path: Path) -> None:
    assert taken(kept, tmp_path / "run") == (origin(), FILES)
    assert list((tmp_path / "run").iterdir()) == []
    assert [path.name for path in kept.folder.iterdir()] == [KEY]


def test_under_another_digest_there_is_nothing(kept: KeptResults, tmp_path: Path) -> None:
    assert taken(kept, tmp_path, OTHER) is None
    assert taken(KeptResults(tmp_path / "nowhere"), tmp_path) is None


def test_a_copy_is_its_own_whoever_changes_it_changes_nothing_that_is_kept(kept: KeptResults, tmp_path: Path) -> None:
    with kept.taken(KEY, tmp_path / "run") as found:
        assert found
        (found[1] / "runs/turn1/stock/1/result.json").write_bytes(b"changed")
    assert taken(kept, tmp_path / "run") == (origin(), FILES)


@pytest.mark.parametrize(("age", "is_there"), [(KEPT_FOR, True), (KEPT_FOR + timedelta(seconds=1), False)])
def test_what_is_older_than_a_week_is_not_taken(
    kept: KeptResults, tmp_path: Path, age: timedelta, is_there: bool
) -> None:
    later = KeptResults(kept.folder, lambda: NOW + age)
    assert (taken(later, tmp_path) is not None) is is_there


def test_what_is_of_tomorrow_is_not_taken(kept: KeptResults, tmp_path: Path) -> None:
    assert taken(KeptResults(kept.folder, lambda: NOW - timedelta(minutes=1)), tmp_path) is None


def _another_byte(kept: KeptResults) -> None:
    (kept.folder / KEY / "content/runs/turn1/stock/1/journal.jsonl").write_bytes(b"two\n")


def _a_longer_file(kept: KeptResults) -> None:
    (kept.folder / KEY / "content/runs/turn1/stock/1/journal.jsonl").write_bytes(b"one\n" * 1000)


def _a_file_gone(kept: KeptResults) -> None:
    (kept.folder / KEY / "content/runs/turn1/stock/1/journal.jsonl").unlink()


def _a_link(kept: KeptResults) -> None:
    path = kept.folder / KEY / "content/runs/turn1/stock/1/journal.jsonl"
    (kept.folder.parent / "elsewhere").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(kept.folder.parent / "elsewhere")


def _a_linked_folder(kept: KeptResults) -> None:
    runs = kept.folder / KEY / "content/runs"
    runs.rename(kept.folder.parent / "runs")
    runs.symlink_to(kept.folder.parent / "runs")


def _a_pipe(kept: KeptResults) -> None:
    path = kept.folder / KEY / "content/runs/turn1/stock/1/journal.jsonl"
    path.unlink()
    os.mkfifo(path)


def _half_a_list(kept: KeptResults) -> None:
    listed(kept).write_text(listed(kept).read_text()[:100])


def _a_list_that_is_a_folder(kept: KeptResults) -> None:
    listed(kept).unlink()
    listed(kept).mkdir()


def _another_schema(kept: KeptResults) -> None:
    change(kept, schema=99)


def _no_time(kept: KeptResults) -> None:
    change(kept, origin={"made_in": "x", "made_at": "yesterday", "inputs": KEY, "figures": 1})


def _no_zone(kept: KeptResults) -> None:
    change(kept, origin={"made_in": "x", "made_at": "2026-11-25T14:02:00", "inputs": KEY, "figures": 1})


def _anothers_name(kept: KeptResults) -> None:
    change(kept, origin={"made_in": "x", "made_at": NOW.isoformat(), "inputs": OTHER, "figures": 1})


def _a_way_out(kept: KeptResults) -> None:
    (kept.folder.parent / "secret").write_bytes(b"")
    change(kept, files={"../../../secret": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"})


def _an_absolute_path(kept: KeptResults) -> None:
    change(kept, files={"/etc/hostname": "0" * 64})


def _a_file_below_a_file(kept: KeptResults) -> None:
    digest = json.loads(listed(kept).read_text())["files"]["runs/turn1/stock/1/result.json"]
    change(kept, files={"runs/turn1/stock/1/result.json": digest, "runs/turn1/stock/1/result.json/x": digest})


def _a_size_beyond_the_bound(kept: KeptResults) -> None:
    change(kept, bytes=kept.most_bytes + 1)


def _less_than_no_bytes(kept: KeptResults) -> None:
    """Of a file as long as whatever is left, which is less than nothing, all would be read."""
    change(kept, bytes=-10)


def _a_name_that_is_none(kept: KeptResults) -> None:
    change(kept, files={"a\0b": "0" * 64})


def _no_name(kept: KeptResults) -> None:
    change(kept, files={"": "0" * 64})


DAMAGES = [
    _less_than_no_bytes,
    _a_name_that_is_none,
    _no_name,
    _another_byte,
    _a_longer_file,
    _a_file_gone,
    _a_link,
    _a_linked_folder,
    _a_pipe,
    _half_a_list,
    _a_list_that_is_a_folder,
    _another_schema,
    _no_time,
    _no_zone,
    _anothers_name,
    _a_way_out,
    _an_absolute_path,
    _a_file_below_a_file,
    _a_size_beyond_the_bound,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__.removeprefix("_"))
def test_what_is_damaged_is_said_to_be_so_and_is_not_there_any_more(
    kept: KeptResults, tmp_path: Path, damage: Callable[[KeptResults], None]
) -> None:
    damage(kept)
    with pytest.raises(DamagedEntryError, match=f"{KEY} was damaged and is removed: "):
        taken(kept, tmp_path / "run")
    assert not (kept.folder / KEY).exists()
    assert taken(kept, tmp_path / "run") is None
    assert not (tmp_path / "run").exists() or list((tmp_path / "run").iterdir()) == []


def test_a_newer_result_of_the_same_takes_the_place_of_the_older(kept: KeptResults, tmp_path: Path) -> None:
    newer = origin(at=NOW - timedelta(hours=1))
    assert kept.keep(newer, {"x": b"new"})
    assert taken(kept, tmp_path) == (newer, {"x": b"new"})


def test_the_oldest_go_first_where_all_together_are_too_large(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "results", lambda: NOW, most_bytes=25)
    keys = [letter * 64 for letter in "abcd"]
    for hours, key in zip((3, 5, 4, 1), keys, strict=True):
        assert kept.keep(origin(key, NOW - timedelta(hours=hours)), {"x": b"0123456789"})
    assert sorted(path.name[0] for path in kept.folder.iterdir()) == ["a", "d"]


def test_what_alone_is_too_large_is_not_kept_and_costs_nothing_else_its_place(
    kept: KeptResults, tmp_path: Path
) -> None:
    small = KeptResults(kept.folder, kept.now, most_bytes=100)
    assert not small.keep(origin(OTHER), {"x": b"0" * 101})
    assert taken(small, tmp_path) == (origin(), FILES)


def test_keeping_removes_what_is_too_old_damaged_or_no_entry_and_what_killed_harnesses_left(kept: KeptResults) -> None:
    (kept.folder / "stray").write_bytes(b"")
    (kept.folder / f"{SCRATCH}left").mkdir()
    (kept.folder / ("c" * 64)).mkdir()
    later = KeptResults(kept.folder, lambda: NOW + KEPT_FOR + timedelta(days=1))
    assert later.keep(origin(OTHER, later.now()), FILES)
    assert [path.name for path in kept.folder.iterdir()] == [OTHER]


def test_where_nothing_can_be_written_nothing_is_kept_and_nobody_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert not KeptResults(tmp_path / "file" / "results").keep(origin(), FILES)
    assert not KeptResults(tmp_path / "results").keep(origin(), {"x": tmp_path / "is-gone"})


def _keeps_and_takes(folder: Path, number: int) -> None:
    kept = KeptResults(folder, lambda: NOW)
    for turn in range(30):
        text = f"{number} {turn}".encode()
        kept.keep(origin(), {"one": text, "two": text})
        found = taken(kept, folder.parent / f"run-{number}")
        assert found is None or found[1]["one"] == found[1]["two"], "half of one and half of another"


def test_harnesses_side_by_side_never_see_half_of_an_entry(tmp_path: Path) -> None:
    """A reader may find an entry gone that is just being replaced, and never a mixture of two."""
    context = get_context("fork")
    workers = [context.Process(target=_keeps_and_takes, args=(tmp_path / "results", number)) for number in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
