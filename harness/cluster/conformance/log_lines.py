"""A line of a node's log, as what it says of Raft; pure. Statements are those of Kafka 3.9 to 4.3 (builds/statements).

A statement that a build words in another way says nothing here: rules judge what is said, never what is missing alone.
"""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Callable
from functools import lru_cache

from harness.cluster.config import METADATA_LOG
from harness.cluster.conformance.observations import (
    KINDS,
    LEADER,
    Attempted,
    Booted,
    ControllerClaimed,
    Counted,
    HighWatermarkMoved,
    ListenerTold,
    LogStartMoved,
    MajorityMissed,
    Place,
    PreVoteGranted,
    Said,
    SnapshotKept,
    State,
    Transitioned,
    Truncated,
    VersionApplied,
    VoteGranted,
    VotersApplied,
)
from harness.cluster.metadata_log.control_records import Voter

# The layout of node logs (harness.cluster.config.LOG_PATTERN).
_LINE = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3})[^\]]{0,10}\] [A-Z]+ (.*) \([\w.$]+\)\s*$")
# A process that was killed may leave half a line, behind which the next one writes its first.
_ANOTHER = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}")
_KIND = re.compile(r"(\w+?)(State)?\(")
_EPOCH = re.compile(r"(?<!\w)epoch=(\d+)")
_LEADER = re.compile(r"(?<!\w)leader(?:Id)?=(?:OptionalInt\[)?(\d+)")
_VOTED = re.compile(r"votedKey=(?:Optional\[)?ReplicaKey\(id=(\d+)")
_START = re.compile(r"epochStartOffset=(\d+)")
_COUNTED_VOTER = re.compile(r"[{ ](\d+)=ReplicaState\(")
_FETCH_TIMEOUT = re.compile(r"fetchTimeoutMs=(\d+)")
_CANDIDATE_EPOCH = re.compile(r"(?:candidateEpoch|replicaEpoch)=(\d+)")
_CANDIDATE = re.compile(r"(?:candidateId|replicaId)=(\d+)")
_LAST_EPOCH = re.compile(r"lastOffsetEpoch=(\d+)")
_LAST_OFFSET = re.compile(r"lastOffset=(\d+)")
_OFFSET = re.compile(r"offset=(\d+)")
_FIRST_OF = re.compile(r"for the first time for epoch (\d+)")
_END = re.compile(r"replicaKey=ReplicaKey\(id=(\d+)[^)]*\), endOffset=Optional(?:\[LogOffsetMetadata\(offset=(\d+))?")
_VOTER = re.compile(
    r"VoterNode\(voterKey=ReplicaKey\(id=(\d+), directoryId=([^)(]*)\), listeners=Endpoints\(endpoints=\{([^}{]*)\}"
)
_LISTENER = re.compile(r"ListenerName\(([^)(=]*)\)=(?:([^,}/(=]*)/<unresolved>|[^,}(=]*):(\d+)")
_AT_OFFSET = re.compile(r"at offset (-?\d+)$")
_VERSION = re.compile(r"KRAFT_VERSION_(\d+)")
_SNAPSHOT_FILE = re.compile(r"(\d{20})-(\d{10})")
_SNAPSHOT_ID = re.compile(r"OffsetAndEpoch\(offset=(\d+), epoch=(\d+)\)")
_BATCH = re.compile(r"Notifying listener (\S+) of batch for baseOffset (\d+)")
_NUMBER = re.compile(r" (\d+)")
_BRACKET = re.compile(r"[][{}()]")
_COUNTED_VOTERS = "voterStates="
_MOST_BYTES = 16 * 1024  # a line is a sentence and the states that it names


def read_line(node: int, number: int, line: bytes) -> Said | None:
    """Return what a whole line says of Raft; None where it says nothing of it, or is no line of the layout."""
    found = _ASKED_FOR.search(line) if len(line) <= _MOST_BYTES else None
    if found is None:
        return None
    whole = _LINE.match(line.decode("utf-8", "replace"))
    if whole is None or _ANOTHER.search(whole[3]):
        return None
    try:
        place = Place(node, number, _second(whole[1]) + int(whole[2]) / 1000)
        return _READERS[found.group()](place, whole[3])
    except (ValueError, OverflowError):  # a month of 13, a number of thousands of digits
        return None


def parse_state(text: str) -> State | None:
    """Return the state that begins a text; None for one that Kafka 3.9 to 4.3 do not have."""
    named, epoch = _KIND.match(text), _EPOCH.search(text)
    if named is None or epoch is None or named[1] not in KINDS:
        return None
    kind = named[1]
    timeout = _number(_FETCH_TIMEOUT, text)
    return State(
        kind,
        int(epoch[1]),
        _number(_LEADER, text),
        _number(_VOTED, text),
        _number(_START, text),
        _counted_voters(text) if kind == LEADER else frozenset(),
        timeout / 1000 if timeout > 0 else 0.0,
        _is_of_4(text),
    )


def _counted_voters(text: str) -> frozenset[int]:
    """Return whom a leader counts: a build may print the states of observers beside those of voters."""
    _, named, voters = text.partition(_COUNTED_VOTERS)
    return frozenset(map(int, _COUNTED_VOTER.findall(_first_enclosed(voters) if named else text)))


def _first_enclosed(text: str) -> str:
    """Return what begins a text with a bracket, up to the one that closes it; all of the text where none does."""
    depth = 0
    for bracket in _BRACKET.finditer(text) if _BRACKET.match(text) else ():
        depth += 1 if bracket.group() in "[{(" else -1
        if depth == 0:
            return text[: bracket.end()]
    return text


def _is_of_4(text: str) -> bool:
    """Whether a state is printed as Kafka 4 does: by names that its states did not have before KIP-996."""
    return text.startswith(("UnattachedState(", "ProspectiveState(")) or "epochElection=" in text


@lru_cache(maxsize=8)
def _second(text: str) -> float:
    """Return a moment as seconds since 1970; nodes of the harness log in UTC (harness.base.processes)."""
    return timegm(time.strptime(text, "%Y-%m-%d %H:%M:%S"))


def _number(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.search(text)
    return int(found[1]) if found else -1


def _booted(place: Place, _: str) -> Said:
    return Booted(place)


def _transitioned(place: Place, text: str) -> Said | None:
    """`[…] Completed transition to STATE from STATE`; without the second part it says too little."""
    to, named, before = text.partition("Completed transition to ")[2].partition(" from ")
    state = parse_state(to)
    if state is None or not named:
        return None
    old = parse_state(before)
    return Transitioned(place, state, old) if old or before == "null" else None


def _attempted(place: Place, text: str) -> Said | None:
    """`[…] Attempting durable transition to STATE from STATE`."""
    state = parse_state(text.partition("durable transition to ")[2].partition(" from ")[0])
    return Attempted(place, state) if state else None


def _vote(place: Place, text: str) -> Said | None:
    """`[…] Vote request REQUEST with epoch N is granted`; a pre-vote binds nobody."""
    epoch, candidate = _number(_CANDIDATE_EPOCH, text), _number(_CANDIDATE, text)
    if not text.endswith(" is granted") or min(epoch, candidate) < 0:
        return None
    granted = PreVoteGranted if "preVote=true" in text else VoteGranted
    return granted(place, epoch, candidate, (_number(_LAST_EPOCH, text), _number(_LAST_OFFSET, text)))


def _high_watermark(place: Place, text: str) -> Said | None:
    offset = _number(_OFFSET if "offset=" in text else _NUMBER, text.partition("watermark updated to")[2])
    return HighWatermarkMoved(place, offset) if offset >= 0 else None


def _counted(place: Place, text: str) -> Said | None:
    """`[…] High watermark set to OFFSET (from OFFSET | for the first time for epoch N) based on … and voters […]`."""
    head, named, voters = text.partition(" and voters ")
    offset = _number(_OFFSET, head)
    if not named or offset < 0:
        return None  # a follower's
    ends = {int(node): int(end) if end else -1 for node, end in _END.findall(_first_enclosed(voters))}
    return Counted(place, offset, ends, _number(_FIRST_OF, head))


def _truncated(place: Place, text: str) -> Said | None:
    offset = _number(_NUMBER, text.partition("Truncated to offset")[2])
    return Truncated(place, offset) if offset >= 0 else None


def _truncated_fully(place: Place, text: str) -> Said | None:
    found = _SNAPSHOT_ID.search(text.partition("after downloading snapshot")[2])
    return Truncated(place, int(found[1]), whole=True) if found else None


def _voters(place: Place, text: str) -> Said | None:
    at = _AT_OFFSET.search(text)
    found = frozenset(
        Voter(int(node), _directory(printed), _endpoints(where)) for node, printed, where in _VOTER.findall(text)
    )
    is_whole = len(found) == text.count("VoterNode(")
    return VotersApplied(place, int(at[1]), found if is_whole else frozenset()) if at else None


def _directory(printed: str) -> str:
    """Return a directory id: 4 prints it by itself, 3.9 as an Optional; empty for none."""
    found = printed.removeprefix("Optional[").removesuffix("]")
    return "" if found in ("Optional.empty", "<undefined>") else found


def _endpoints(printed: str) -> frozenset[tuple[str, str, int]]:
    """Return listeners, hosts and ports; one that was looked up may be printed as its address, or by another name."""
    return frozenset((name, host, int(port)) for name, host, port in _LISTENER.findall(printed))


def _version(place: Place, text: str) -> Said | None:
    at, version = _AT_OFFSET.search(text), _number(_VERSION, text)
    return VersionApplied(place, int(at[1]), version) if at and version >= 0 else None


def _wrote_snapshot(place: Place, text: str) -> Said | None:
    found = _SNAPSHOT_FILE.search(text)
    return SnapshotKept(place, int(found[1]), int(found[2])) if found else None


def _fetches_snapshot(place: Place, text: str) -> Said | None:
    found = _SNAPSHOT_ID.search(text)
    return SnapshotKept(place, int(found[1]), int(found[2]), fetched=True) if found else None


def _log_start(place: Place, text: str) -> Said | None:
    offset = _number(_NUMBER, text.partition("Incremented log start offset to")[2])
    return LogStartMoved(place, offset) if f"partition={METADATA_LOG}," in text and offset >= 0 else None


def _claimed(place: Place, text: str) -> Said | None:
    epoch = _number(_NUMBER, text.partition("active controller at epoch")[2])
    return ControllerClaimed(place, epoch) if epoch >= 0 else None


def _majority_missed(place: Place, _: str) -> Said:
    return MajorityMissed(place)


def _listener_told(place: Place, text: str) -> Said | None:
    """`[…] Notifying listener NAME of batch for baseOffset N and …`; of leaders and snapshots it hears otherwise."""
    found = _BATCH.search(text)
    return ListenerTold(place, found[1], int(found[2])) if found else None


_READERS: dict[bytes, Callable[[Place, str], Said | None]] = {
    b"] Reading KRaft snapshot and log": _booted,
    b"] Completed transition to ": _transitioned,
    b"] Attempting durable transition to ": _attempted,
    b"] Vote request ": _vote,
    b"] Follower high watermark updated to ": _high_watermark,
    b"] Leader high watermark updated to ": _high_watermark,
    b"] High watermark set to ": _counted,
    b"] Truncated to offset ": _truncated,
    b"] Fully truncated the log at ": _truncated_fully,
    b"] Latest set of voters is ": _voters,
    b"] Latest kraft.version is ": _version,
    b"] Successfully wrote snapshot ": _wrote_snapshot,
    b"] Fetching snapshot ": _fetches_snapshot,
    b"] Incremented log start offset to ": _log_start,
    b"] Becoming the active controller at epoch ": _claimed,
    b"] Did not receive fetch request from the majority of the voters ": _majority_missed,
    b"] Notifying listener ": _listener_told,
}
_ASKED_FOR = re.compile(b"|".join(map(re.escape, _READERS)))
