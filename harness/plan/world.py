"""What the steps of a plan see and touch while it runs: the live cluster, names given so far, looks."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.cluster import probes
from harness.cluster.cluster import Cluster
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.plan.watch import Look, Watcher

__all__ = ["Look", "World"]


class World:
    """The live side of one run."""

    def __init__(self, cluster: Cluster, watcher: Watcher, note: Callable[..., None]) -> None:
        self.cluster = cluster
        self.names: dict[str, int] = {}
        self.leader_before = Quorum()
        self.step_began = time.monotonic()
        self.note = note
        self._watcher = watcher
        self._topics = 0
        self._topic_of_step: dict[float, str] = {}

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

    def topic_of_this_step(self) -> str:
        """Create a topic through a voter, once in a step; return its name. Raises Unreachable."""
        name = self._topic_of_step.get(self.step_began)
        if name is None:
            self._topics += 1
            name = f"seen-{self._topics}"
            voter = next(node for node in self.cluster.voters if node.is_running)
            problem = probes.create_topic(voter.config.broker_port, name, (voter.id,), {})
            if problem:
                raise Unreachable(f"creating {name} through node {voter.id}: {problem}")
            self._topic_of_step[self.step_began] = name
        return name
