"""Whether a node says that the present leader answers its fetches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.log_times import is_since
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class FetchesFromLeader:
    """Since the last fault the node has logged an answer of the present leader to a fetch of the metadata log.

    NetworkClient logs each answer at DEBUG: `log_at(node, NETWORK_CLIENT, "DEBUG")` goes before.
    """

    name: ClassVar[str] = "fetches_from_leader"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has logged that the leader answers its fetches"

    def sample(self, world: World) -> Sample:
        """Read its log."""
        leader, node = world.quorum().leader, world.cluster.nodes[self.node.find(world)]
        words = f"[RaftManager id={node.id}] Received FETCH response from node {leader} ".encode()
        answered = any(words in line and is_since(line, world.fault_at) for line in node.logged())
        return Sample(leader >= 0 and answered, {"leader": leader, "answered": answered}, testable=leader >= 0)


@condition
def fetches_from_leader(node: NodeRef) -> FetchesFromLeader:
    """A node has logged since the last fault that the present leader answers its fetches (NetworkClient at DEBUG)."""
    return FetchesFromLeader(node)
