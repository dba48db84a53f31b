"""Files of the run directory: written beside their place and renamed, so that nobody meets half a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file atomically; its folder is made when missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp's 0600 would keep a reviewer out
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: Path, content: str) -> None:
    """Write UTF-8 text atomically."""
    write_bytes(path, content.encode("utf-8", "surrogateescape"))
