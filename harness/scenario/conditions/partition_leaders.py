"""Who leads a partition, who is in sync with the leader, and how it came to lead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from harness.base.tails import beginnings
from harness.cluster.partitions import PartitionView
from harness.cluster.protocol import Unreachable
from harness.scenario.elections import NOBODY, Way, first_in_sync, first_of_isr, order_tells, way_of
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.verbs import condition
from harness.scenario.world import TopicUnknown, World


def _seen(
    world: World, topic: str, is_so: Callable[[PartitionView], bool], told_by: tuple[NodeRef, ...] = ()
) -> Sample:
    """Look at a partition by brokers' own accounts, every running one's or some: it is so where all of them say so.

    Of a broker that does not answer nobody can tell what it would say.
    """
    try:
        views = world.views(topic, [node.find(world) for node in told_by])
    except Unreachable as error:
        return Sample(False, {"unreachable": str(error)}, isinstance(error, TopicUnknown), str(error))
    other = next((view for view in views if not is_so(view)), None)
    seen = other or views[0]
    return Sample(other is None, asdict(seen), problem="" if other is None else f"a broker says {_in_words(seen)}")


def _told(by: tuple[NodeRef, ...]) -> str:
    return f", by the account of {' and '.join(node.description for node in by)}" if by else ""


def _in_words(view: PartitionView) -> str:
    leads = f"{view.leader} leads" if view.leader != NOBODY else "nobody leads"
    return f"{leads} in epoch {view.epoch}, of {list(view.replicas)} in sync {list(view.isr)}"


@dataclass(frozen=True, slots=True)
class LedBy:
    """A broker leads the topic's partition, at every broker's own account."""

    name: ClassVar[str] = "led_by"
    topic: str
    node: NodeRef
    told_by: tuple[NodeRef, ...] = ()

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} leads “{self.topic}”{_told(self.told_by)}"

    def sample(self, world: World) -> Sample:
        """Ask every running broker."""
        node = self.node.find(world)
        return _seen(world, self.topic, lambda view: view.leader == node, self.told_by)


@dataclass(frozen=True, slots=True)
class LedByFirstInSync:
    """The first of the assignment that is alive and was in sync before the last fault leads."""

    name: ClassVar[str] = "led_by_first_in_sync"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the first of the assignment of “{self.topic}” that is alive and was in sync leads"

    def sample(self, world: World) -> Sample:
        """Ask every running broker; keep beside it whom the ISR's own order would have chosen."""
        before, alive = world.watched[self.topic], set(world.cluster.brokers)
        wanted = first_in_sync(before.replicas, alive, before.isr)
        found = _seen(world, self.topic, lambda view: view.leader == wanted != NOBODY)
        chosen = {"expected": wanted, "by_isr_order": first_of_isr(alive, before.isr), "isr_before": list(before.isr)}
        return replace(found, detail={**found.detail, **chosen})


@dataclass(frozen=True, slots=True)
class HasNoPartitionLeader:
    """Nobody leads the topic's partition."""

    name: ClassVar[str] = "has_no_partition_leader"
    topic: str
    told_by: tuple[NodeRef, ...] = ()

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"nobody leads “{self.topic}”{_told(self.told_by)}"

    def sample(self, world: World) -> Sample:
        """Ask every running broker."""
        return _seen(world, self.topic, lambda view: view.leader == NOBODY, self.told_by)


@dataclass(frozen=True, slots=True)
class InSync:
    """These brokers, and no others, are in sync."""

    name: ClassVar[str] = "in_sync"
    topic: str
    nodes: tuple[NodeRef, ...]
    told_by: tuple[NodeRef, ...] = ()

    @property
    def description(self) -> str:
        """The condition as a clause."""
        named = ", ".join(node.description for node in self.nodes)
        return f"{named} and nobody else are in sync for “{self.topic}”{_told(self.told_by)}"

    def sample(self, world: World) -> Sample:
        """Ask every running broker."""
        wanted = {node.find(world) for node in self.nodes}
        return _seen(world, self.topic, lambda view: set(view.isr) == wanted, self.told_by)


@dataclass(frozen=True, slots=True)
class IsrOrderDiffers:
    """When the present leader goes, assignment and ISR name different ones to follow it."""

    name: ClassVar[str] = "isr_order_differs"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the ISR of “{self.topic}” has another order than its assignment"

    def sample(self, world: World) -> Sample:
        """Ask every running broker."""
        alive = set(world.cluster.brokers)
        return _seen(world, self.topic, lambda view: order_tells(view, alive))


@dataclass(frozen=True, slots=True)
class ElectedAfter:
    """The controller's log says in which way the leader went before the present one."""

    name: ClassVar[str] = "elected_after"
    topic: str
    way: Way

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"the controller's log says of “{self.topic}” that {self.way}"

    def sample(self, world: World) -> Sample:
        """Read what any node has logged since the last fault: whoever is the controller now may be another."""
        found = way_of(_logged(world), world.fault_at, f"{self.topic}-0")
        return Sample(found is self.way, {"way": str(found or "")}, problem=f"it says that {found}" if found else "")


def _logged(world: World) -> Iterator[bytes]:
    for node in world.cluster.nodes.values():
        if node.log_file.is_file():
            yield from (line for _, line in beginnings(node.log_file))


@dataclass(frozen=True, slots=True)
class HasTruncated:
    """A broker has cut its log of the partition since it was started."""

    name: ClassVar[str] = "has_truncated"
    node: NodeRef
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} has truncated its log of “{self.topic}”"

    def sample(self, world: World) -> Sample:
        """Read its log: UnifiedLog names the partition and the offset."""
        node = world.cluster.nodes[self.node.find(world)]
        words = f"partition={self.topic}-0, dir={node.data_dir}] Truncating to offset "
        return Sample(node.has_logged(words), {"looked_for": words})


@condition
def led_by(topic: str, node: NodeRef, *, told_by: tuple[NodeRef, ...] = ()) -> LedBy:
    """A broker leads a topic's partition, by every running broker's own account, or by these brokers'."""
    return LedBy(topic, node, told_by)


@condition
def led_by_first_in_sync(topic: str) -> LedByFirstInSync:
    """The first of a partition's assignment leads that is alive and was in sync before the last fault."""
    return LedByFirstInSync(topic)


@condition
def has_no_partition_leader(topic: str, *, told_by: tuple[NodeRef, ...] = ()) -> HasNoPartitionLeader:
    """Nobody leads a topic's partition, by every running broker's own account, or by these brokers'."""
    return HasNoPartitionLeader(topic, told_by)


@condition
def in_sync(topic: str, *nodes: NodeRef, told_by: tuple[NodeRef, ...] = ()) -> InSync:
    """These brokers and no others are in sync for a topic's partition, as all running ones or some of them say."""
    return InSync(topic, nodes, told_by)


@condition
def isr_order_differs(topic: str) -> IsrOrderDiffers:
    """A partition's ISR has such an order that the next leader shows whether it counts, or the assignment's."""
    return IsrOrderDiffers(topic)


@condition
def elected_after_shutdown(topic: str) -> ElectedAfter:
    """The controller's log says that a partition's leader took its leave (controlled shutdown)."""
    return ElectedAfter(topic, Way.SHUTDOWN)


@condition
def elected_after_failure(topic: str) -> ElectedAfter:
    """The controller's log says that a partition's leader was lost."""
    return ElectedAfter(topic, Way.FAILURE)


@condition
def has_truncated(node: NodeRef, topic: str) -> HasTruncated:
    """A broker has cut its log of a topic's partition since it was started."""
    return HasTruncated(node, topic)
