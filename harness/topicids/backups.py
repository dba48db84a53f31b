"""What a repair keeps before it changes anything, and the journal of what it changed: a folder that outlives it.

backup/
├── backup.json       what is in it, written behind the copies: without it nothing has been changed
├── plan.json         the plan that it is a part of: another one can be made only when this is carried out
├── journal.jsonl     a line before each change
├── files/…           the files, as they stood in their data directories
├── replaced/…        what a restore found in their places
└── unfinished-…      copies of an attempt that was killed before it had all, or of a repair whose backup.json is lost
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from stat import S_IMODE

from harness.base.errors import HarnessError
from harness.base.files import PARTIAL, sha256_of
from harness.base.json import to_json
from harness.base.recordfile import RecordFile
from harness.model import topic_repair
from harness.model.topic_repair import Backup, Part, RepairPlan, SavedFile, SavedNode
from harness.topicids.durable import copy_durably, flush_folders, make_folders, write_durably
from harness.topicids.topic_id import FILE_NAME

_MANIFEST, _JOURNAL, _FILES, _REPLACED = "backup.json", "journal.jsonl", "files", "replaced"
_PLAN, _UNFINISHED = "plan.json", "unfinished-"
_ELSEWHERE = "Name a folder on another disk by --backup."
_ANOTHER = "Name another folder by --backup, or give the command that this one is of."


@dataclass(frozen=True, slots=True)
class BackupFolder:
    """The folder of a repair's backup and journal."""

    path: Path

    @property
    def manifest(self) -> RecordFile[Backup]:
        """What is in it."""
        return RecordFile(
            self.path / _MANIFEST,
            Backup,
            topic_repair.BACKUP_SCHEMA,
            lambda: HarnessError(f"{self.path} is no backup of a repair: it has no {_MANIFEST}."),
            "Restore by hand: its files folder has the files as they stood.",
        )

    @property
    def plan(self) -> RecordFile[RepairPlan]:
        """The plan that it is a part of."""
        return RecordFile(self.path / _PLAN, RepairPlan, remedy="Restore by hand: its files folder has the files.")

    def begun(self, part: Part) -> Backup | None:
        """Return what an earlier attempt at this part has kept, or None. Raises HarnessError for that of another."""
        try:
            if not self.manifest.exists:
                return None
        except OSError as error:
            raise self._unwritten(error) from error
        backup = self.checked()
        if backup.part != part:
            raise HarnessError(
                f"{self.path} is the backup of another repair: {_difference(backup.part, part)}. Nothing was changed.",
                _ANOTHER,
            )
        return backup

    def copy_all(self, part: Part, found: Sequence[tuple[Path, Path]]) -> Backup:
        """Copy files (each with its data directory) and return what there is now; an earlier backup stays as it is.

        Raises HarnessError where one cannot be kept, such as on a full disk: nothing is left of the backup then; and
        where an earlier backup is of another repair, or lacks one of these files.
        """
        if (begun := self.begun(part)) is not None:
            self._check_complete(begun, found)
            return begun
        self._make()
        try:
            data = sorted({str(directory) for directory, _ in found})
            files = tuple(self._copy(data.index(str(directory)), path) for directory, path in found)
            return self._finish(Backup(part, tuple(data), files, ()))
        except OSError as error:
            self._remove()
            raise self._unwritten(error) from error

    def keep(self, part: Part, nodes: Sequence[SavedNode]) -> Backup:
        """Write down nodes of ZooKeeper before they change. Raises HarnessError."""
        self._make()
        try:
            return self._finish(Backup(part, (), (), tuple(nodes)))
        except OSError as error:
            self._remove()
            raise self._unwritten(error) from error

    def keep_plan(self, plan: RepairPlan) -> None:
        """Keep the plan beside it. Raises HarnessError."""
        try:
            write_durably(self.path / _PLAN, to_json(plan).encode())
        except OSError as error:
            raise self._unwritten(error) from error

    def checked(self) -> Backup:
        """Return what is in it, every copy as it was. Raises HarnessError."""
        backup = self.manifest.read()
        for each in backup.files:
            if digest(self.path / each.copy) != each.sha256:
                raise HarnessError(
                    f"{self.path / each.copy} is not what was backed up.", "Look at it before you go on."
                )
        return backup

    def note(self, did: str, path: str) -> None:
        """Write down what is about to be done, so that it is on the disk before it is done. Raises HarnessError."""
        line = json.dumps({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "does": did, "to": path})
        journal = self.path / _JOURNAL
        try:
            is_new = not journal.exists()
            with journal.open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            if is_new:
                flush_folders([self.path])
        except OSError as error:
            raise HarnessError(
                f"{journal} cannot be written: {error.strerror}. Nothing was done that it does not name.",
                "Give it room, and give the same command again: it goes on.",
            ) from error

    def set_aside(self, path: Path) -> None:
        """Keep what now stands where a file is restored. Raises OSError."""
        aside = self.path / _REPLACED / f"{digest(path)[:16]}-{path.parent.name}"
        make_folders(aside.parent)
        copy_durably(path, aside)

    def _make(self) -> None:
        """Make the folder, or take one with no more in it than copies of an attempt that was killed.

        They are set aside: whose they are, nobody knows who has only them. Raises HarnessError.
        """
        try:
            make_folders(self.path)
            names = {each.name for each in self.path.iterdir()}
            partial = {name for name in names if name.startswith(f"{PARTIAL}{_MANIFEST}-")}
            aside = {name for name in names if name.startswith(_UNFINISHED)}
            if names - partial - aside - {_FILES} or not _holds_only_copies(self.path / _FILES):
                raise HarnessError(
                    f"{self.path} is not empty, and no backup of a repair that could go on. Nothing was changed.",
                    "Name another by --backup.",
                )
            for name in partial:
                (self.path / name).unlink()
            if _FILES in names:
                (self.path / _FILES).rename(self.path / next(each for each in _set_aside_names() if each not in aside))
        except OSError as error:
            raise self._unwritten(error) from error

    def _remove(self) -> None:
        """Remove what this attempt has copied, and the folder if there is nothing else in it."""
        shutil.rmtree(self.path / _FILES, ignore_errors=True)
        with suppress(OSError):
            self.path.rmdir()

    def _copy(self, number: int, path: Path) -> SavedFile:
        copy = Path(_FILES, str(number), path.parent.name, path.name)
        target = self.path / copy
        make_folders(target.parent)
        content, seen = path.read_bytes(), path.stat()
        write_durably(target, content)
        os.utime(target, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
        if target.read_bytes() != content:
            raise OSError(0, f"{target} does not hold what was written to it")
        sha256 = hashlib.sha256(content).hexdigest()
        return SavedFile(
            str(path), str(copy), sha256, seen.st_mtime_ns, S_IMODE(seen.st_mode), seen.st_uid, seen.st_gid
        )

    def _check_complete(self, backup: Backup, found: Sequence[tuple[Path, Path]]) -> None:
        kept = {each.path for each in backup.files}
        lacking = [str(path) for _, path in found if str(path) not in kept]
        if lacking:
            raise HarnessError(f"{self.path} has no copy of {lacking[0]}. Nothing was changed.", _ANOTHER)

    def _finish(self, backup: Backup) -> Backup:
        write_durably(self.manifest.path, to_json(backup).encode())
        return backup

    def _unwritten(self, error: OSError) -> HarnessError:
        return HarnessError(
            f"The backup cannot be written to {self.path}: {error.strerror}. Nothing was changed.", _ELSEWHERE
        )


def _set_aside_names() -> Iterator[str]:
    return (f"{_UNFINISHED}{number}" for number in count(1))


def _holds_only_copies(folder: Path) -> bool:
    """Whether a folder is absent, or holds nothing but what `copy_all` writes."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        return False
    names = (each.name for each in folder.rglob("*") if not each.is_dir())
    return all(name == FILE_NAME or name.startswith(f"{PARTIAL}{FILE_NAME}-") for name in names)


def _difference(kept: Part, wanted: Part) -> str:
    """Return in what two parts differ."""
    if kept.choice is not wanted.choice:
        return f"to {kept.choice.value}"
    if kept.broker != wanted.broker:
        return f"of broker {kept.broker}"
    if (kept.cluster_id, kept.zookeeper) != (wanted.cluster_id, wanted.zookeeper):
        return f"of cluster {kept.cluster_id or 'unknown'} at {kept.zookeeper}"
    return "of another plan"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty where there is none. Raises HarnessError."""
    try:
        return sha256_of(path)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", "Let this user read it.") from error
