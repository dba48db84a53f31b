"""Having a leader append its own removal from the voters, while too few of those that would be left fetch it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from harness.cluster.formatting import kafka_uuid
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import remove_voter
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

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
        """Ask it, and wait for no answer. Raises ActionFailed where there is one."""
        cluster, leader = world.cluster, self.leader.find(world)
        voter = (leader, cluster.nodes[leader].directory)
        with suppress(Unreachable):
            own, at = kafka_uuid(cluster.id), cluster.controllers[leader]
            answer = remove_voter(cluster.wire, at, own, voter, _UNANSWERED_SECONDS)
            raise ActionFailed(f"the leader answered: {answer}")


@action
def remove_in_vain(leader: NodeRef) -> RemoveInVain:
    """Have a leader append its own removal, while a majority of the voters that would be left does not fetch."""
    return RemoveInVain(leader)
