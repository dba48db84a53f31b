"""Stopping a node gracefully."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import running
from harness.scenario.verbs import fault
from harness.scenario.world import World

KILLED = "did not stop on SIGTERM and was killed"


@dataclass(frozen=True, slots=True)
class Stop(Fault):
    """Stop a node gracefully."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"stop {self.node.description}"

    def perform(self, world: World) -> None:
        """Send SIGTERM and wait for the end; note it when the node had to be killed. Raises ActionFailed."""
        node = running(self.node, world)
        if not node.stop():
            world.note(KILLED, node.id)


@fault
def stop(node: NodeRef) -> Stop:
    """Stop a node gracefully (SIGTERM); one that does not end in its time is killed, and that is noted."""
    return Stop(node)
