"""Who votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Votes:
    """The leader counts the node among the voters (or no longer does), and all others as before."""

    name: ClassVar[str] = "votes"
    node: NodeRef
    is_voter: bool

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} {'is' if self.is_voter else 'is not'} among the voters"

    def sample(self, world: World) -> Sample:
        """Look at the newest leader's own list."""
        quorum, node = world.quorum(), self.node.find(world)
        wanted = {voter for voter in world.cluster.topology.voter_ids if voter != node or self.is_voter}
        detail = {"leader": quorum.leader, "voters": sorted(quorum.voters)}
        return Sample(quorum.leader >= 0 and set(quorum.voters) == wanted, detail)


@dataclass(frozen=True, slots=True)
class Observes:
    """The leader counts the node among the observers: it fetches from it, and does not vote."""

    name: ClassVar[str] = "observes"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} is among the observers"

    def sample(self, world: World) -> Sample:
        """Look at the newest leader's own list."""
        quorum, node = world.quorum(), self.node.find(world)
        detail = {"leader": quorum.leader, "voters": sorted(quorum.voters), "observers": sorted(quorum.observers)}
        return Sample(quorum.leader >= 0 and node in quorum.observers and node not in quorum.voters, detail)


@dataclass(frozen=True, slots=True)
class OnlyVote:
    """The voters, by the leader's own account, are these nodes and no others."""

    name: ClassVar[str] = "only_vote"
    nodes: tuple[NodeRef, ...]

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the voters are {', '.join(node.description for node in self.nodes)}, and nobody else"

    def sample(self, world: World) -> Sample:
        """Look at the newest leader's own list."""
        quorum, wanted = world.quorum(), {node.find(world) for node in self.nodes}
        detail = {"leader": quorum.leader, "voters": sorted(quorum.voters)}
        return Sample(quorum.leader >= 0 and set(quorum.voters) == wanted, detail)


@condition
def only_vote(*nodes: NodeRef) -> OnlyVote:
    """These controllers vote, and nobody else."""
    return OnlyVote(nodes)


@condition
def observes(node: NodeRef) -> Observes:
    """The leader names a node among the observers, and not among the voters."""
    return Observes(node)


@condition
def votes(node: NodeRef) -> Votes:
    """A controller is among the voters, and so is every other one."""
    return Votes(node, True)


@condition
def votes_no_more(node: NodeRef) -> Votes:
    """A controller is not among the voters any more, and every other one is."""
    return Votes(node, False)
