"""What a repair keeps before it changes anything, and the journal of what it changed: a folder that outlives it.

backup/
├── backup.json       what is in it, written last: without it nothing has been changed
├── journal.jsonl     a line before each change
└── files/…           the files, as they stood in their data directories
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.recordfile import RecordFile
from harness.model import topic_repair
from harness.model.topic_repair import Backup, SavedFile

_MANIFEST, _JOURNAL, _FILES, _REPLACED = "backup.json", "journal.jsonl", "files", "replaced"
_ELSEWHERE = "Name a folder on another disk by --backup."


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

    def copy_all(self, zookeeper: str, found: Sequence[tuple[Path, Path]]) -> Backup:
        """Copy files (each with its data directory) and return what there is now; an earlier backup stays as it is.

        Raises HarnessError where one cannot be kept, such as on a full disk: nothing is left of the backup then.
        """
        if self.manifest.exists:
            return self.checked()
        self._make()
        data = sorted({str(directory) for directory, _ in found})
        try:
            files = tuple(self._copy(data.index(str(directory)), path) for directory, path in found)
            return self._finish(Backup(zookeeper, tuple(data), files, ()))
        except OSError as error:
            shutil.rmtree(self.path, ignore_errors=True)
            raise HarnessError(
                f"The backup cannot be written to {self.path}: {error.strerror}. Nothing was changed.", _ELSEWHERE
            ) from error

    def keep(self, backup: Backup) -> Backup:
        """Write down nodes of ZooKeeper before they change. Raises HarnessError."""
        try:
            self._make()
            return self._finish(backup)
        except OSError as error:
            raise HarnessError(
                f"The backup cannot be written to {self.path}: {error.strerror}. Nothing was changed.", _ELSEWHERE
            ) from error

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
        try:
            with (self.path / _JOURNAL).open("a", encoding="utf-8") as stream:
                stream.write(line + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            raise HarnessError(
                f"{self.path / _JOURNAL} cannot be written: {error.strerror}. What it names was done, and no more.",
                "Give it room, and give the same command again: it goes on.",
            ) from error

    def set_aside(self, path: Path) -> None:
        """Keep what now stands where a file is restored."""
        aside = self.path / _REPLACED / f"{digest(path)[:16]}-{path.parent.name}"
        aside.parent.mkdir(exist_ok=True)
        shutil.copy2(path, aside)

    def _make(self) -> None:
        """Make the folder, or take one that nothing is in. Raises HarnessError, OSError."""
        self.path.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self.path / _FILES, ignore_errors=True)  # what a copy that was killed has left
        if any(self.path.iterdir()):
            raise HarnessError(f"{self.path} is not empty, and no backup of a repair.", "Name another by --backup.")

    def _copy(self, number: int, path: Path) -> SavedFile:
        copy = Path(_FILES, str(number), path.parent.name, path.name)
        target = self.path / copy
        target.parent.mkdir(parents=True, exist_ok=True)
        content, written = path.read_bytes(), path.stat().st_mtime_ns
        with target.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.utime(target, ns=(written, written))
        if target.read_bytes() != content:
            raise OSError(0, f"{target} does not hold what was written to it")
        return SavedFile(str(path), str(copy), hashlib.sha256(content).hexdigest(), written)

    def _finish(self, backup: Backup) -> Backup:
        self.manifest.write(backup)
        flush_folders([self.path])
        return backup


def digest(path: Path) -> str:
    """Return the SHA-256 of a file; empty where there is none. Raises HarnessError."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise HarnessError(f"{path} cannot be read: {error.strerror}.", "Let this user read it.") from error


def flush_folders(folders: Iterable[Path]) -> None:
    """Have what happened to names in folders on the disk; a file system that cannot is left alone."""
    for folder in folders:
        with suppress(OSError):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
