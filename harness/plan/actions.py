"""Things done to a live cluster; each is one small record, so that a plan can be printed before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.plan.steps import ActionFailed

if TYPE_CHECKING:
    from harness.plan.nodes import NodeRef
    from harness.plan.world import World

_REGISTER_WITHIN_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class StartVoters:
    """Start every voter at once."""

    @property
    def words(self) -> str:
        """The action as a clause."""
        return "start the voters"

    def perform(self, world: World) -> None:
        """Start them; readiness is for a guard to establish."""
        world.cluster.start(world.cluster.topology.voter_ids)


@dataclass(frozen=True, slots=True)
class StartAll:
    """Start every node at once."""

    @property
    def words(self) -> str:
        """The action as a clause."""
        return "start every node"

    def perform(self, world: World) -> None:
        """Start them; readiness is for a guard to establish."""
        world.cluster.start(world.cluster.nodes)


@dataclass(frozen=True, slots=True)
class Start:
    """Start one node, perhaps with wrong addresses for all voters but one."""

    node: NodeRef
    knows: NodeRef | None = None

    @property
    def words(self) -> str:
        """The action as a clause."""
        told = f", told the right address of {self.knows.words} only" if self.knows else ""
        return f"start {self.node.words}{told}"

    def perform(self, world: World) -> None:
        """Start it."""
        cluster, voters = world.cluster, None
        if self.knows is not None:
            known = self.knows.find(world)
            right = cluster.controller_ports
            voters = {voter: port if voter == known else cluster.dead_port() for voter, port in right.items()}
        cluster.start([self.node.find(world)], voters)


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop a node gracefully."""

    node: NodeRef

    @property
    def words(self) -> str:
        """The action as a clause."""
        return f"stop {self.node.words}"

    def perform(self, world: World) -> None:
        """Send SIGTERM and wait for the end; note it when the node had to be killed."""
        node = self.node.find(world)
        world.remember_leader()
        if not world.cluster.nodes[node].stop():
            world.note("did not stop on SIGTERM", node=node)


@dataclass(frozen=True, slots=True)
class Kill:
    """End a node at once."""

    node: NodeRef

    @property
    def words(self) -> str:
        """The action as a clause."""
        return f"kill -9 {self.node.words}"

    def perform(self, world: World) -> None:
        """Send SIGKILL."""
        node = self.node.find(world)
        world.remember_leader()
        world.cluster.nodes[node].kill()


@dataclass(frozen=True, slots=True)
class Restart:
    """Stop a node and start it again, on the same or on new ports."""

    node: NodeRef
    new_ports: bool

    @property
    def words(self) -> str:
        """The action as a clause."""
        return f"restart {self.node.words} on {'new' if self.new_ports else 'its old'} ports"

    def perform(self, world: World) -> None:
        """Stop and start; the node is not ready yet when this returns."""
        node = self.node.find(world)
        world.remember_leader()
        if not world.cluster.restart(node, new_ports=self.new_ports):
            world.note("did not stop on SIGTERM", node=node)


@dataclass(frozen=True, slots=True)
class RegisterEndpoint:
    """Have the leader record a voter's present address (UpdateRaftVoter)."""

    node: NodeRef

    @property
    def words(self) -> str:
        """The action as a clause."""
        return f"register the endpoint of {self.node.words} with the leader (UpdateRaftVoter)"

    def perform(self, world: World) -> None:
        """Send the request until the voter set shows the address. Raises ActionFailed."""
        problem = world.cluster.register_endpoint(self.node.find(world), _REGISTER_WITHIN_SECONDS)
        if problem:
            raise ActionFailed(f"{self.node.words}'s endpoint was not registered: {problem}")
