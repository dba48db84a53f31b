"""Things done to a live cluster; each is one small record, so that a plan can be printed before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.scenario.steps import ActionFailed

if TYPE_CHECKING:
    from harness.engine.world import World
    from harness.scenario.nodes import NodeRef

_REGISTER_WITHIN_SECONDS = 20.0


def _told(knows: NodeRef | None) -> str:
    return f", told the right address of {knows.words} only" if knows else ""


def _voters_as_told(knows: NodeRef | None, world: World) -> dict[int, int] | None:
    """Return the controller ports to tell a node: the known voter's own, dead ones for the others; None: as it was."""
    if knows is None:
        return None
    known, right = knows.find(world), world.cluster.controller_ports
    return {voter: port if voter == known else world.cluster.dead_port() for voter, port in right.items()}


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
        return f"start {self.node.words}{_told(self.knows)}"

    def perform(self, world: World) -> None:
        """Start it."""
        world.cluster.start([self.node.find(world)], _voters_as_told(self.knows, world))


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
    knows: NodeRef | None = None

    @property
    def words(self) -> str:
        """The action as a clause."""
        return f"restart {self.node.words} on {'new' if self.new_ports else 'its old'} ports{_told(self.knows)}"

    def perform(self, world: World) -> None:
        """Stop and start; the node is not ready yet when this returns."""
        node = self.node.find(world)
        world.remember_leader()
        voters = _voters_as_told(self.knows, world)
        if not world.cluster.restart(node, new_ports=self.new_ports, voters=voters):
            world.note("did not stop on SIGTERM", node=node)


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """Create a topic of one partition through a voter, and on it."""

    name: str

    @property
    def words(self) -> str:
        """The action as a clause."""
        return f"create the topic “{self.name}” through a voter"

    def perform(self, world: World) -> None:
        """Ask until it is there. Raises ActionFailed."""
        voter = next((node for node in world.cluster.voters if node.is_running), None)
        if voter is None:
            raise ActionFailed("no voter runs")
        world.create_topic(self.name, [(voter.id,)], {})


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
