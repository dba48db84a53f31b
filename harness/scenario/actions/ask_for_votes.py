"""Asking a voter for its vote in the next epoch, in the names of other voters: what it may grant, and to whom."""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.cluster.formatting import kafka_uuid
from harness.cluster.raft_requests import Stray, send
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.verbs import fault
from harness.scenario.world import ActionFailed, World

_AHEAD = 1000  # records: a log that ends as far behind any other is up to date


@dataclass(frozen=True, slots=True)
class AskForVotes(Fault):
    """Send a voter four Votes of the next epoch: with an older log, then a whole one, of another, and the same again.

    Raft §5.2, §5.4.1: only the second candidate gets its vote, and once more when it asks again. The voter waits for
    an election then that nobody holds, and stands itself.
    """

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return (
            f"ask {self.node.description} for its vote in the next epoch, as candidates with an older log and a whole"
        )

    def perform(self, world: World) -> None:
        """Send them, and journal each answer. Raises ActionFailed, Unreachable."""
        quorum, voter, cluster = world.quorum(), self.node.find(world), world.cluster
        others = [node.id for node in cluster.voters if node.id != voter]
        if quorum.leader < 0 or len(others) < 2:
            raise ActionFailed(f"of the voters {others} two must be able to stand, against a leader")
        candidate, second = others[:2]
        own = cluster.nodes[candidate].directory
        older = Stray(kafka_uuid(cluster.id), quorum.epoch + 1, candidate, voter, directory=own)
        whole = replace(older, offset=max(quorum.voters.values()) + _AHEAD, last_epoch=quorum.epoch)
        rival = replace(whole, node=second, directory=cluster.nodes[second].directory)
        asked = {"with an older log": older, "with a whole log": whole, "as the second": rival, "once more": whole}
        for how, stray in asked.items():
            answer = send(cluster.wire, cluster.controllers[voter], "vote", stray)
            world.note(f"a Vote of epoch {stray.epoch} for node {stray.node} {how}: {answer}", voter)


@fault
def ask_for_votes(node: NodeRef) -> AskForVotes:
    """Ask a voter for its vote in the next epoch: as a candidate with an older log, with a whole one, as a second."""
    return AskForVotes(node)
