"""Commands that operators pass around for this repair, run as they are typed: what they keep, and what they miss."""

import subprocess
import tarfile
from pathlib import Path

import pytest
from disks_sample import X, Y, broker_disk, metadata
from repair_sample import MIX, PART, disks, live, planned

from harness.topicids.backups import BackupFolder
from harness.topicids.broker_files import Restored, delete_files, files_of, restore_files
from harness.topicids.disks import read_data_directory
from harness.topicids.topic_id import FILE_NAME

# A line of arguments holds 128 KiB unless xargs is told otherwise (POSIX: LINE_MAX at least; GNU: that much at most).
_LINE = 128 * 1024
_FIND = "find . -name partition.metadata -o -name leader-epoch-checkpoint"


def shell(command: str, folder: Path) -> str:
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


@pytest.fixture
def large(tmp_path):
    """Return a data directory whose files do not fit into one line of arguments; topics may have such names."""
    disk = broker_disk(tmp_path / "d", 1)
    each = len(f"./{'t' * 240}-0000/{FILE_NAME}") + 1
    for number in range(2 * _LINE // each):
        folder = disk / f"{'t' * 240}-{number}"
        folder.mkdir()
        (folder / FILE_NAME).write_text(metadata(X))
    return disk


def test_xargs_tar_overwrites_its_archive_whenever_the_list_is_split(large, tmp_path):
    shell(f"{_FIND} | xargs tar -czf {tmp_path}/backup.tgz", large)
    with tarfile.open(tmp_path / "backup.tgz") as archive:
        kept = len(archive.getnames())
    found = len(list(large.glob(f"*/{FILE_NAME}")))
    assert 0 < kept < found, "the last part of the list, and no more"
    calls = shell(f"{_FIND} | xargs echo | wc -l", large)
    assert int(calls) > 1


def test_our_backup_of_such_files_has_every_one(tmp_path):
    large = broker_disk(tmp_path / "d", 1, [f"{'t' * 240}-{number}" for number in range(40)])
    folder = BackupFolder(tmp_path / "backup")
    files = [(large, path) for path in sorted(large.glob(f"*/{FILE_NAME}"))]
    kept = folder.copy_all(PART, files)
    assert len(kept.files) == len(files) == delete_files(folder, kept, {path for _, path in files})
    assert list(large.glob(f"*/{FILE_NAME}")) == []
    assert len((folder.path / "journal.jsonl").read_text().splitlines()) == len(files)
    assert restore_files(folder, folder.checked(), {}) == Restored(len(files))
    assert {path.read_text() for _, path in files} == {metadata(X)}


NAMES = ("orders", "archive-of-consumer_offsets", "my__transaction_state", "__consumer_offsets", "__transaction_state")


def test_the_grep_that_spares_internal_topics_drops_those_of_users_that_have_the_word_in_their_names(tmp_path):
    disk = broker_disk(tmp_path / "d", 1, [f"{name}-0" for name in NAMES])
    kept = shell("find . -name partition.metadata | grep -v consumer_offsets | grep -v transaction_state", disk)
    assert kept.split() == ["./orders-0/partition.metadata"]


@pytest.mark.parametrize("name", NAMES[:3])
def test_our_plan_spares_internal_topics_by_their_whole_names(tmp_path, name):
    disk = read_data_directory(broker_disk(tmp_path / "d", 1, {f"{name}-0": X, f"{name}-1": Y}))
    made = planned(Y, disks(MIX, name), live(name), name)
    assert made.refusals == ()
    assert [path.parent.name for _, path in files_of(made, 1, [disk])] == [f"{name}-0"]
