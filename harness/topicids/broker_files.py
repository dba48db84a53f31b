"""The files of one broker that a repair deletes, and a restore puts back, while nobody else can touch them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import HarnessError
from harness.model.topic_repair import Backup, RepairPlan, SavedFile
from harness.topicids.backups import BackupFolder, digest
from harness.topicids.disks import Identity, read_small_file
from harness.topicids.durable import flush_folders, restore_durably
from harness.topicids.names import Kind, is_topic_name, parse_folder_name
from harness.topicids.records import DataDirectory
from harness.topicids.topic_id import FILE_NAME, MOST_BYTES, parse_partition_metadata
from harness.topicids.zookeeper import TOPICS

_LOCK = ".lock"  # kafka.log.LogManager.LockFileName
_LOOK = "Somebody has changed the backup: restore by hand what you know."
_AS_BROKER = "Work as the user that the broker runs as."
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
    """Hold one lock; one that was not there stays where all goes well."""
    try:
        handle, is_new = _open_lock(path), False
    except FileNotFoundError:
        handle, is_new = _open_lock(path, os.O_CREAT | os.O_EXCL), True
    try:
        _lock(handle, path)
        with _removed_on_error(path) if is_new else nullcontext():
            if is_new:
                _give_to_broker(handle, path.parent)
            yield
    finally:
        os.close(handle)


@contextmanager
def _removed_on_error(path: Path) -> Iterator[None]:
    """Remove a lock that was made, and is held, where nothing comes of what it was made for."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def check_stopped(data: Iterable[Path]) -> None:
    """Raise HarnessError where a broker has a lock of data directories; nothing is written, nor held."""
    for path in data:
        try:
            handle = _open_lock(path / _LOCK)
        except FileNotFoundError:  # no broker has run there
            continue
        try:
            _lock(handle, path / _LOCK)
        finally:
            os.close(handle)


def _open_lock(path: Path, create: int = 0) -> int:
    """Return the open lock. Raises FileNotFoundError where there is none and none is made, and HarnessError."""
    try:
        return os.open(path, os.O_RDWR | create | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not create:
            raise
        raise HarnessError(f"{path} cannot be opened: {error.strerror}.", _AS_BROKER) from error


def _give_to_broker(handle: int, folder: Path) -> None:
    """Have a new lock belong to whom the data directory does: the broker must be able to open it."""
    seen = folder.stat()
    if (seen.st_uid, seen.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(PermissionError):
            os.fchown(handle, seen.st_uid, seen.st_gid)


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise HarnessError(f"A broker runs on {path.parent}: it holds {_LOCK}. Nothing was changed.", _STOP) from error
    except OSError as error:
        raise HarnessError(f"{path} cannot be locked: {error.strerror}. Nothing was changed.") from error


def files_of(plan: RepairPlan, broker: int, data: Sequence[DataDirectory]) -> list[tuple[Path, Path]]:
    """Return the planned files, those with an old id on these disks, each behind its data directory; pure.

    Raises HarnessError where the disks are not those that the plan is about.
    """
    for disk in data:
        check_owner(Path(disk.path), Identity(disk.broker, disk.cluster_id), Identity(broker, plan.cluster_id))
    old = plan.old_ids(broker)
    return [
        (Path(disk.path), Path(disk.path, each.name, FILE_NAME))
        for disk in data
        for each in disk.partitions
        if each.topic_id and each.topic_id in old.get((each.topic, each.partition), ())
    ]


def check_owner(path: Path, found: Identity, wanted: Identity) -> None:
    """Raise HarnessError where a data directory is not that broker's, or of another cluster."""
    same_cluster = found.cluster_id == wanted.cluster_id or not (found.cluster_id and wanted.cluster_id)
    if found.broker == wanted.broker and same_cluster:
        return
    raise HarnessError(
        f"{path} belongs to broker {found.broker} of cluster {found.cluster_id or 'unknown'}, and this is about broker "
        f"{wanted.broker} of cluster {wanted.cluster_id or 'unknown'}. Nothing was changed.",
        "Name that broker's server.properties, or work on its host.",
    )


def refuse_links(files: Iterable[Path]) -> None:
    """Raise HarnessError where a file or its folder is a link: whose it is too, nobody knows."""
    for path in files:
        try:
            link = next((each for each in (path, path.parent) if each.is_symlink()), None)
        except OSError as error:
            raise _unseen(path, error) from error
        if link is not None:
            raise HarnessError(f"{link} is a link. Nothing was changed.", "Repair what it leads to by hand.")


def is_folder(path: Path) -> bool:
    """Whether a folder is there. Raises HarnessError where that cannot be seen."""
    try:
        return path.is_dir()
    except OSError as error:
        raise _unseen(path, error) from error


def _unseen(path: Path, error: OSError) -> HarnessError:
    return HarnessError(f"{path} cannot be looked at: {error.strerror}. Nothing was changed.", _AS_BROKER)


def delete_files(folder: BackupFolder, backup: Backup, wanted: Collection[Path]) -> int:
    """Delete what was backed up and is wanted: it was just seen with an old id; return how many were deleted now.

    What an earlier attempt deleted may have been written anew by a broker that started meanwhile. Raises HarnessError
    where one has changed, or cannot be deleted; what was done is in the journal.
    """
    count = 0
    for each in backup.files:
        path = Path(each.path)
        found = digest(path) if path in wanted else ""
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


def check_places(backup: Backup) -> None:
    """Raise HarnessError where a backup names anything but topics' nodes, and partitions' files in its directories."""
    for node in backup.nodes:
        if node.path.rpartition("/")[0] != TOPICS or not is_topic_name(node.path.rpartition("/")[2]):
            raise HarnessError(f"{node.path} is no topic's node in ZooKeeper. Nothing was changed.", _LOOK)
    for each in backup.files:
        path, copy = Path(each.path), Path(each.copy)
        kind = parse_folder_name(path.parent.name).kind
        is_ours = path.name == FILE_NAME and kind in (Kind.PARTITION, Kind.FUTURE)
        if not is_ours or str(path.parent.parent) not in backup.data:
            raise HarnessError(f"{path} is no place of a partition's file. Nothing was changed.", _LOOK)
        if copy.is_absolute() or ".." in copy.parts:
            raise HarnessError(f"{copy} is not in the backup. Nothing was changed.", _LOOK)


@dataclass(frozen=True, slots=True)
class Restored:
    """How many files were put back, and the paths of those left out.

    `gone` are those whose folder is gone, as of a partition that was moved; in the place of `others` stands an id that
    is none of the repair's: the topic was created again since.
    """

    count: int
    gone: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def restore_files(folder: BackupFolder, backup: Backup, new_ids: Mapping[str, str]) -> Restored:
    """Put back what was backed up, and keep what stands there now; `new_ids` are what the repair gave topics.

    Raises HarnessError where one cannot be written.
    """
    different = [each for each in backup.files if digest(Path(each.path)) != each.sha256]
    gone = [each for each in different if not is_folder(Path(each.path).parent)]
    others = [each for each in different if each not in gone and _is_anothers(Path(each.path), new_ids)]
    left_out = (*gone, *others)
    back = [each for each in different if each not in left_out]
    for each in back:
        _restore(folder, each)
    return Restored(len(back), tuple(each.path for each in gone), tuple(each.path for each in others))


def _is_anothers(path: Path, new_ids: Mapping[str, str]) -> bool:
    """Whether a file stands there with another id than the topic got by the repair."""
    with suppress(FileNotFoundError):
        found = parse_partition_metadata(read_small_file(str(path), MOST_BYTES)[0])
        return found.topic_id != new_ids.get(parse_folder_name(path.parent.name).topic, "")
    return False


def _restore(folder: BackupFolder, saved: SavedFile) -> None:
    path = Path(saved.path)
    folder.note("restore", str(path))
    try:
        if path.exists():
            folder.set_aside(path)
        restore_durably(path, (folder.path / saved.copy).read_bytes(), saved)
    except OSError as error:
        raise HarnessError(
            f"{path} cannot be restored from {folder.path}: {error.strerror}.",
            "Give both disks room, work as the broker's user, and give the same command again: it goes on.",
        ) from error


def _unlink(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise HarnessError(
            f"{path} cannot be deleted: {error.strerror}.",
            "Work as the user that the broker runs as, and give the same command again: it goes on.",
        ) from error
