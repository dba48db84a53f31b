"""How fast this host was before the first run: what makes it slower later is measured by that."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.json_schema import Count, Seconds


@dataclass(frozen=True, slots=True)
class HostSpeed:
    """The CPU seconds that a fixed piece of work takes, and how many processors may be used."""

    work_seconds: Seconds
    processors: Count
