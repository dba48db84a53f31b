"""Where a topic's id stands, and what a broker makes of another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from harness.cluster.protocol import Unreachable
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.topic_ids import IdsSeen, kind_of, kinds_on_disks, look_at_ids
from harness.scenario.verbs import condition
from harness.scenario.world import FirstId, World


def _detail(seen: IdsSeen) -> Mapping[str, Any]:
    return asdict(seen)


def _kinds(words: str) -> set[str]:
    return set(words.split("/"))


@dataclass(frozen=True, slots=True)
class IdsAre:
    """ZooKeeper and all directories have such ids, those of the first partitions and those of added ones."""

    name: ClassVar[str] = "ids_are"
    topic: str
    zookeeper: str
    first: str
    added: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        more = f", added partitions {self.added}" if self.added else ""
        return f"of ids of “{self.topic}” ZooKeeper has {self.zookeeper}, directories have {self.first}{more}"

    def sample(self, world: World) -> Sample:
        """Read ZooKeeper and every directory; all of it is kept."""
        try:
            seen = look_at_ids(world, self.topic)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        first = world.first_ids.get(self.topic, FirstId("", len(seen.isr)))
        in_zookeeper, (old, added) = kind_of(seen.topic_id, first), kinds_on_disks(seen, first)
        fits = old <= _kinds(self.first) and added <= _kinds(self.added) and bool(added) is bool(self.added)
        found = f"ZooKeeper has {in_zookeeper}, directories {'/'.join(sorted(old))}, added {'/'.join(sorted(added))}"
        same = in_zookeeper == self.zookeeper and bool(old) and fits
        return Sample(same, _detail(seen), problem="" if same else found)


@dataclass(frozen=True, slots=True)
class OutOfSync:
    """A broker is out of sync for these partitions of a topic, and for no other."""

    name: ClassVar[str] = "out_of_sync"
    topic: str
    node: NodeRef
    which: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.node.description} is out of sync for {self.which} partitions of “{self.topic}”"

    def sample(self, world: World) -> Sample:
        """Read every partition's state in ZooKeeper."""
        node, old = self.node.find(world), world.first_ids[self.topic].partitions
        try:
            seen = look_at_ids(world, self.topic)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        out = {number for number, isr in seen.isr.items() if node not in isr}
        wanted = {number for number in seen.isr if self.which == "all" or (self.which == "old" and number < old)}
        return Sample(out == wanted, _detail(seen), problem="" if out == wanted else f"out of sync for {sorted(out)}")


@dataclass(frozen=True, slots=True)
class AllInSync:
    """Every broker that has a directory of a partition is in sync for it."""

    name: ClassVar[str] = "all_in_sync"
    topic: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"all replicas of “{self.topic}” are in sync"

    def sample(self, world: World) -> Sample:
        """Read every partition's state in ZooKeeper, and who has which directory."""
        try:
            seen = look_at_ids(world, self.topic)
        except Unreachable as error:
            return Sample(False, {"unreachable": str(error)}, testable=False)
        holders = {number: {broker for broker, ids in seen.disks.items() if number in ids} for number in seen.isr}
        out = {number: sorted(having - set(seen.isr[number])) for number, having in holders.items()}
        behind = {number: brokers for number, brokers in out.items() if brokers}
        return Sample(
            bool(holders) and not behind, _detail(seen), problem=f"out of sync are {behind}" if behind else ""
        )


@dataclass(frozen=True, slots=True)
class HasLaterController:
    """A controller of a later epoch than before the last fault; the same broker perhaps."""

    name: ClassVar[str] = "has_later_controller"
    description: str = "a controller of a later epoch is there"

    def sample(self, world: World) -> Sample:
        """Compare with the epoch remembered at the fault."""
        quorum, before = world.quorum(), world.leader_before
        later = quorum.leader >= 0 and quorum.epoch > before.epoch
        return Sample(later, {"controller": quorum.leader, "epoch": quorum.epoch, "before": before.epoch})


@dataclass(frozen=True, slots=True)
class RunsLine:
    """Nodes run a Kafka of this release line."""

    name: ClassVar[str] = "runs_line"
    line: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"nodes run Kafka {self.line}"

    def sample(self, world: World) -> Sample:
        """Look at what is installed."""
        lines = sorted({node.line.name for node in world.cluster.nodes.values()})
        return Sample(lines == [self.line], {"lines": lines})


@dataclass(frozen=True, slots=True)
class Answered:
    """A client, or a command, said this when it was asked last."""

    name: ClassVar[str] = "answered"
    asked: str
    text: str

    @property
    def description(self) -> str:
        """The condition as a clause."""
        return f"{self.asked} said “{self.text}”"

    def sample(self, world: World) -> Sample:
        """Look at what was kept of it."""
        said = world.answers.get(self.asked, "")
        return Sample(self.text in said, {"said": said}, problem="" if self.text in said else f"it said “{said}”")


@condition
def ids_are(topic: str, *, zookeeper: str, first: str, added: str = "") -> IdsAre:
    """ZooKeeper, directories of a topic's first partitions and those of added ones have `old`, `new` or `none` ids.

    `new/none` is either. Of a topic without a remembered id all partitions are the first.
    """
    return IdsAre(topic, zookeeper, first, added)


@condition
def out_of_sync(topic: str, node: NodeRef, which: str) -> OutOfSync:
    """By ZooKeeper a broker is out of sync for `all`, `old` or `no` partitions of a topic, and for no others."""
    if which not in ("all", "old", "no"):
        raise ValueError(f'which="{which}" is unknown; write "all", "old" or "no"')
    return OutOfSync(topic, node, which)


@condition
def all_in_sync(topic: str) -> AllInSync:
    """By ZooKeeper every replica of a topic is in sync."""
    return AllInSync(topic)


@condition
def has_later_controller() -> HasLaterController:
    """A controller of a later epoch than before the last fault is there, the same broker perhaps."""
    return HasLaterController()


@condition
def runs_line(line: str) -> RunsLine:
    """Nodes run a Kafka of a release line; for stretches that only one line shows."""
    return RunsLine(line)


@condition
def answered(asked: str, text: str) -> Answered:
    """What was asked last under this name has an answer with this text."""
    return Answered(asked, text)
