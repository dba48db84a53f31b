"""Who leads the metadata quorum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from harness.cluster import probes
from harness.cluster.protocol import Unreachable
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import World

_SETTLED_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class HasLeader:
    """Some voter leads the metadata quorum."""

    name: ClassVar[str] = "has_leader"
    description: str = "the quorum has a leader"

    def sample(self, world: World) -> Sample:
        """Look at the newest answer of the voters."""
        quorum = world.quorum()
        return Sample(quorum.leader >= 0, {"leader": quorum.leader, "epoch": quorum.epoch})


@dataclass(frozen=True, slots=True)
class HasNoLeader:
    """Every voter that has a process, be it one that is stopping, and is not held, says that it does not lead.

    Of one that is silent nobody can tell.
    """

    name: ClassVar[str] = "has_no_leader"
    description: str = "nobody leads"

    def sample(self, world: World) -> Sample:
        """Ask each of them for its own account; in ZooKeeper mode, who the controller is."""
        if not world.cluster.controllers:
            return Sample(world.quorum().leader < 0)
        held = world.monitor(HostNotStarved).held
        asked = [node.id for node in world.cluster.voters if node.is_alive and node.id not in held]
        try:
            accounts = {node: probes.own_account(world.cluster.wire, world.cluster.controllers[node]) for node in asked}
        except probes.AnswersOddlyError as error:
            return Sample(False, problem=str(error))
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False, problem=str(error))
        leaders = {node: account.epoch for node, account in accounts.items() if account.leader == node}
        said = "; ".join(f"node {node} says that it leads" for node in leaders)
        detail = {"asked": asked, "epochs_of_leaders": leaders}
        return Sample(bool(asked) and not leaders, detail, testable=bool(asked), problem=said)


@dataclass(frozen=True, slots=True)
class HasNewLeader:
    """Another leader, in a later epoch, than before the last fault."""

    name: ClassVar[str] = "has_new_leader"
    description: str = "a new leader exists"

    def sample(self, world: World) -> Sample:
        """Compare with the leader remembered at the fault."""
        quorum, before = world.quorum(), world.leader_before
        newer = quorum.leader >= 0 and quorum.epoch > before.epoch and quorum.leader != before.leader
        return Sample(newer, {"leader": quorum.leader, "epoch": quorum.epoch, "before": before.leader})


@dataclass(frozen=True, slots=True)
class Leads:
    """The node is the leader; in an election, and until the newest leader has stayed for a second, nobody can tell."""

    name: ClassVar[str] = "leads"
    node: NodeRef

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} leads"

    def sample(self, world: World) -> Sample:
        """Compare the newest answer of the voters with what they answered in the second before."""
        quorum = world.quorum()
        settled = quorum.leader >= 0 and all(
            (look.quorum.leader, look.quorum.epoch) == (quorum.leader, quorum.epoch)
            for look in world.looks_of(_SETTLED_SECONDS)
        )
        detail = {"leader": quorum.leader, "epoch": quorum.epoch}
        return Sample(quorum.leader == self.node.find(world), detail, testable=settled)


@condition
def has_leader() -> HasLeader:
    """Some voter leads."""
    return HasLeader()


@condition
def has_no_leader() -> HasNoLeader:
    """Every voter that runs and is not held says that it does not lead."""
    return HasNoLeader()


@condition
def has_new_leader() -> HasNewLeader:
    """Another voter leads, in a later epoch, than before the last fault."""
    return HasNewLeader()


@condition
def leads(node: NodeRef) -> Leads:
    """A voter is the leader at this moment."""
    return Leads(node)
