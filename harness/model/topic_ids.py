"""What a check of topic ids finds: the ids on disks beside those that the cluster names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

SCHEMA = 1
MOST_FINDINGS = 10_000  # of a record that is written


class IdState(StrEnum):
    """How what a partition's directory says of its topic's id compares with what the cluster says."""

    DIFFERENT = "different"
    MISSING_IN_CLUSTER = "missing in ZooKeeper"
    RECREATED = "recreated topic"
    SHARED = "id of another topic"
    UNREADABLE = "unreadable"
    MISSING_FILE = "missing file"
    ORPHAN = "orphan directory"
    WITHOUT_ID = "without ids"
    EQUAL = "equal"


MEANS: Mapping[IdState, str] = {
    IdState.DIFFERENT: "A broker that restarts refuses these partitions and leaves their ISR.",
    IdState.MISSING_IN_CLUSTER: "The next controller makes a new id; a broker that restarts then refuses them.",
    IdState.RECREATED: "These are data of a topic that was deleted; a broker that restarts refuses these partitions.",
    IdState.SHARED: "No controller loads two topics of one id; a broker refuses what has the id of another topic.",
    IdState.UNREADABLE: "What is there is no id. Kafka takes a whole data directory offline where it cannot read one.",
    IdState.MISSING_FILE: "With ZooKeeper the broker writes it when the controller next tells it of the partition.",
    IdState.ORPHAN: "Nothing serves these directories.",
    IdState.WITHOUT_ID: "Neither side has an id, as before inter.broker.protocol.version 2.8.",
    IdState.EQUAL: "Both sides have the same id.",
}


_MISMATCHES = (IdState.DIFFERENT, IdState.MISSING_IN_CLUSTER, IdState.RECREATED, IdState.SHARED)


class Answer(StrEnum):
    """What a check comes to."""

    HEALTHY = "healthy"
    MISMATCH = "mismatch"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """0 healthy, 1 mismatch, 3 undecided."""
        return {Answer.HEALTHY: 0, Answer.MISMATCH: 1, Answer.UNDECIDED: 3}[self]


@dataclass(frozen=True, slots=True)
class Place:
    """Directories of one data directory of one broker, by their partitions; -1 is a broker that names no id."""

    broker: int
    data: str
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Directories of one topic that are alike: `expected` is the cluster's id, `found` that of their files.

    `refused` says that Kafka cannot read what is there either, or does without it in a harmful way.
    """

    state: IdState
    topic: str
    expected: str
    found: str
    reason: str
    places: tuple[Place, ...]
    refused: bool = False

    @property
    def answer(self) -> Answer:
        """What it makes of the whole check."""
        if self.refused or self.state in _MISMATCHES:
            return Answer.MISMATCH
        return Answer.UNDECIDED if self.state is IdState.UNREADABLE else Answer.HEALTHY

    @property
    def directories(self) -> int:
        """How many directories it is about."""
        return sum(len(place.partitions) for place in self.places)


@dataclass(frozen=True, slots=True)
class TopicIdCheck:
    """What a check found. `source` is where the cluster's ids come from; `gaps` is what could not be looked at.

    `counts` are directories by state, `passed_over` directories that no broker serves, by their kind. `hidden` counts
    findings that were left off, the least harmful of many.
    """

    source: str
    in_zookeeper: bool
    cluster_id: str
    brokers: tuple[int, ...]
    topics: int
    counts: Mapping[IdState, int]
    findings: tuple[Finding, ...]
    gaps: tuple[str, ...]
    passed_over: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0
    schema: int = SCHEMA

    @property
    def directories(self) -> int:
        """How many directories were looked at."""
        return sum(self.counts.values())

    @property
    def compared(self) -> int:
        """How many directories belong to a partition that the cluster knows: only these say anything."""
        return self.directories - self.counts.get(IdState.ORPHAN, 0)

    @property
    def answer(self) -> Answer:
        """Mismatch beats undecided beats healthy; where nothing was compared nothing is known."""
        answers = {finding.answer for finding in self.findings}
        if Answer.MISMATCH in answers:
            return Answer.MISMATCH
        if self.gaps or Answer.UNDECIDED in answers or not self.compared:
            return Answer.UNDECIDED
        return Answer.HEALTHY

    def shortened(self) -> TopicIdCheck:
        """Return it as it is written: of very many findings the first, as where every directory has its own id."""
        hidden = self.hidden + max(len(self.findings) - MOST_FINDINGS, 0)
        return replace(self, findings=self.findings[:MOST_FINDINGS], hidden=hidden)
