"""How the metadata quorum got on in a run, in figures by what its leaders answered."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.node import Node, NodeState
from harness.cluster.watch import Look
from harness.kafka.release_lines import Mode
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.verbs import monitor


@monitor
class QuorumProgress(Monitor):
    """Follows every look at the quorum: elections, time without a leader, pauses of the high watermark, observers' lag.

    A no-op is appended every 500 ms, so that a high watermark which stands still for seconds says that nobody led, or
    that a majority did not follow. Time in which a plan holds or stops a majority counts for nothing: nobody can lead.
    """

    name: ClassVar[str] = "quorum_progress"
    modes: ClassVar[tuple[Mode, ...]] = (Mode.KRAFT,)

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._leaders: list[tuple[int, int]] = []
        self._high_watermark = -1
        self._grew_at = 0.0
        self._longest_pause = 0.0
        self._lag = 0
        self._looked_at = 0.0
        self._leaderless = 0.0
        self._is_leaderless = False
        self._first_epoch = -1
        self._epoch = -1
        self._leader = -1
        self._faults = 0
        self._over = False
        self._voters: frozenset[int] = frozenset()
        self._host: HostNotStarved | None = None

    def meet(self, others: Sequence[Monitor]) -> None:
        """Get to know who tells which nodes are held on purpose."""
        self._host = next((each for each in others if isinstance(each, HostNotStarved)), None)

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Count a leader that goes, however it does."""
        if not self._over and node.id == self._leader and node.state in (NodeState.STOPPING, NodeState.DIED):
            self._leader = -1
            self._faults += 1

    def on_look(self, look: Look, line: int) -> None:  # noqa: ARG002
        """Take a look into account."""
        quorum = look.quorum
        if self._leader in self._held:  # it hangs, which is no less of a fault than its end
            self._leader = -1
            self._faults += 1
        can_lead = self._a_majority_runs()
        self._follow_epochs(look, can_lead)
        if quorum.leader >= 0 and (quorum.epoch, quorum.leader) not in self._leaders:
            self._leaders.append((quorum.epoch, quorum.leader))
        if not can_lead:
            self._grew_at = look.at
        elif self._high_watermark >= 0:
            self._longest_pause = max(self._longest_pause, look.at - self._grew_at)
        if quorum.high_watermark > self._high_watermark:
            self._high_watermark, self._grew_at = quorum.high_watermark, look.at
        end, up = quorum.voters.get(quorum.leader, -1), self._runs({NodeState.READY})
        offsets = (offset for node, offset in quorum.observers.items() if node in up)  # the leader lists dead ones, too
        self._lag = max([self._lag, *(end - offset for offset in offsets if 0 <= offset <= end)])

    def end_window(self, name: str) -> None:  # noqa: ARG002
        """Nobody looked meanwhile: that is no pause."""
        self._high_watermark = -1
        self._looked_at = time.monotonic()

    def _a_majority_runs(self) -> bool:
        """Whether most of the voters that the last leader named run and are not held, or none has led yet."""
        return not self._voters or 2 * len(self._voters & self._runs()) > len(self._voters)

    @property
    def _held(self) -> frozenset[int]:
        """The nodes that are held on purpose."""
        return self._host.held if self._host else frozenset()

    def _runs(self, states: Collection[NodeState] = frozenset(NodeState)) -> frozenset[int]:
        """Return the nodes that run and are not held, of those in some states."""
        return frozenset(node.id for node in self.cluster.running if node.state in states) - self._held

    def _follow_epochs(self, look: Look, can_lead: bool) -> None:
        """Take epochs and time without a leader from the first leader on."""
        leader, epoch = look.quorum.leader, look.quorum.epoch
        if self._is_leaderless and can_lead:
            self._leaderless += look.at - self._looked_at
        self._is_leaderless = leader < 0 <= self._first_epoch
        if leader >= 0:
            self._first_epoch = epoch if self._first_epoch < 0 else self._first_epoch
            self._epoch = max(epoch, self._epoch)
            self._leader = -1 if leader in self._held else leader
            self._voters = frozenset(look.quorum.voters)
        self._looked_at = look.at

    def stop(self) -> None:
        """The plan is over: that the leader goes now is no fault."""
        self._over = True

    def measures(self) -> Mapping[str, float]:
        """Return the figures by name; elections for each leader that went, and others."""
        elections = self._epoch - self._first_epoch
        return {
            "leaderless_seconds": round(self._leaderless, 2),
            **({"elections_per_fault": round(elections / self._faults, 2)} if self._faults else {}),
            "elections_beyond_faults": max(elections - self._faults, 0),
            "leader_changes": max(len(self._leaders) - 1, 0),
            "high_watermark_pause_seconds": round(self._longest_pause, 2),
            "observer_lag_records": self._lag,
        }
