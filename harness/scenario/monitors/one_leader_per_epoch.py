"""No epoch may have two leaders."""

from __future__ import annotations

from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.watch import Look
from harness.model.incidents import Incident, IncidentKind
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor


@monitor
class OneLeaderPerEpoch(Monitor):
    """Follows which node said that it led which epoch."""

    name: ClassVar[str] = "one_leader_per_epoch"

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._leaders: dict[int, int] = {}

    def on_look(self, look: Look, line: int) -> None:
        """Compare with who led the same epoch before."""
        for epoch, leader in look.quorum.leaders:
            first = self._leaders.setdefault(epoch, leader)
            if first != leader:
                story = f"nodes {first} and {leader} both led epoch {epoch}"
                self.record.report(Incident(IncidentKind.INVARIANT_BROKEN, self.name, story), line)
