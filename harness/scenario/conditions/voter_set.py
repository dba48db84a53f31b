"""What the replicated voter set says of the voters' addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster.address import Address
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class LeaderIsMovedAndRegistered:
    """The leader left its first address, and the voter set names its present one."""

    name: ClassVar[str] = "leader_is_moved_and_registered"
    description: str = "a moved voter with a registered endpoint leads"

    def sample(self, world: World) -> Sample:
        """Compare the voter set with where the leader listens."""
        quorum, cluster = world.quorum(), world.cluster
        listens = cluster.endpoints.get(quorum.leader)
        moved = quorum.leader >= 0 and cluster.has_moved(quorum.leader)
        registered = listens is not None and quorum.endpoints.get(quorum.leader) == listens
        detail = {"leader": quorum.leader, "moved": moved, "registered": registered}
        return Sample(moved and registered, detail)


@dataclass(frozen=True, slots=True)
class VoterSetKnows:
    """The voter set names the address at which the voter listens now."""

    name: ClassVar[str] = "voter_set_knows"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the voter set knows the address of {self.node.description}"

    def sample(self, world: World) -> Sample:
        """Compare the leader's voter set with where the node listens."""
        node = self.node.find(world)
        named, listens = world.quorum().endpoints.get(node), world.cluster.endpoints.get(node)
        return Sample(named is not None and named == listens, {"named": _text(named), "listens": _text(listens)})


@condition
def leader_is_moved_and_registered() -> LeaderIsMovedAndRegistered:
    """The leader is a voter that moved and that the voter set knows at its new address."""
    return LeaderIsMovedAndRegistered()


@condition
def voter_set_knows(node: NodeRef) -> VoterSetKnows:
    """The voter set names a voter's present address."""
    return VoterSetKnows(node)


def _text(address: Address | None) -> str | None:
    return str(address) if address else None
