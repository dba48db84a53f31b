"""What a node said, or what was seen of it, and when: frozen records that rules judge.

A node's records are in the order in which it wrote them, which is that of what it did: its raft thread writes each line
before it acts on it. Between two nodes there is no such order, and a reading may end anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.cluster.metadata_log.control_records import Voters
from harness.cluster.metadata_log.files import QuorumState

UNATTACHED, FOLLOWER, RESIGNED = "Unattached", "Follower", "Resigned"
PROSPECTIVE, CANDIDATE, LEADER = "Prospective", "Candidate", "Leader"
KINDS = (UNATTACHED, FOLLOWER, RESIGNED, PROSPECTIVE, CANDIDATE, LEADER)


@dataclass(frozen=True, slots=True)
class Place:
    """Which line (from 1) of which node's log says it; `at` is when, in seconds since 1970, 0 where it does not say."""

    node: int
    line: int
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class State:
    """A state of org.apache.kafka.raft.QuorumState as a node prints it; -1 is nobody.

    `start` is the first offset of the epoch that a leader begins, `voters` whom it counts, `fetch_timeout` that of a
    follower in seconds. `of_4` says that it is printed as Kafka 4 does, which knows pre-votes (KIP-996).
    """

    kind: str
    epoch: int
    leader: int = -1
    voted: int = -1
    start: int = -1
    voters: frozenset[int] = frozenset()
    fetch_timeout: float = 0.0
    of_4: bool = False


@dataclass(frozen=True, slots=True)
class Booted:
    """A process of the node has begun: what another one held in memory is gone."""

    place: Place


@dataclass(frozen=True, slots=True)
class DiskReplaced:
    """Somebody has emptied the node's disk: what it had written down is gone."""

    place: Place


@dataclass(frozen=True, slots=True)
class Unseen:
    """Lines of the node's log are missing here: it may have done anything."""

    place: Place


@dataclass(frozen=True, slots=True)
class Transitioned:
    """The node went from a state into another; `before` is None where its process begins."""

    place: Place
    state: State
    before: State | None


@dataclass(frozen=True, slots=True)
class Attempted:
    """The node is about to write a state into `quorum-state`, and to go into it then."""

    place: Place
    state: State


@dataclass(frozen=True, slots=True)
class VoteGranted:
    """The node granted a vote that counts (no pre-vote).

    `last` is the epoch of the last record of the candidate's log and where that log ends, -1 where it does not say.
    """

    place: Place
    epoch: int
    candidate: int
    last: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, slots=True)
class PreVoteGranted:
    """The node said that it would vote for another one, which binds nobody (KIP-996); `last` as of a vote."""

    place: Place
    epoch: int
    candidate: int
    last: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, slots=True)
class HighWatermarkMoved:
    """The node's high watermark is another one."""

    place: Place
    offset: int


@dataclass(frozen=True, slots=True)
class Counted:
    """A leader found what is committed: `ends` are the log end offsets of all voters by which it did so, -1 unknown.

    `first_of` is the epoch where it is the first high watermark of one, else -1.
    """

    place: Place
    offset: int
    ends: Mapping[int, int] = field(default_factory=dict)
    first_of: int = -1


@dataclass(frozen=True, slots=True)
class Truncated:
    """A follower cut everything from an offset on off its log; `whole`: all of it, for a snapshot that ends there."""

    place: Place
    offset: int
    whole: bool = False


@dataclass(frozen=True, slots=True)
class VotersApplied:
    """The node read a VotersRecord at an offset of its log, or in a snapshot that ends right behind it (-1: at 0).

    `voters` are none where they cannot be read.
    """

    place: Place
    offset: int
    voters: Voters

    @property
    def ids(self) -> frozenset[int]:
        """Who votes."""
        return frozenset(each.node for each in self.voters)


@dataclass(frozen=True, slots=True)
class VersionApplied:
    """The node read a KRaftVersionRecord at an offset of its log, or in a snapshot that ends right behind it."""

    place: Place
    offset: int
    version: int


@dataclass(frozen=True, slots=True)
class SnapshotKept:
    """The node wrote a snapshot of all below an offset, whose last record is of an epoch, or began to fetch one."""

    place: Place
    offset: int
    epoch: int
    fetched: bool = False


@dataclass(frozen=True, slots=True)
class LogStartMoved:
    """The node's metadata log begins at another offset: what is below has a snapshot in its place."""

    place: Place
    offset: int


@dataclass(frozen=True, slots=True)
class ControllerClaimed:
    """The node's controller says that it is the active one of an epoch."""

    place: Place
    epoch: int


@dataclass(frozen=True, slots=True)
class MajorityMissed:
    """The node, a leader, is about to resign, as no majority of the voters has fetched from it for too long."""

    place: Place


@dataclass(frozen=True, slots=True)
class ListenerTold:
    """The node handed committed records to a listener of its raft client, from the offset `base` on."""

    place: Place
    listener: str
    base: int


Said = (
    Booted
    | DiskReplaced
    | Unseen
    | Transitioned
    | Attempted
    | VoteGranted
    | PreVoteGranted
    | HighWatermarkMoved
    | Counted
    | Truncated
    | VotersApplied
    | VersionApplied
    | SnapshotKept
    | LogStartMoved
    | ControllerClaimed
    | MajorityMissed
    | ListenerTold
)


@dataclass(frozen=True, slots=True)
class Looked:
    """A leader's answer to DescribeQuorum, asked at a moment (seconds since 1970): when voters last fetched (-1 never).

    `slow` is how many times longer everything took on that host lately; `line` is the journal's, 0 for none.
    `elsewhere` are voters that are up and that the answer names at another address than theirs, of Kafkas that are sure
    to announce it (`registers_endpoints` of a release line).
    """

    at: float
    leader: int
    epoch: int
    fetched: Mapping[int, float]
    slow: float = 1.0
    line: int = 0
    elsewhere: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Metered:
    """What a node's own metrics said at a moment from `at` on and before `until` (seconds since 1970).

    `state` is as raft-metrics name it; -1 is nobody, or what the metrics do not say. `is_active` is whether its
    controller is the active one by ActiveControllerCount.
    """

    node: int
    at: float
    until: float
    state: str = ""
    epoch: int = -1
    leader: int = -1
    voted: int = -1
    high_watermark: int = -1
    log_end: int = -1
    is_active: bool = False


@dataclass(frozen=True, slots=True)
class Named:
    """Who votes by a snapshot, and which kraft.version there is: nobody and 0 where it has no such record."""

    voters: Voters = frozenset()
    version: int = 0


@dataclass(frozen=True, slots=True)
class Files:
    """What lies in a node's metadata log when it has ended at a moment: where segments begin, where snapshots end.

    `voters` and `versions` are the control records of its segments, by offset, `named` what each snapshot has in their
    place, by where it ends, `quorum` its `quorum-state`; nothing of what could not be read.
    """

    node: int
    ended: float
    segments: tuple[int, ...] = ()
    snapshots: tuple[int, ...] = ()
    voters: Mapping[int, Voters] = field(default_factory=dict)
    versions: Mapping[int, int] = field(default_factory=dict)
    named: Mapping[int, Named] = field(default_factory=dict)
    quorum: QuorumState | None = None
