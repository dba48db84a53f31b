"""Locks that die with their holder, which distinguish what a killed harness left from what a living one uses.

The kernel lets go of a lock (flock) when its holder ends, however it ends: no lock is ever stale.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.base.errors import HarnessError
from harness.base.text import cut

MARKER = ".owner"
SCRATCH = "kafka-patch-harness-scratch-"
_MARKER_BYTES = 500


@contextmanager
def owned(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; its marker names the owner to others.

    Raises HarnessError when another process holds it, or when the file system keeps no locks.
    """
    marker = folder / MARKER
    try:
        lock = _lock(marker)
    except OSError as error:
        raise HarnessError(f"{marker} cannot be locked: {error.strerror}.", "Use a folder on a local disk.") from error
    if lock is None:
        raise HarnessError(f"{folder} is in use by {_holder(marker)}.", "Wait until it ends, or use another folder.")
    try:
        os.truncate(lock, 0)
        os.write(lock, _this_process().encode())
        yield
    finally:
        marker.unlink(missing_ok=True)
        os.close(lock)


@contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """Yield a new folder below `parent` (made when missing) that is gone afterwards.

    After a kill it goes with the next `sweep` of `parent`.
    """
    parent.mkdir(parents=True, exist_ok=True)
    folder, lock = _new_scratch(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep(parent: Path) -> list[Path]:
    """Remove this user's scratch folders below `parent` that nobody holds any more, and return them."""
    return [folder for folder in sorted(parent.glob(f"{SCRATCH}*")) if _is_own(folder) and _swept(folder)]


def _new_scratch(parent: Path) -> tuple[Path, int]:
    """Make and lock a folder; one that a sweep takes for left over before it is locked is made anew."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=parent))
        with suppress(FileNotFoundError):
            lock = _lock(folder / MARKER)
            if lock is not None:
                return folder, lock


def _is_own(folder: Path) -> bool:
    with suppress(FileNotFoundError):
        seen = folder.lstat()  # not through a link that somebody laid out in a shared folder
        return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid()
    return False


def _swept(folder: Path) -> bool:
    try:
        lock = _lock(folder / MARKER)
    except OSError:  # its owner has just removed it, or nothing can be changed or locked there
        return False
    if lock is None:
        return False
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
    return True


def _lock(path: Path) -> int | None:
    """Return a descriptor that holds the lock on a file, which is made when missing; None while another holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its last holder removed the file between our opening and our locking it


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _this_process() -> str:
    began = datetime.fromtimestamp(psutil.Process().create_time(), UTC)
    return f"process {os.getpid()}, running since {began:%Y-%m-%d %H:%M:%S} UTC ({' '.join(sys.argv[1:3])})"


def _holder(marker: Path) -> str:
    try:
        text = marker.read_bytes()[:_MARKER_BYTES].decode("utf-8", "replace")
    except OSError:
        text = ""
    return cut(" ".join(text.split()), 200) or "another process"
