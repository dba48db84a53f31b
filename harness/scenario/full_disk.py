"""A disk without room: the host lacks it, or a run's own nodes took it; only the first excuses the build."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import HOST_NOT_STARVED, NODE_ALIVE

_MOST_WRITTEN_BYTES = 2 * 2**30  # a run writes some 50 MB
_BLOCK = 512


def full_disk(nodes: Path, reason: str) -> Incident:
    """Return what it says of a run that its disk has no room left; `nodes` is the folder that its nodes write to."""
    written = _written(nodes)
    if written < _MOST_WRITTEN_BYTES:
        return Incident(IncidentKind.HOST_GAVE_OUT, HOST_NOT_STARVED, reason)
    return Incident(IncidentKind.NODE_FAULTED, NODE_ALIVE, f"the nodes wrote {written / 2**30:.1f} GiB: {reason}")


def nodes_took_the_room(nodes: Path) -> bool:
    """Whether a run's nodes wrote so much that it is their doing if a disk has no room left."""
    return _written(nodes) >= _MOST_WRITTEN_BYTES


def _written(folder: Path) -> int:
    """Return the bytes that files below a folder take; files come and go while nodes run."""
    blocks = 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with suppress(FileNotFoundError):
                blocks += Path(place, name).lstat().st_blocks
    return blocks * _BLOCK
