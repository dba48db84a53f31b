"""Text from logs, made fit to be shown: log files are hostile input."""

from __future__ import annotations

from harness.base.text import visible
from harness.logs.read.event_counts import MAX_EXCERPT
from harness.model.findings import CUT


def excerpt(text: str) -> str:
    """Return the beginning of an event, visible, with a mark where it was cut."""
    shown = visible(text[:MAX_EXCERPT])
    return f"{shown}{CUT}" if len(text) > MAX_EXCERPT else shown
