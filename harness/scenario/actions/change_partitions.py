"""Partitions on brokers of the plan's choice: made, given another leader, other replicas or other settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.cluster import partition_changes
from harness.cluster.address import Address
from harness.cluster.attempts import attempts
from harness.cluster.partition_changes import Election
from harness.cluster.protocol import Unreachable
from harness.cluster.voter_changes import Answer
from harness.scenario.loads.topics import keeping, make_offsets_topic
from harness.scenario.refs import NodeRef
from harness.scenario.verbs import action
from harness.scenario.world import ActionFailed, World

_PATIENCE_SECONDS = 15.0
_POLL_SECONDS = 0.2
_NOTHING_TO_DO = "election_not_needed"


@dataclass(frozen=True, slots=True)
class CreatePartition:
    """Make a topic of one partition on these brokers, the first of them preferred; each fault looks at it from now."""

    topic: str
    nodes: tuple[NodeRef, ...]
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """The action as a clause."""
        on, said = _listed(self.nodes), "".join(f", {key}={value}" for key, value in self.settings.items())
        return f"create the topic “{self.topic}” on {on}{said}"

    def perform(self, world: World) -> None:
        """Ask until it is there. Raises ActionFailed."""
        make_offsets_topic(world, [world.cluster.topology.broker_ids])
        replicas = [node.find(world) for node in self.nodes]
        world.create_topic(self.topic, [replicas], {**keeping(), **self.settings})
        last = "no broker runs"
        for _ in attempts(world.cluster, _PATIENCE_SECONDS, _POLL_SECONDS):
            try:
                world.watched[self.topic] = world.views(self.topic)[0]
            except Unreachable as error:
                last = str(error)
            else:
                return
        raise ActionFailed(last)


@dataclass(frozen=True, slots=True)
class Elect:
    """Ask for an election; one that is not needed is none."""

    topic: str
    election: Election

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"ask for an election of “{self.topic}”: {self.election.name.lower()}"

    def perform(self, world: World) -> None:
        """Ask the controller. Raises ActionFailed."""
        wire = world.cluster.wire
        _ask_controller(world, lambda at: partition_changes.elect(wire, at, self.topic, self.election))


@dataclass(frozen=True, slots=True)
class Reassign:
    """Move the partition to these brokers."""

    topic: str
    nodes: tuple[NodeRef, ...]

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"move “{self.topic}” to {_listed(self.nodes)}"

    def perform(self, world: World) -> None:
        """Ask the controller; it is not done when this returns. Raises ActionFailed."""
        wire, replicas = world.cluster.wire, [node.find(world) for node in self.nodes]
        _ask_controller(world, lambda at: partition_changes.reassign(wire, at, self.topic, replicas))


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """Have so many partitions in all, wherever the controller places them."""

    topic: str
    partitions: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"have {self.partitions} partitions of “{self.topic}” (CreatePartitions)"

    def perform(self, world: World) -> None:
        """Ask the controller. Raises ActionFailed."""
        wire = world.cluster.wire
        _ask_controller(world, lambda at: partition_changes.add_partitions(wire, at, self.topic, self.partitions))


@dataclass(frozen=True, slots=True)
class SetTopic:
    """Change a setting of a live topic."""

    topic: str
    key: str
    value: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"set {self.key}={self.value} for “{self.topic}”"

    def perform(self, world: World) -> None:
        """Ask the controller. Raises ActionFailed."""
        wire = world.cluster.wire
        _ask_controller(world, lambda at: partition_changes.set_topic(wire, at, self.topic, self.key, self.value))


def _ask_controller(world: World, request: Callable[[Address], Answer]) -> None:
    """Ask one broker after another: in ZooKeeper mode all but the controller refuse. Raises ActionFailed."""
    last = "no broker runs"
    for _ in attempts(world.cluster, _PATIENCE_SECONDS, _POLL_SECONDS):
        for address in world.cluster.brokers.values():
            try:
                answer = request(address)
            except Unreachable as error:
                last = str(error)
                continue
            if answer.is_done or answer.code == _NOTHING_TO_DO:
                return
            last = str(answer)
    raise ActionFailed(last)


def _listed(nodes: tuple[NodeRef, ...]) -> str:
    return ", ".join(node.description for node in nodes)


@action
def create_partition(topic: str, *nodes: NodeRef, **settings: str) -> CreatePartition:
    """Make a topic of one partition on these brokers, in this order; settings with `_` for each dot."""
    return CreatePartition(topic, nodes, {key.replace("_", "."): value for key, value in settings.items()})


@action
def elect_preferred(topic: str) -> Elect:
    """Ask for the first of a partition's assignment as its leader (ElectLeaders)."""
    return Elect(topic, Election.PREFERRED)


@action
def elect_unclean(topic: str) -> Elect:
    """Ask for any live replica as a partition's leader, where none that is in sync is alive (ElectLeaders)."""
    return Elect(topic, Election.UNCLEAN)


@action
def reassign(topic: str, *nodes: NodeRef) -> Reassign:
    """Move a topic's partition to these brokers, in this order."""
    return Reassign(topic, nodes)


@action
def add_partitions(topic: str, partitions: int) -> AddPartitions:
    """Have so many partitions of a topic in all (CreatePartitions), as every tool since 2.2 asks for it."""
    return AddPartitions(topic, partitions)


@action
def set_topic(topic: str, key: str, value: str) -> SetTopic:
    """Change a setting of a live topic."""
    return SetTopic(topic, key, value)
