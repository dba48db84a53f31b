"""The files of one broker that a repair deletes, and a restore puts back, while nobody else can touch them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import write_bytes
from harness.model.topic_repair import Backup, Choice, RepairPlan, SavedFile
from harness.topicids.backups import BackupFolder, digest, flush_folders
from harness.topicids.records import DataDirectory
from harness.topicids.topic_id import FILE_NAME

_LOCK = ".lock"  # kafka.log.LogManager.LockFileName
_STOP = "Stop the broker, and give the same command again."


@contextmanager
def stopped(data: Iterable[Path]) -> Iterator[None]:
    """Hold the locks of data directories as a broker would: one that is started meanwhile ends at once.

    Raises HarnessError where a broker has one.
    """
    with ExitStack() as held:
        for path in data:
            held.enter_context(_locked(path / _LOCK))
        yield


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise HarnessError(
            f"{path} cannot be opened: {error.strerror}.", "Work as the user that the broker runs as."
        ) from error
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise HarnessError(f"A broker runs on {path.parent}: it holds {_LOCK}. Nothing was changed.", _STOP) from error
    finally:
        os.close(handle)


def files_of(plan: RepairPlan, broker: int, data: Sequence[DataDirectory]) -> list[tuple[Path, Path]]:
    """Return the files with an old id that are on these disks, each behind its data directory; pure.

    Raises HarnessError where the disks are not those that the plan is about.
    """
    for disk in data:
        if disk.broker != broker or (disk.cluster_id and plan.cluster_id and disk.cluster_id != plan.cluster_id):
            raise HarnessError(
                f"{disk.path} belongs to broker {disk.broker} of cluster {disk.cluster_id or 'unknown'}, and the plan "
                f"is about broker {broker} of cluster {plan.cluster_id or 'unknown'}.",
                "Name that broker's server.properties.",
            )
    old = {each.topic: each.on_disk for each in plan.chosen(Choice.DELETE)}
    return [
        (Path(disk.path), Path(disk.path, f"{each.topic}-{each.partition}", FILE_NAME))
        for disk in data
        for each in disk.partitions
        if each.topic_id and each.topic_id in old.get(each.topic, ())
    ]


def refuse_links(files: Iterable[tuple[Path, Path]]) -> None:
    """Raise HarnessError where a file or its folder is a link: whose it is too, nobody knows."""
    for _, path in files:
        link = next((each for each in (path, path.parent) if each.is_symlink()), None)
        if link is not None:
            raise HarnessError(f"{link} is a link. Nothing was changed.", "Repair what it leads to by hand.")


def delete_files(folder: BackupFolder, backup: Backup) -> int:
    """Delete what was backed up and still stands as it stood; return how many were deleted now.

    Raises HarnessError where one has changed, or cannot be deleted; what was done is in the journal.
    """
    count = 0
    for each in backup.files:
        path = Path(each.path)
        found = digest(path)
        if not found:  # an earlier attempt came so far
            continue
        if found != each.sha256:
            raise HarnessError(
                f"{path} has changed since it was backed up; {count} files were deleted before it.",
                f"Make the plan again, with another backup than {folder.path}.",
            )
        folder.note("delete", str(path))
        _unlink(path)
        count += 1
    flush_folders({Path(each.path).parent for each in backup.files})
    return count


def restore_files(folder: BackupFolder, backup: Backup) -> int:
    """Put back what was backed up, and keep what stands there now; return how many were put back.

    Raises HarnessError where one cannot be written.
    """
    different = [each for each in backup.files if digest(Path(each.path)) != each.sha256]
    for each in different:
        _restore(folder, each)
    flush_folders({Path(each.path).parent for each in different})
    return len(different)


def _restore(folder: BackupFolder, saved: SavedFile) -> None:
    path = Path(saved.path)
    if not path.parent.is_dir():
        raise HarnessError(f"{path.parent} is gone: its partition was moved or deleted.", "Restore the others by hand.")
    folder.note("restore", str(path))
    try:
        if path.exists():
            folder.set_aside(path)
        write_bytes(path, (folder.path / saved.copy).read_bytes())
        os.utime(path, ns=(saved.written_ns, saved.written_ns))
    except OSError as error:
        raise HarnessError(f"{path} cannot be written: {error.strerror}.", "Give the same command again.") from error


def _unlink(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise HarnessError(
            f"{path} cannot be deleted: {error.strerror}.",
            "Work as the user that the broker runs as, and give the same command again: it goes on.",
        ) from error
