"""Room on a disk: whether an error is for want of it, and some that is held for what must still be written."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from harness.base.paths import nearest_existing

# With less than this neither nodes nor the harness can go on.
LEAST_DISK_BYTES = 32 * 2**20
_NO_ROOM = tuple(map(os.strerror, (errno.ENOSPC, errno.EDQUOT)))
# A journal's last lines and a result take some 100 kB; nodes that still run write a megabyte a second.
_HELD_BYTES = 16 * 2**20


def lacks_room(error: BaseException) -> bool:
    """Whether a full disk or quota caused an error; shutil's have but the words."""
    if error.__cause__ is not None and lacks_room(error.__cause__):
        return True
    return isinstance(error, OSError) and any(words in str(error) for words in _NO_ROOM)


def free_bytes(path: Path) -> int:
    """Return how much room is left on the disk of a path, which need not exist yet."""
    return shutil.disk_usage(nearest_existing(path)).free


class HeldRoom:
    """Room that a file takes until it is needed, or no more; none on a disk that has none, or can hold none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with suppress(OSError), path.open("xb") as file:
            os.posix_fallocate(file.fileno(), 0, _HELD_BYTES)

    def release(self) -> bool:
        """Give the room back; return whether there was any."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
