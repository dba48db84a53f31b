"""Files and folders that appear whole or not at all: made beside their place, then renamed."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

PARTIAL = ".partial-"  # how a file is named until it is whole


def write_with(path: Path, write: Callable[[Path], object], mode: int = 0o644) -> Path:
    """Have `write` write a file beside `path`, rename it there and return `path`; its folder is made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{PARTIAL}{path.name}-")
    os.close(handle)
    try:
        write(Path(name))
        os.chmod(name, mode)  # noqa: PTH101 - mkstemp's 0600 would keep a reviewer out
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def write_bytes(path: Path, content: bytes) -> Path:
    """Write a file atomically and return its path."""
    return write_with(path, lambda staged: staged.write_bytes(content))


def write_text(path: Path, content: str) -> Path:
    """Write UTF-8 text atomically and return its path."""
    return write_bytes(path, content.encode("utf-8", "surrogateescape"))


def move_folder(made: Path, place: Path) -> None:
    """Rename a finished folder to `place`; where another process was quicker, its folder stays as it is."""
    try:
        made.rename(place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
