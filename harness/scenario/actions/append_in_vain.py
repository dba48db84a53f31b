"""Having a leader without a majority append records that nobody will ever commit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from harness.cluster import partitions
from harness.cluster.protocol import Unreachable
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_UNANSWERED_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class AppendInVain:
    """Ask a leader for so many topics; without a majority it appends their records, two of each, and never answers."""

    leader: NodeRef
    topics: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"ask {self.leader.description} for {self.topics} topics, which it appends and cannot commit"

    def perform(self, world: World) -> None:
        """Ask its controller, and wait for no answer. Raises ActionFailed where there is one."""
        leader = self.leader.find(world)
        topics = {f"in-vain-{number}": [(leader,)] for number in range(self.topics)}
        with suppress(Unreachable):
            answer = partitions.create_topics(
                world.cluster.wire, world.cluster.controllers[leader], topics, {}, _UNANSWERED_SECONDS
            )
            raise ActionFailed(f"the leader answered: {answer or 'the topics are there'}")


@action
def append_in_vain(leader: NodeRef, *, topics: int) -> AppendInVain:
    """Have a leader that has lost its majority append the records of so many topics, which will be truncated."""
    return AppendInVain(leader, topics)
