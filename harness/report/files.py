"""Results appear whole or not at all: written beside their place, then renamed."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, text: str) -> Path:
    """Write `text` as UTF-8 to `path` by rename, so that a reader never meets half a file; return `path`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
