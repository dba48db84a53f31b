"""The files of a repair of topic ids: copied, deleted while their broker is down, and restored."""

import json
import multiprocessing
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from disks_sample import X, Y, broker_disk, metadata
from repair_sample import MIX, PART, disks, old_files, planned

from harness.base.errors import HarnessError
from harness.topicids.backups import BackupFolder
from harness.topicids.broker_files import Restored, delete_files, files_of, refuse_links, restore_files, stopped
from harness.topicids.disks import read_data_directory


def test_only_files_with_an_old_id_of_a_planned_topic_are_found(tmp_path):
    disk, files = old_files(tmp_path)
    assert files == [(disk, disk / "t-0" / "partition.metadata")]


def test_the_file_of_a_directory_that_nobody_serves_stays_whatever_id_it_has(tmp_path):
    """Without it Kafka would take the old log under any id, if such a partition came to this broker one day."""
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": Y, "t-7": X, f"t-7.{'0' * 32}-future": X})
    files = files_of(planned(Y, disks(MIX)), 1, [read_data_directory(disk)])
    assert files == [(disk, disk / "t-0" / "partition.metadata")]


def test_disks_of_another_broker_or_cluster_are_refused(tmp_path):
    plan, (disk, *_) = planned(Y, disks(MIX)), disks(MIX)
    with pytest.raises(HarnessError, match="belongs to broker 1 of cluster c1, and this is about broker 2"):
        files_of(plan, 2, [disk])
    with pytest.raises(HarnessError, match="of cluster c2, and this"):
        files_of(plan, 1, [replace(disk, cluster_id="c2")])


def test_what_is_deleted_was_copied_and_noted_before_and_can_be_restored_with_its_time(tmp_path):
    disk, files = old_files(tmp_path)
    os.utime(files[0][1], ns=(5_000_000_000, 5_000_000_000))
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)
    assert delete_files(folder, backup, {Path(each.path) for each in backup.files}) == 1
    assert not (disk / "t-0" / "partition.metadata").exists()
    assert (disk / "other-0" / "partition.metadata").exists()
    noted = json.loads((folder.path / "journal.jsonl").read_text())
    assert (noted["does"], noted["to"]) == ("delete", str(files[0][1]))
    assert restore_files(folder, folder.checked(), {"t": Y}) == Restored(1)
    restored = disk / "t-0" / "partition.metadata"
    assert (restored.read_text(), restored.stat().st_mtime_ns) == (metadata(X), 5_000_000_000)
    assert restore_files(folder, folder.checked(), {"t": Y}) == Restored(0)


def test_a_restore_keeps_what_the_broker_wrote_meanwhile(tmp_path):
    disk, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    delete_files(folder, folder.copy_all(PART, files), {path for _, path in files})
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    restore_files(folder, folder.checked(), {"t": Y})
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(X)
    assert [each.read_text() for each in (folder.path / "replaced").iterdir()] == [metadata(Y)]


def test_a_repair_that_was_cut_short_goes_on(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, {"t-0": X, "t-1": X})
    files = [(disk, disk / f"t-{number}" / "partition.metadata") for number in (0, 1)]
    folder = BackupFolder(tmp_path / "backup")
    folder.copy_all(PART, files)
    files[0][1].unlink()  # and then it was killed
    again = folder.copy_all(PART, files[1:])
    assert (len(again.files), delete_files(folder, again, {files[1][1]})) == (2, 1)
    assert restore_files(folder, folder.checked(), {"t": Y}) == Restored(2)


def test_a_copy_that_was_cut_short_begins_anew_since_nothing_had_changed(tmp_path):
    _, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    (folder.path / "files" / "0" / "t-0").mkdir(parents=True)
    (folder.path / "files" / "0" / "t-0" / "partition.metadata").write_text("half")
    assert folder.copy_all(PART, files).files[0].written_ns > 0
    assert folder.checked().files


def test_a_file_that_has_changed_since_is_left(tmp_path):
    disk, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)
    (disk / "t-0" / "partition.metadata").write_text(metadata(Y))
    with pytest.raises(HarnessError, match=r"has changed since it was backed up; 0 files were deleted before it\."):
        delete_files(folder, backup, {Path(each.path) for each in backup.files})
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(Y)


def test_a_backup_that_was_damaged_is_not_restored(tmp_path):
    _, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)
    (folder.path / backup.files[0].copy).write_text(metadata(Y))
    with pytest.raises(HarnessError, match="is not what was backed up"):
        folder.checked()
    with pytest.raises(HarnessError, match=r"is no backup of a repair: it has no backup\.json"):
        BackupFolder(tmp_path / "nothing").checked()


def test_a_full_disk_ends_the_backup_and_leaves_nothing_behind(tmp_path, monkeypatch):
    disk, files = old_files(tmp_path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    folder = BackupFolder(tmp_path / "backup")
    with pytest.raises(HarnessError, match=r"No space left on device\. Nothing was changed\."):
        folder.copy_all(PART, files)
    assert not folder.path.exists()
    assert (disk / "t-0" / "partition.metadata").read_text() == metadata(X)


def test_a_folder_with_something_else_in_it_is_no_place_for_a_backup(tmp_path):
    _, files = old_files(tmp_path)
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "holiday.jpg").write_text("")
    with pytest.raises(HarnessError, match="is not empty, and no backup of a repair"):
        BackupFolder(tmp_path / "backup").copy_all(PART, files)


def test_links_are_refused(tmp_path):
    disk, files = old_files(tmp_path)
    refuse_links(path for _, path in files)
    (disk / "t-0").rename(tmp_path / "elsewhere")
    (disk / "t-0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HarnessError, match=r"t-0 is a link\. Nothing was changed\."):
        refuse_links(path for _, path in files)


def hold_as_a_broker_does(path: Path, ready, over) -> None:
    import fcntl

    with path.open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)  # what Java's FileChannel.tryLock asks the kernel for
        ready.set()
        over.wait(30)


def test_a_broker_that_runs_is_noticed_by_its_lock_and_one_that_starts_meanwhile_is_kept_out(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, ["t-0"])
    fork = multiprocessing.get_context("spawn")
    ready, over = fork.Event(), fork.Event()
    broker = fork.Process(target=hold_as_a_broker_does, args=(disk / ".lock", ready, over))
    broker.start()
    assert ready.wait(30)
    with pytest.raises(HarnessError, match=r"A broker runs on .*: it holds \.lock"), stopped([disk]):
        pass
    over.set()
    broker.join(30)
    with stopped([disk]):
        starts = fork.Process(target=starts_as_a_broker_does, args=(disk / ".lock",))
        starts.start()
        starts.join(30)
        assert starts.exitcode == 7
    starts = fork.Process(target=starts_as_a_broker_does, args=(disk / ".lock",))
    starts.start()
    starts.join(30)
    assert starts.exitcode == 0


def starts_as_a_broker_does(path: Path) -> None:
    import fcntl
    import sys

    with path.open("w") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(7)


def test_a_file_that_cannot_be_deleted_is_a_sentence(tmp_path, monkeypatch):
    disk, files = old_files(tmp_path)
    folder = BackupFolder(tmp_path / "backup")
    backup = folder.copy_all(PART, files)

    def refused(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(HarnessError, match=r"cannot be deleted: Permission denied\. Work as the user"):
        delete_files(folder, backup, {Path(each.path) for each in backup.files})
    assert stat.S_ISREG((disk / "t-0" / "partition.metadata").stat().st_mode)
