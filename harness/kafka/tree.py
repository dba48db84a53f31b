"""A source tree, and the one interface behind which trees come from git or from released sources."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceTree:
    """Kafka's sources on disk: a git work tree with at least `raft/`, checked out at `commit`.

    `version` is Kafka's own version of it; `description` says in words where it came from.
    """

    path: Path
    version: str
    commit: str
    description: str


class Source(Protocol):
    """A place that sources come from."""

    def checkout(self, into: Path) -> SourceTree:
        """Put the sources into the empty or absent folder `into`. Raises HarnessError when they cannot be had."""
