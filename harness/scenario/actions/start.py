"""Starting nodes: all of them, the voters, or one, perhaps with wrong addresses in its configuration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.base.text import listed
from harness.cluster.address import Address
from harness.scenario.refs import NodeRef
from harness.scenario.up_or_down import all_down, down
from harness.scenario.verbs import action
from harness.scenario.world import World

Known = NodeRef | Sequence[NodeRef] | None


@dataclass(frozen=True, slots=True)
class Start:
    """Start one node."""

    node: NodeRef
    knows: tuple[NodeRef, ...] = ()

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"start {self.node.description}{knowing(self.knows)}"

    def perform(self, world: World) -> None:
        """Start it; readiness is for a guard to establish. Raises ActionFailed where it runs."""
        world.cluster.start([down(self.node, world).id], configured_voters(self.knows, world))


@dataclass(frozen=True, slots=True)
class StartVoters:
    """Start every voter at once."""

    description: str = "start the voters"

    def perform(self, world: World) -> None:
        """Start them; readiness is for a guard to establish. Raises ActionFailed where one runs."""
        _start_all(world.cluster.topology.voter_ids, world)


@dataclass(frozen=True, slots=True)
class StartAll:
    """Start every node at once."""

    description: str = "start every node"

    def perform(self, world: World) -> None:
        """Start them, but for controllers in reserve; readiness is for a guard to establish.

        Raises ActionFailed where one runs.
        """
        topology = world.cluster.topology
        _start_all([*topology.voter_ids, *topology.observer_ids], world)


@action
def start(node: NodeRef, *, knows: Known = ()) -> Start:
    """Start a node; with `knows`, its configuration has the right addresses of those voters, dead ones for others."""
    return Start(node, known(knows))


@action
def start_voters() -> StartVoters:
    """Start the voters only."""
    return StartVoters()


@action
def start_all() -> StartAll:
    """Start every node at once."""
    return StartAll()


def _start_all(nodes: Iterable[int], world: World) -> None:
    world.cluster.start([node.id for node in all_down(nodes, world)])


def known(knows: Known) -> tuple[NodeRef, ...]:
    """Return the voters whose right addresses a node is to be configured with, none where it is as it was."""
    if knows is None:
        return ()
    return tuple(knows) if isinstance(knows, Sequence) else (knows,)


def knowing(knows: tuple[NodeRef, ...]) -> str:
    """Return what a node's configuration names, as the end of a clause; empty where it is as it was."""
    if not knows:
        return ""
    return f", configured with the right address of {listed([each.description for each in knows])} only"


def configured_voters(knows: tuple[NodeRef, ...], world: World) -> dict[int, Address] | None:
    """Return the controller addresses for a node's configuration, dead ones for all other voters; None: as it was."""
    if not knows:
        return None
    right = {node: world.cluster.quorum_addresses[node] for node in (each.find(world) for each in knows)}
    return {voter: right.get(voter) or world.cluster.dead_address() for voter in world.cluster.topology.voter_ids}
