"""What the steps of a plan see and touch while it runs: the live cluster, names given so far, looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from harness.cluster import partitions
from harness.cluster.cluster import Cluster
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.engine.watch import Look, Watcher
from harness.scenario.steps import ActionFailed

__all__ = ["Look", "World"]

_TOPIC_SECONDS = 15.0
_POLL_SECONDS = 0.2


class World:
    """The live side of one run."""

    def __init__(self, cluster: Cluster, watcher: Watcher, note: Callable[..., None]) -> None:
        self.cluster = cluster
        self.names: dict[str, int] = {}
        self.leader_before = Quorum()
        self.step_began = time.monotonic()
        self.note = note
        self._watcher = watcher

    def begin_step(self) -> None:
        """Mark the beginning of a step: older looks do not count for it."""
        self.step_began = time.monotonic()

    def quorum(self) -> Quorum:
        """Ask the voters now."""
        return self.cluster.quorum()

    def remember_leader(self) -> None:
        """Remember who leads before a fault, so that `has_new_leader` can tell another from the same."""
        quorum = self.quorum()
        if quorum.leader >= 0:
            self.leader_before = quorum

    def recent_looks(self, window: float) -> list[Look]:
        """Return the looks of the last `window` seconds, none from before the step began."""
        return self._watcher.recent(max(self.step_began, time.monotonic() - window))

    def create_topic(self, name: str, assignments: Sequence[Sequence[int]], config: Mapping[str, str]) -> None:
        """Create a topic with the replicas of each partition, asking brokers until it is there. Raises ActionFailed."""
        deadline, last = time.monotonic() + _TOPIC_SECONDS, "no broker runs"
        while time.monotonic() < deadline and not self.cluster.is_closed:
            for port in self.cluster.broker_ports.values():  # voters before observers, which may be lost
                try:
                    last = partitions.create_topic(port, name, assignments, config)
                except Unreachable as error:
                    last = str(error)
                if last in ("", "topic_already_exists"):
                    return
            time.sleep(_POLL_SECONDS)
        raise ActionFailed(f"the topic {name} could not be created: {last}")
