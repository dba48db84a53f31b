"""A quorum that keeps Raft's rules, in memory: what nodes' metadata logs may look like, whatever happens to them.

Each entry is a batch of one record. A defect makes the quorum break one rule.
"""

from dataclasses import dataclass, field

from harness.cluster.metadata_log.batches import Batch
from harness.cluster.metadata_log.files import QuorumState, SnapshotId
from harness.cluster.metadata_log.node_log import NodeLog
from harness.cluster.probes import Quorum

COMMITS_ALONE = "the leader commits what no follower has"
STALE_LEADER = "a candidate is elected that lacks what is committed"
KEEPS_TAIL = "a follower appends behind a tail that differs"
FORGETS = "a follower truncates what is committed"
TWO_LEADERS = "two leaders are elected in one epoch"
OLD_EPOCH = "a leader writes with the epoch before its own"


@dataclass
class Replica:
    log: list[Batch] = field(default_factory=list)
    start: int = 0
    snapshot: SnapshotId | None = None
    state: QuorumState = field(default_factory=lambda: QuorumState(0, -1, -1))
    life: int = 1
    runs: bool = True

    @property
    def last(self):
        return (self.log[-1].epoch, len(self.log)) if self.log else (0, 0)


class RaftModel:
    """Voters 0 to 2 and observer 3; every method is something that can happen, and does nothing where it cannot."""

    def __init__(self, defect=""):
        self.nodes = {node: Replica() for node in range(4)}
        self.voters = (0, 1, 2)
        self.leader, self.epoch, self.high_watermark = -1, 0, 0
        self.defect = defect
        self._written = 0

    def elect(self, candidate):
        mine = self.nodes[candidate]
        votes = [node for node in self.voters if self.nodes[node].runs and self.nodes[node].last <= mine.last]
        if not mine.runs or (len(votes) < 2 and self.defect != STALE_LEADER):
            return
        if self.defect != TWO_LEADERS or candidate == self.leader or self.epoch == 0:
            self.epoch += 1
        self.leader = candidate
        for node in {candidate, *votes}:
            self.nodes[node].state = QuorumState(self.epoch, candidate if node == candidate else -1, candidate)
        self._append(leader=candidate)

    def append(self):
        if self.leader >= 0:
            self._append()

    def _append(self, leader=-1):
        self._written += 1
        log = self.nodes[self.leader].log
        epoch = self.epoch - 1 if self.defect == OLD_EPOCH and leader < 0 else self.epoch
        log.append(Batch(len(log), len(log), epoch, self._written, leader))

    def fetch(self, node, most):
        """The node catches up by up to `most` entries, after it has cut off what differs."""
        if self.leader < 0 or node == self.leader or not self.nodes[node].runs:
            return
        own, of_leader = self.nodes[node], self.nodes[self.leader].log
        own.state = QuorumState(self.epoch, self.leader, -1)
        same = self._alike(own.log, of_leader)
        if self.defect == KEEPS_TAIL:
            same = min(len(own.log), len(of_leader))
        if self.defect == FORGETS and most == 1:
            same = 0
        del own.log[same:]
        own.log += of_leader[same : same + most]

    def commit(self):
        """The leader's high watermark advances to what a majority has, once that has its own epoch in it."""
        if self.leader < 0:
            return
        log = self.nodes[self.leader].log
        alike = sorted(self._alike(self.nodes[node].log, log) for node in self.voters)[1]
        reached = len(log) if self.defect == COMMITS_ALONE else alike
        if reached and log[reached - 1].epoch == self.epoch:
            self.high_watermark = max(self.high_watermark, reached)

    @staticmethod
    def _alike(own, other):
        pairs = enumerate(zip(own, other, strict=False))
        return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(own), len(other)))

    def kill(self, node):
        self.nodes[node].runs = False
        if node == self.leader:
            self.leader = -1

    def start(self, node):
        self.nodes[node].runs = True

    def snapshot(self, node):
        """The node drops its log up to the high watermark, as far as its own log has what is committed."""
        own, leader = self.nodes[node], self.nodes.get(self.leader)
        if leader is None or node == self.leader:
            return
        end = min(self.high_watermark, self._alike(own.log, leader.log))
        if end > own.start:
            own.start, own.snapshot = end, SnapshotId(end, own.log[end - 1].epoch)

    def wipe_observer(self):
        self.nodes[3] = Replica(life=self.nodes[3].life + 1)

    def look(self):
        if self.leader < 0:
            return Quorum()
        ends = {node: len(self.nodes[node].log) for node in self.voters}
        log = self.nodes[self.leader].log
        committed = self.high_watermark if self.high_watermark <= len(log) else 0
        known = committed and log[committed - 1].epoch == self.epoch
        reported = committed if known else -1
        return Quorum(self.leader, self.epoch, reported, ends, {}, {}, ((self.epoch, self.leader),))

    def read(self):
        return [
            NodeLog(
                node,
                str(own.life),
                tuple(own.log[own.start :]),
                (own.snapshot,) if own.snapshot else (),
                own.state,
            )
            for node, own in self.nodes.items()
        ]
