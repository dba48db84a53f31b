"""A copy of a real metadata log, tampered with in one way after the other: each must break the promise it is about."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from crc32c import crc32c

from harness.cluster.config import METADATA_LOG
from harness.cluster.metadata_log.batches import bounds
from harness.cluster.metadata_log.broken import (
    COMMITTED_STAYS,
    EPOCH_NEVER_FALLS,
    HIGH_WATERMARK_NEVER_FALLS,
    METADATA_LOG_WHOLE,
    METADATA_LOGS_AGREE,
    QUORUM_STATE_AGREES,
    Broken,
)
from harness.cluster.metadata_log.files import QUORUM_STATE, segments_among
from harness.cluster.metadata_log.folder import LogFolder
from harness.cluster.metadata_log.looks import Watched, watch
from harness.cluster.metadata_log.oracle import Known, judge
from harness.cluster.probes import Quorum
from harness.model.events import QuorumSeen
from harness.rundir.journal import events_of, read_journal
from harness.rundir.parts import NODE_DATA, RunFolder
from harness.selftest.canary import require

# The batch that is tampered with: the first leader's second one, below any high watermark of its successor.
_COMMITTED = 1
_EPOCH_AT, _CRC_AT, _CHECKED_AT = 12, 17, 21  # in a batch: what its CRC covers begins at 21


@dataclass(frozen=True, slots=True)
class Tampering:
    """Something done to the folder of one node's metadata log, and the promise that it breaks."""

    name: str
    act: Callable[[Path], None]


def alarms(run: RunFolder, scratch: Path) -> str:
    """Tamper with copies of the logs that a run left; return the promises that each was seen to break.

    Raises NotDetected where an alarm is missing, and where one goes off at the copy before it is tampered with.
    """
    watched, looks = _watched(run.journal)
    for tampering in _TAMPERINGS:
        _require_alarm(tampering, watched, shutil.copytree(run.nodes, scratch / tampering.name))
    last = looks[-1]
    fallen = watch(watched, replace(last, high_watermark=last.high_watermark - 1))[1]
    require(_names(fallen) == [HIGH_WATERMARK_NEVER_FALLS], f"a high watermark that falls breaks {_names(fallen)}")
    return ", ".join((*(tampering.name for tampering in _TAMPERINGS), HIGH_WATERMARK_NEVER_FALLS))


def _watched(journal: Path) -> tuple[Watched, list[Quorum]]:
    """Return what the looks of a run have shown, and those in which the leader had a high watermark."""
    watched, looks = Watched(), []
    for event in events_of(read_journal(journal)):
        if isinstance(event, QuorumSeen) and event.high_watermark > 0:
            leaders = ((event.epoch, event.leader),)
            quorum = Quorum(event.leader, event.epoch, event.high_watermark, event.voters, leaders=leaders)
            watched, found = watch(watched, quorum)
            require(not found, f"the looks as they were break {_names(found)}")
            looks.append(quorum)
    require(watched.commit is not None, "no leader ever had a high watermark")
    return watched, looks


def _require_alarm(tampering: Tampering, watched: Watched, nodes: Path) -> None:
    folders = {int(node.name): node / NODE_DATA / METADATA_LOG for node in nodes.iterdir()}
    known, found = _judged(Known(), watched, folders)
    require(not found, f"the logs as they were break {_names(found)}")
    tampering.act(folders[min(folders)])
    _, found = _judged(known, watched, folders)
    require(tampering.name in _names(found), f"instead of {tampering.name}, tampering broke {_names(found)}")


def _judged(known: Known, watched: Watched, folders: dict[int, Path]) -> tuple[Known, tuple[Broken, ...]]:
    return judge(known, [LogFolder(node, folder).read() for node, folder in folders.items()], watched)


def _names(found: tuple[Broken, ...]) -> list[str]:
    return list(dict.fromkeys(broken.name for broken in found))


def _first_segment(folder: Path) -> Path:
    return folder / next(iter(segments_among(path.name for path in folder.iterdir()).values()))


def _rewrite(folder: Path, change: Callable[[bytearray, int, int], None]) -> None:
    """Change one batch of a log, given its first byte and the one behind it; the file stays the same."""
    segment = _first_segment(folder)
    read = segment.read_bytes()
    batches, data = bounds(read), bytearray(read)
    _, begin, end = batches[_COMMITTED]
    change(data, begin, end)
    with segment.open("r+b") as stream:
        stream.write(data)


def _damage(folder: Path) -> None:
    def flip(data: bytearray, _begin: int, end: int) -> None:
        data[end - 1] ^= 1

    _rewrite(folder, flip)


def _put_another(folder: Path) -> None:
    def change(data: bytearray, begin: int, end: int) -> None:
        data[end - 1] ^= 1
        struct.pack_into(">I", data, begin + _CRC_AT, crc32c(data[begin + _CHECKED_AT : end]))

    _rewrite(folder, change)


def _raise_epoch(folder: Path) -> None:
    _rewrite(folder, lambda data, begin, _end: struct.pack_into(">i", data, begin + _EPOCH_AT, 1000))


def _cut_off(folder: Path) -> None:
    segment = _first_segment(folder)
    batches = bounds(segment.read_bytes())
    os.truncate(segment, batches[_COMMITTED][1])


def _set_back(folder: Path) -> None:
    state = '{"leaderId":-1,"leaderEpoch":0,"votedId":-1,"data_version":1}'
    (folder / QUORUM_STATE).write_text(state, encoding="utf-8")


_TAMPERINGS = (
    Tampering(METADATA_LOG_WHOLE, _damage),
    Tampering(METADATA_LOGS_AGREE, _put_another),
    Tampering(EPOCH_NEVER_FALLS, _raise_epoch),
    Tampering(COMMITTED_STAYS, _cut_off),
    Tampering(QUORUM_STATE_AGREES, _set_back),
)
