"""Having a leader append its own removal from the voters, while too few of those that would be left fetch it."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.formatting import kafka_uuid
from harness.cluster.voter_changes import remove_voter
from harness.scenario.in_vain import ask_in_vain
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import World

_UNANSWERED_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RemoveInVain:
    """Ask a leader to remove itself (RemoveRaftVoter); it appends the new voters, and does not answer."""

    leader: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"ask {self.leader.description} to remove itself, which it appends and cannot commit"

    def perform(self, world: World) -> None:
        """Ask it, and wait for no answer. Raises ActionFailed where there is one, or nobody to be asked."""
        cluster, leader = world.cluster, self.leader.find(world)
        voter = (leader, cluster.nodes[leader].directory)
        own, at = kafka_uuid(cluster.id), cluster.controllers[leader]
        cluster.wire.schemas("remove_raft_voter", at)  # asked now, so that a time-out is that of the question itself
        ask_in_vain(lambda: remove_voter(cluster.wire, at, own, voter, _UNANSWERED_SECONDS))


@action
def remove_in_vain(leader: NodeRef) -> RemoveInVain:
    """Have a leader append its own removal, while a majority of the voters that would be left does not fetch."""
    return RemoveInVain(leader)
