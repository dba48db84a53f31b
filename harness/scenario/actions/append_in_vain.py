"""Having a leader without a majority append records that nobody will ever commit."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster import partitions
from harness.scenario.in_vain import ask_in_vain
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import World

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
        """Ask its controller, and wait for no answer. Raises ActionFailed where there is one, or nobody to be asked."""
        leader = self.leader.find(world)
        topics = {f"in-vain-{number}": [(leader,)] for number in range(self.topics)}
        wire, at = world.cluster.wire, world.cluster.controllers[leader]
        wire.schemas("create_topics", at)  # asked now, so that a time-out is that of the question itself
        there = "the topics are there"
        ask_in_vain(lambda: partitions.create_topics(wire, at, topics, {}, _UNANSWERED_SECONDS) or there)


@action
def append_in_vain(leader: NodeRef, *, topics: int) -> AppendInVain:
    """Have a leader that has lost its majority append the records of so many topics, which will be truncated."""
    return AppendInVain(leader, topics)
