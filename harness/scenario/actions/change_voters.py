"""Taking controllers into the voter set, and out of it (KIP-853)."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.attempts import attempts
from harness.cluster.formatting import kafka_uuid
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import Answer, add_voter, directory_of, remove_voter
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault, Rejoin
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World

_WITHIN_SECONDS = 20.0
_RETRY_SECONDS = 0.3


@dataclass(frozen=True, slots=True)
class AddController(Rejoin):
    """Have the leader take a controller into the voter set (AddRaftVoter)."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"add {self.node.description} to the voters (AddRaftVoter)"

    def perform(self, world: World) -> None:
        """Ask the leader until it says that it is done: not before the node has caught up. Raises ActionFailed."""
        _ask_until_done(world, self.node.find(world), adds=True)


@dataclass(frozen=True, slots=True)
class RemoveController(Fault):
    """Have the leader take a controller out of the voter set, itself perhaps (RemoveRaftVoter)."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"remove {self.node.description} from the voters (RemoveRaftVoter)"

    def perform(self, world: World) -> None:
        """Ask the leader until it says that it is done. Raises ActionFailed."""
        _ask_until_done(world, self.node.find(world), adds=False)


def _ask_until_done(world: World, node: int, *, adds: bool) -> None:
    last: Answer | Unreachable = Unreachable("no leader answered")
    asked = Quorum()
    for _ in attempts(world.cluster, _WITHIN_SECONDS, _RETRY_SECONDS):
        quorum = world.quorum()
        if quorum.leader < 0:
            continue
        if (node in quorum.voters) is adds:
            if isinstance(last, Answer) and (quorum.leader, quorum.epoch) == (asked.leader, asked.epoch):
                raise ActionFailed(f"the leader refused to change the voter set ({last}), and changed it all the same")
            return
        last, asked = _ask(world, quorum, node, adds=adds), quorum
        if isinstance(last, Answer) and last.is_done:
            return
    raise ActionFailed(f"the voter set was not changed: {last}")


def _ask(world: World, quorum: Quorum, node: int, *, adds: bool) -> Answer | Unreachable:
    try:
        return _send(world, quorum, node, adds=adds)
    except Unreachable as error:
        return error


def _send(world: World, quorum: Quorum, node: int, *, adds: bool) -> Answer:
    cluster = world.cluster
    leader, own = cluster.controllers[quorum.leader], cluster.nodes[node].directory
    if not adds:  # by the name that the voter set has for it: its disk may be another by now
        named = directory_of(cluster.wire, leader, node) or own
        return remove_voter(cluster.wire, leader, kafka_uuid(cluster.id), (node, named))
    listeners = cluster.nodes[node].config.announced
    return add_voter(cluster.wire, leader, kafka_uuid(cluster.id), (node, own), listeners)


@action
def add_controller(node: NodeRef) -> AddController:
    """Have the leader take a controller into the voter set."""
    return AddController(node)


@fault
def remove_controller(node: NodeRef) -> RemoveController:
    """Have the leader take a controller out of the voter set."""
    return RemoveController(node)
