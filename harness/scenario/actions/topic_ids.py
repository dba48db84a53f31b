"""What an operator does about topic ids by hand: another controller, files deleted; and remembering what was first."""

from __future__ import annotations

from dataclasses import dataclass

from harness.cluster.attempts import attempts
from harness.cluster.protocol import Unreachable
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.topic_ids import EPOCHS, FILE, in_zookeeper, look_at_ids
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, FirstId, World

_PATIENCE_SECONDS = 15.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class RememberId:
    """Remember a topic's id and how many partitions it has: what comes later is compared with that."""

    topic: str

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"remember the id of “{self.topic}”"

    def perform(self, world: World) -> None:
        """Wait until the controller has made the topic whole. Raises ActionFailed."""
        for _ in attempts(world.cluster, _PATIENCE_SECONDS, _POLL_SECONDS):
            try:
                seen = look_at_ids(world, self.topic)
            except Unreachable:
                continue
            if seen.isr and seen.topic_id:
                world.first_ids[self.topic] = FirstId(seen.topic_id, len(seen.isr))
                world.note(f"“{self.topic}” has the id {seen.topic_id} and {len(seen.isr)} partitions")
                return
        raise ActionFailed(f"ZooKeeper had no id of “{self.topic}” for {_PATIENCE_SECONDS:g} s")


@dataclass(frozen=True, slots=True)
class ChangeController(Fault):
    """Delete /controller: whoever is quickest is the next, the present one perhaps."""

    description: str = "delete /controller in ZooKeeper"

    def perform(self, world: World) -> None:
        """Delete it. Raises ActionFailed where there was none."""
        try:
            if not in_zookeeper(world).move_controller():
                raise ActionFailed("there was no controller")
        except Unreachable as error:
            raise ActionFailed(str(error)) from error


@dataclass(frozen=True, slots=True)
class DeleteIdFiles:
    """Delete the file of each of a topic's directories by hand, with the leader epochs if told, running or not."""

    topic: str
    nodes: tuple[NodeRef, ...]
    epochs: bool

    @property
    def description(self) -> str:
        """The action as a clause."""
        files = " and ".join(self._files)
        return f"delete {files} of “{self.topic}” on {', '.join(node.description for node in self.nodes)}"

    @property
    def _files(self) -> tuple[str, ...]:
        return (FILE, EPOCHS) if self.epochs else (FILE,)

    def perform(self, world: World) -> None:
        """Delete them."""
        for node in self.nodes:
            data = world.cluster.nodes[node.find(world)].data_dir
            for folder in data.glob(f"{self.topic}-*"):
                for file in self._files:
                    (folder / file).unlink(missing_ok=True)


@action
def remember_id(topic: str) -> RememberId:
    """Remember a topic's id in ZooKeeper: `ids_are` calls it `old` from here on."""
    return RememberId(topic)


@fault
def change_controller() -> ChangeController:
    """Delete /controller, so that another controller is elected, the same broker perhaps."""
    return ChangeController()


@action
def delete_id_files(topic: str, *nodes: NodeRef, epochs: bool = False) -> DeleteIdFiles:
    """Delete a topic's partition.metadata by hand, if told its leader epochs too, on brokers that run or not."""
    return DeleteIdFiles(topic, nodes, epochs)
