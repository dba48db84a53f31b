"""When a line of a node's log was written; pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_AT = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]")  # harness.cluster.config.LOG_PATTERN, in UTC


def time_of(line: bytes) -> float:
    """Return when a line was written, in seconds since the Unix epoch; 0 where it does not say."""
    at = _AT.match(line)
    if at is None:
        return 0.0
    try:
        return datetime.strptime(at[1].decode(), "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC).timestamp()
    except ValueError:  # a month of 13
        return 0.0


def is_since(line: bytes, since: float) -> bool:
    """Whether a line was written at that time or later (seconds since the Unix epoch), to the millisecond."""
    return time_of(line) >= int(since * 1000) / 1000
