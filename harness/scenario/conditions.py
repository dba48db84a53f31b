"""Conditions that can be looked at on a live cluster: the guards' and expectations' oracles.

An observer is judged by its own progress, never by being listed: `CurrentObservers` keeps a dead observer for
five minutes under the same leader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from harness.cluster import probes
from harness.cluster.node import NodeState
from harness.cluster.protocol import Unreachable
from harness.scenario.bounds import FOLLOW_WINDOW_SECONDS
from harness.scenario.steps import Sample

if TYPE_CHECKING:
    from harness.engine.world import Look, World
    from harness.scenario.nodes import NodeRef


@runtime_checkable
class AboutNode(Protocol):
    """A condition about one node, whose log is then the first place to look."""

    @property
    def node(self) -> NodeRef:
        """The node that is asked."""


@dataclass(frozen=True, slots=True)
class NodesReady:
    """Every started node answers on its listeners, and each of them knows every started broker as unfenced."""

    words: str = "every started node answers and knows every started broker"

    def sample(self, world: World) -> Sample:
        """Look at process states, then at each broker's own metadata."""
        running = world.cluster.running
        waiting = [node.id for node in running if node.state is not NodeState.READY]
        if waiting or not running:
            return Sample(False, {"not_ready": waiting})
        ports = world.cluster.broker_ports
        unknown: dict[str, Any] = {}
        for broker, port in ports.items():
            try:
                missing = sorted(set(ports) - set(probes.metadata(port).brokers))
            except Unreachable as error:
                return Sample(False, {"unreachable": str(error)})
            if missing:
                unknown[str(broker)] = missing
        return Sample(not unknown, {"brokers_missing_at": unknown})


@dataclass(frozen=True, slots=True)
class HasLeader:
    """Some voter leads the metadata quorum."""

    words: str = "the quorum has a leader"

    def sample(self, world: World) -> Sample:
        """Look at the newest answer of the voters."""
        quorum = world.quorum()
        return Sample(quorum.leader >= 0, {"leader": quorum.leader, "epoch": quorum.epoch})


@dataclass(frozen=True, slots=True)
class HasNewLeader:
    """Another leader, in a later epoch, than before the last fault."""

    words: str = "a new leader exists"

    def sample(self, world: World) -> Sample:
        """Compare with the leader remembered at the fault."""
        quorum, before = world.quorum(), world.leader_before
        newer = quorum.leader >= 0 and quorum.epoch > before.epoch and quorum.leader != before.leader
        return Sample(newer, {"leader": quorum.leader, "epoch": quorum.epoch, "before": before.leader})


@dataclass(frozen=True, slots=True)
class Leads:
    """The node is the leader."""

    node: NodeRef

    @property
    def words(self) -> str:
        """The condition as a clause."""
        return f"{self.node.words} leads"

    def sample(self, world: World) -> Sample:
        """Look at the newest answer of the voters."""
        leader = world.quorum().leader
        return Sample(leader == self.node.find(world), {"leader": leader})


@dataclass(frozen=True, slots=True)
class LeaderIsMovedAndRegistered:
    """The leader left its first address, and the voter set names its present one."""

    words: str = "a moved voter with a registered endpoint leads"

    def sample(self, world: World) -> Sample:
        """Compare the voter set with where the leader listens."""
        quorum, cluster = world.quorum(), world.cluster
        listens = cluster.controller_ports.get(quorum.leader)
        moved = quorum.leader >= 0 and cluster.has_moved(quorum.leader)
        registered = listens is not None and quorum.endpoints.get(quorum.leader) == listens
        detail = {"leader": quorum.leader, "moved": moved, "registered": registered}
        return Sample(moved and registered, detail)


@dataclass(frozen=True, slots=True)
class VoterSetKnows:
    """The voter set names the address at which the voter listens now."""

    node: NodeRef

    @property
    def words(self) -> str:
        """The condition as a clause."""
        return f"the voter set knows the address of {self.node.words}"

    def sample(self, world: World) -> Sample:
        """Compare the leader's voter set with the node's port."""
        node = self.node.find(world)
        named, listens = world.quorum().endpoints.get(node), world.cluster.controller_ports.get(node)
        return Sample(named is not None and named == listens, {"named": named, "listens": listens})


@dataclass(frozen=True, slots=True)
class VotersCaughtUp:
    """Every running voter's log end offset is within one no-op of the leader's: one of them may stop."""

    words: str = "every running voter has caught up"

    def sample(self, world: World) -> Sample:
        """Compare log end offsets in the newest answer."""
        quorum = world.quorum()
        end = quorum.voters.get(quorum.leader, -1)
        behind = {
            str(node.id): end - quorum.voters.get(node.id, -1)
            for node in world.cluster.voters
            if node.is_running and end - quorum.voters.get(node.id, -1) > 1
        }
        return Sample(end >= 0 and not behind, {"leader": quorum.leader, "behind": behind})


@dataclass(frozen=True, slots=True)
class FollowsLeader:
    """The observer's log end offset advances, as its leader sees it and on its own disk.

    Only looks since the step began, under the newest leader and epoch, within FOLLOW_WINDOW_SECONDS count.
    """

    node: NodeRef

    @property
    def words(self) -> str:
        """The condition as a clause."""
        return f"{self.node.words} follows the leader"

    def sample(self, world: World) -> Sample:
        """Compare the oldest and the newest look in the window."""
        node = self.node.find(world)
        return follows(world.recent_looks(FOLLOW_WINDOW_SECONDS), node)


def follows(looks: list[Look], node: int) -> Sample:
    """Decide from looks (oldest first) whether the node's replication advances. Pure."""
    if not looks or looks[-1].quorum.leader < 0:
        return Sample(False, {"leader": -1}, askable=False)
    newest = looks[-1]
    same = [look for look in looks if look.quorum.epoch == newest.quorum.epoch and node in look.quorum.observers]
    detail: dict[str, Any] = {"leader": newest.quorum.leader, "epoch": newest.quorum.epoch}
    if not same or same[-1] is not newest:
        return Sample(False, {**detail, "log_end_offset": None})
    first = same[0]
    offsets = (first.quorum.observers[node], newest.quorum.observers[node])
    own = (first.own_log_bytes.get(node, 0), newest.own_log_bytes.get(node, 0))
    detail |= {"log_end_offset": list(offsets), "own_log_bytes": list(own)}
    return Sample(offsets[1] > offsets[0] >= 0 and own[1] > own[0], detail)


@dataclass(frozen=True, slots=True)
class SeesTopic:
    """A topic is in the observer's own metadata cache: metadata that the voters wrote has reached it."""

    node: NodeRef
    topic: str

    @property
    def words(self) -> str:
        """The condition as a clause."""
        return f"{self.node.words} sees the topic “{self.topic}”"

    def sample(self, world: World) -> Sample:
        """Ask the observer alone."""
        port = world.cluster.nodes[self.node.find(world)].config.ports[0]
        try:
            seen = self.topic in probes.metadata(port, [self.topic]).topics
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)})
        return Sample(seen, {"topic": self.topic, "seen": seen})
