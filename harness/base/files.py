"""Files and folders that appear whole or not at all: made beside their place, then renamed; and a file's digest."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.base.errors import HarnessError

PARTIAL = ".partial-"  # how a file is named until it is whole
_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, as lower-case hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_with(path: Path, write: Callable[[Path], object], mode: int = 0o644) -> Path:
    """Have `write` write a file beside `path`, rename it there and return `path`; its folder is made when missing.

    Where `path` is a link, the file that it leads to is written. Raises HarnessError for what is no file, such as
    /dev/null or a pipe: a rename would put a file in its place.
    """
    _refuse_no_file(path)
    place = path.resolve() if path.is_symlink() else path
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=f"{PARTIAL}{place.name}-")
    os.close(handle)
    try:
        write(Path(name))
        os.chmod(name, mode)  # noqa: PTH101 - mkstemp's 0600 would keep a reviewer out
        os.replace(name, place)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def _refuse_no_file(path: Path) -> None:
    """Raise HarnessError where something else than a file stands at a path, or at the end of its links, and OSError."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device")
        raise HarnessError(f"{path} is {what}, not a file: nothing was written.", "Name a file, or one to be made.")


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
