"""Files that are on the disk, with their names, once they are written: what a repair keeps survives a power cut."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.base.files import PARTIAL, write_with
from harness.model.topic_repair import SavedFile


def write_durably(path: Path, content: bytes) -> Path:
    """Write a file atomically, and have it and its name on the disk; return its path. Raises OSError."""
    remove_partials(path)
    written = write_with(path, lambda staged: _write(staged, content))
    flush_folders([path.parent])
    return written


def restore_durably(path: Path, content: bytes, saved: SavedFile) -> None:
    """Write a file as it was: its owner, its permissions and its time too. Raises OSError."""
    remove_partials(path)
    write_with(path, lambda staged: _write(staged, content, saved), mode=saved.mode)
    flush_folders([path.parent])


def remove_partials(path: Path) -> None:
    """Remove what an attempt to write a file has left that was killed."""
    for each in path.parent.glob(f"{PARTIAL}{path.name}-*"):
        each.unlink()


def copy_durably(path: Path, target: Path) -> None:
    """Copy a file with its time and permissions. Raises OSError."""
    shutil.copy2(path, target)
    _flush(target)
    flush_folders([target.parent])


def make_folders(folder: Path) -> None:
    """Make a folder and those above it that are missing, their names on the disk. Raises OSError."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    flush_folders(each.parent for each in missing)


def flush_folders(folders: Iterable[Path]) -> None:
    """Have what happened to names in folders on the disk; a file system that cannot is left alone."""
    for folder in folders:
        with suppress(OSError):
            _flush(folder)


def _write(staged: Path, content: bytes, saved: SavedFile | None = None) -> None:
    staged.write_bytes(content)
    if saved:
        seen = staged.stat()
        if (seen.st_uid, seen.st_gid) != (saved.uid, saved.gid):
            os.chown(staged, saved.uid, saved.gid)
        staged.chmod(saved.mode)
        os.utime(staged, ns=(saved.written_ns, saved.written_ns))
    _flush(staged)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
