"""Which logs a run left, and what is known of the nodes that wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_OF_NODE = re.compile(r"\[[^\[\]]*\]$")


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A phase of a run: from `start` to `end`, seconds since the Unix epoch (UTC)."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class NodeLogs:
    """The log of one node in one run, in the order in which its files were written.

    `files` are relative to the run directory; `pattern` is the log4j conversion pattern of the node's layout.
    `node_role` is `voter` or `observer`. `names` are texts that differ in every run and what they stand for:
    `127.0.0.1:22001` for `<voter's controller>`. `roles` says what the node was in each phase, where that is known:
    `leader`, `restarted follower` (harness.engine.phase_roles).
    """

    scenario: str
    arm: str
    repeat: int
    node: int
    node_role: str
    files: tuple[str, ...]
    pattern: str
    phases: tuple[PhaseSpan, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)


def log_of_node(file: str, node: str) -> str:
    """Return what one node's lines are called of a file that has those of several: `compose.log[kafka-1]`."""
    return f"{file}[{node}]"


def file_of(log: str) -> str:
    """Return the file that a log's lines are in: for `compose.log[kafka-1]` compose.log, for others the log itself."""
    return _OF_NODE.sub("", log)
