"""The other files of a metadata log's folder: which names are segments and snapshots, and `quorum-state`; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.base.errors import HarnessError
from harness.base.json import parse_json

QUORUM_STATE = "quorum-state"  # org.apache.kafka.raft.FileQuorumStateStore
FORMAT = "../meta.properties"  # what a disk is formatted with
MOST_STATE_BYTES = 2**20
_SEGMENT = re.compile(r"(\d{20})\.log")
_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint")  # org.apache.kafka.snapshot.Snapshots


@dataclass(frozen=True, slots=True)
class SnapshotId:
    """Which prefix of the log a snapshot stands for: that below an end offset, whose last record is of this epoch."""

    end_offset: int
    epoch: int


@dataclass(frozen=True, slots=True)
class QuorumState:
    """What a node has written down of its newest epoch: who leads it, and for whom it voted; -1 for nobody."""

    epoch: int
    leader: int
    voted: int


def segment_base(name: str) -> int | None:
    """Return a segment's base offset by its file's name; None for any other file, one that is being deleted too."""
    found = _SEGMENT.fullmatch(name)
    return int(found[1]) if found else None


def snapshot_id(name: str) -> SnapshotId | None:
    """Return which snapshot a file is by its name; None for any other file, one that is still being fetched too."""
    found = _SNAPSHOT.fullmatch(name)
    return SnapshotId(int(found[1]), int(found[2])) if found else None


def segments_among(names: Iterable[str]) -> dict[int, str]:
    """Return which of these names are segments', by base offset, the first one first."""
    return {base: name for name in sorted(names) if (base := segment_base(name)) is not None}


def snapshots_among(names: Iterable[str]) -> dict[SnapshotId, str]:
    """Return which of these names are snapshots', the oldest first."""
    return {found: name for name in sorted(names) if (found := snapshot_id(name)) is not None}


def parse_quorum_state(text: bytes) -> QuorumState:
    """Return what a `quorum-state` file says, data version 0 or 1. Raises HarnessError where it is none.

    Kafka replaces the file atomically, so that not even kill -9 leaves half of one.
    """
    found = parse_json(text)
    if not isinstance(found, dict):
        raise HarnessError("It holds no JSON object.")
    return QuorumState(_number(found, "leaderEpoch"), _number(found, "leaderId"), _number(found, "votedId"))


def _number(found: dict[str, Any], key: str) -> int:
    value = found.get(key)
    if type(value) is not int:
        raise HarnessError(f"{key} is {str(value)[:100]!r}, no number.")
    return value
