"""The sabotaged jar: the candidate's own without a class that every node needs, so that it dies on load."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from harness.kafka.class_path import RAFT_CLIENT


def without_class(jar: Path, into: Path) -> Path:
    """Copy a raft jar without that class, and return the copy."""
    into.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar) as whole, zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as torn:
        for entry in whole.infolist():
            if entry.filename != RAFT_CLIENT:
                with whole.open(entry) as source, torn.open(entry, "w") as copy:
                    shutil.copyfileobj(source, copy)
    return into
