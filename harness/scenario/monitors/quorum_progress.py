"""How the metadata quorum got on in a run, in three figures by what its leaders answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from harness.cluster.cluster import Cluster
from harness.cluster.watch import Look
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor


@monitor
class QuorumProgress(Monitor):
    """Follows every look at the quorum: elections, pauses of the high watermark, and how far observers fell behind.

    A no-op is appended every 500 ms, so that a high watermark which stands still for seconds says that nobody led, or
    that a majority did not follow.
    """

    name: ClassVar[str] = "quorum_progress"

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._leaders: list[tuple[int, int]] = []
        self._high_watermark = -1
        self._grew_at = 0.0
        self._longest_pause = 0.0
        self._lag = 0

    def on_look(self, look: Look, line: int) -> None:  # noqa: ARG002
        """Take a look into account."""
        quorum = look.quorum
        if quorum.leader >= 0 and (quorum.epoch, quorum.leader) not in self._leaders:
            self._leaders.append((quorum.epoch, quorum.leader))
        if self._high_watermark >= 0:
            self._longest_pause = max(self._longest_pause, look.at - self._grew_at)
        if quorum.high_watermark > self._high_watermark:
            self._high_watermark, self._grew_at = quorum.high_watermark, look.at
        end = quorum.voters.get(quorum.leader, -1)
        self._lag = max([self._lag, *(end - offset for offset in quorum.observers.values() if 0 <= offset <= end)])

    def measures(self) -> Mapping[str, float]:
        """Return the figures by name."""
        return {
            "leader_changes": max(len(self._leaders) - 1, 0),
            "high_watermark_pause_seconds": round(self._longest_pause, 2),
            "observer_lag_records": self._lag,
        }
