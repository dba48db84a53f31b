"""Data directories of brokers, read: nothing is opened for writing."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from sys import intern

from harness.base.errors import HarnessError
from harness.cluster.config import parse_properties
from harness.topicids.names import FolderName, Kind, parse_folder_name
from harness.topicids.records import MOST_BROKER, UNKNOWN_BROKER, DataDirectory, PartitionDirectory
from harness.topicids.topic_id import FILE_NAME, MOST_BYTES, parse_partition_metadata

META_PROPERTIES = "meta.properties"
_MOST_PROPERTIES = 2**16
_EPOCHS = "leader-epoch-checkpoint"
_LOADED = (Kind.PARTITION, Kind.FUTURE, Kind.DELETED, Kind.STRAY)
_BROKER = re.compile(r"[0-9]{1,10}")
# LeaderEpochCheckpointFile: version, count, and the first of the epochs with where it began
_HAS_EPOCHS = re.compile(rb"0\r?\n[1-9][0-9]*\r?\n[0-9]+ [0-9]+\s")
# A pipe that somebody put there must not hold the check up.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose a data directory is, and of which cluster; empty where it does not say."""

    broker: int = UNKNOWN_BROKER
    cluster_id: str = ""


def read_data_directory(path: Path) -> DataDirectory:
    """Return what lies in a data directory. Raises HarnessError where it cannot be listed."""
    try:
        names = _folders(path)
    except OSError as error:
        raise HarnessError(
            f"The data directory {path} cannot be read: {error.strerror}.",
            "Name a folder of the broker's log.dirs, as a user who may read it.",
        ) from error
    identity, problems = _identity(path)
    passed_over: Counter[str] = Counter()
    partitions = []
    for name, linked in names.items():
        found = parse_folder_name(name)
        each = _partition(path, name, found, linked)
        if each is not None:
            partitions.append(each)
        elif found.kind is not Kind.METADATA:
            passed_over[found.kind.value] += 1
    return DataDirectory(
        str(path), identity.broker, identity.cluster_id, tuple(partitions), dict(passed_over), problems
    )


def data_directory_around(path: Path) -> Path | None:
    """Return the data directory of a broker in which a path lies; None where it lies in none.

    A broker ends when it starts where a folder of another name lies (LogManager.loadLog). Raises HarnessError where
    that cannot be seen.
    """
    try:
        place = path.resolve()
        return next((each for each in (place, *place.parents) if (each / META_PROPERTIES).is_file()), None)
    except OSError as error:
        raise _unseen(path, error) from error


def check_new_folder(folder: Path, option: str) -> None:
    """Raise HarnessError where a folder that is to be made would lie in a broker's data directory."""
    try:
        is_there = folder.exists()
    except OSError as error:
        raise _unseen(folder, error) from error
    if not is_there and (around := data_directory_around(folder)):
        raise HarnessError(
            f"{folder} would be a folder in the data directory {around}: the broker would not start again.",
            f"Name a place elsewhere by {option}.",
        )


def _unseen(path: Path, error: OSError) -> HarnessError:
    return HarnessError(
        f"{path} cannot be looked at: {error.strerror}. Nothing was changed.", "Name a folder that this user may read."
    )


def once(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return paths without those that lead to a folder once more, as a link does."""
    found: dict[object, Path] = {}
    for path in paths:
        found.setdefault(_inode(path), path)
    return tuple(found.values())


def _inode(path: Path) -> object:
    try:
        seen = path.stat()
    except OSError:  # whoever reads it says so
        return path
    return seen.st_dev, seen.st_ino


def read_collected(root: Path) -> Iterator[DataDirectory]:
    """Yield each data directory below a folder of files that were collected from brokers.

    A folder with partitions in it is a data directory. Where no `meta.properties` came along, the first folder
    below `root` whose name ends in a number names the broker. When files were written is unknown: copies have times
    of their own.
    """
    for path in _data_directories_below(root):
        found = read_data_directory(path)
        if found.broker == UNKNOWN_BROKER:
            found = replace(found, broker=_broker_by_name(path.relative_to(root)))
        yield replace(found, partitions=tuple(replace(each, written=0.0) for each in found.partitions))


def _data_directories_below(root: Path) -> Iterator[Path]:
    """Yield folders that hold partitions or `meta.properties`, in order; links are not followed out of the root."""
    try:
        is_folder = root.is_dir()
    except OSError as error:
        raise HarnessError(f"{root} cannot be looked at: {error.strerror}.", "Let this user read it.") from error
    if not is_folder:
        raise HarnessError(f"{root} is no folder.", "Name the folder into which the brokers' files were collected.")
    failed: list[OSError] = []
    for here, folders, files in os.walk(root, onerror=failed.append):
        partitions = {name for name in folders if _is_partition(f"{here}/{name}", name)}
        folders[:] = sorted(set(folders) - partitions)
        if partitions or META_PROPERTIES in files:
            yield Path(here)
    if failed:
        raise HarnessError(f"{failed[0].filename} cannot be read: {failed[0].strerror}.", "Let this user read it.")


def _is_partition(path: str, name: str) -> bool:
    """Whether a folder is a partition's; one that holds folders or `meta.properties` is a broker's, as `broker-2`."""
    if parse_folder_name(name).kind is Kind.OTHER:
        return False
    try:
        with os.scandir(path) as entries:
            return not any(entry.name == META_PROPERTIES or _is_folder(entry) for entry in entries)
    except OSError:  # what cannot be listed is told as a partition that cannot be read
        return True


def _broker_by_name(path: Path) -> int:
    for part in path.parts:
        digits = part[len(part.rstrip("0123456789")) :]
        if _BROKER.fullmatch(digits):
            return int(digits)
    return UNKNOWN_BROKER


def _folders(path: Path) -> dict[str, bool]:
    """Return the names of folders, sorted, and whether each is a link to one, which is a folder to Kafka too."""
    with os.scandir(path) as entries:
        return dict(sorted((entry.name, entry.is_symlink()) for entry in entries if _is_folder(entry)))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, as java.io.File.isDirectory says it: a link that goes in circles is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _partition(data: Path, name: str, named: FolderName, linked: bool) -> PartitionDirectory | None:
    """Return what is in a folder, or None where no broker serves it and Kafka can load it.

    Kafka loads what is being deleted, moved or was set aside too when it starts (LogManager.loadLogs): a file that it
    cannot read there takes the whole data directory offline as well.
    """
    if named.kind not in _LOADED:
        return None
    found = _found_id(data, name, intern(named.topic), named.partition)
    if linked:
        found = replace(found, linked=True)
    if named.kind is Kind.PARTITION:
        return replace(found, epochless=True) if _is_epochless(f"{data}/{name}") else found
    return replace(found, folder=name) if found.refused or named.kind is Kind.FUTURE else None


def _found_id(data: Path, name: str, topic: str, partition: int) -> PartitionDirectory:
    path, linked = f"{data}/{name}/{FILE_NAME}", False
    try:
        try:
            content, written = read_small_file(path, MOST_BYTES, os.O_NOFOLLOW)
        except OSError as error:
            linked = error.errno == errno.ELOOP
            if not linked:
                raise
            content, written = read_small_file(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError) as error:
        if linked:
            return PartitionDirectory(topic, partition, problem=f"it is a link that leads nowhere ({error.strerror})")
        return PartitionDirectory(topic, partition)
    except OSError as error:
        return PartitionDirectory(topic, partition, problem=error.strerror or str(error))
    found = parse_partition_metadata(content)
    return PartitionDirectory(
        topic, partition, intern(found.topic_id), found.problem, found.refused, written, linked=linked
    )


def _is_epochless(folder: str) -> bool:
    """Whether a log has records, and no leader epochs that can be read, as when somebody deleted their file."""
    try:
        content, _ = read_small_file(f"{folder}/{_EPOCHS}", MOST_BYTES)
        if _HAS_EPOCHS.match(content):
            return False
    except OSError:  # none, or none that anybody could say more of
        pass
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".log") and entry.stat().st_size for entry in entries)
    except OSError:
        return True


def read_small_file(path: str, most: int, more: int = 0) -> tuple[bytes, float]:
    """Return the first `most` + 1 bytes of a regular file, and when it was written; `more` are flags to open it with.

    Raises OSError.
    """
    handle = os.open(path, _READ | more)
    try:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(0, "it is no regular file")
        return os.read(handle, most + 1), seen.st_mtime
    finally:
        os.close(handle)


def read_identity(path: Path) -> Identity:
    """Return whose a data directory is, and of which cluster, by its `meta.properties`."""
    return _identity(path)[0]


def _identity(path: Path) -> tuple[Identity, tuple[str, ...]]:
    """Return whose a data directory is, and what could not be read of that."""
    try:
        content, _ = read_small_file(str(path / META_PROPERTIES), _MOST_PROPERTIES)
        found = parse_properties(content.decode("latin-1"))
    except FileNotFoundError:
        return Identity(), ()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return Identity(), (f"{path / META_PROPERTIES} cannot be read: {why}.",)
    broker = (found.get("broker.id") or found.get("node.id") or "").strip()
    is_number = _BROKER.fullmatch(broker) is not None and int(broker) <= MOST_BROKER
    return Identity(int(broker) if is_number else UNKNOWN_BROKER, found.get("cluster.id", "").strip()), ()
