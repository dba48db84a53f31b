"""Whether what a broker tells its clients is how the cluster is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import probes
from harness.cluster.protocol import Unreachable
from harness.cluster.quorum_description import describe
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class KnowsTheLiving:
    """A broker's own metadata lists every running broker and no other, and it describes the leader and its voters.

    A broker hands DescribeQuorum on to the controller that it takes for the active one: a lost one does not answer.
    """

    name: ClassVar[str] = "knows_the_living"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} lists every running broker, and describes the quorum as the leader does"

    def sample(self, world: World) -> Sample:
        """Ask this node, and the leader."""
        cluster, quorum = world.cluster, world.quorum()
        at = cluster.brokers.get(self.node.find(world))
        if at is None:
            return Sample(False, {"runs": False})
        try:
            listed = sorted(probes.metadata(cluster.wire, at).brokers)
            said = describe(cluster.wire, at)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, problem=str(error))
        detail = {
            "brokers": listed,
            "answer": str(said.answer),
            "leader": said.leader,
            "voters": sorted(said.voters),
        }
        as_the_leader = said.answer.is_done and (said.leader, said.voters) == (quorum.leader, frozenset(quorum.voters))
        return Sample(listed == sorted(cluster.brokers) and as_the_leader, detail)


@condition
def knows_the_living(node: NodeRef) -> KnowsTheLiving:
    """A broker lists every running broker and no other, and describes the quorum as the leader does."""
    return KnowsTheLiving(node)
