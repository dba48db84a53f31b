"""Killing a node."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.scenario.bounds import seconds
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import killable
from harness.scenario.verbs import fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Kill(Fault):
    """End a node at once; `after_seconds` puts it into the middle of what the node is doing, such as its start."""

    node: NodeRef
    after_seconds: float = 0.0

    @property
    def description(self) -> str:
        """The action as a clause."""
        later = f" {self.after_seconds:g} s later" if self.after_seconds else ""
        return f"kill -9 {self.node.description}{later}"

    def perform(self, world: World) -> None:
        """Send SIGKILL. Raises ActionFailed where there is nothing to kill."""
        time.sleep(self.after_seconds)
        killable(self.node, world).kill()


@fault
def kill(node: NodeRef, *, after: str = "0s") -> Kill:
    """End a node at once (kill -9), or so long after the step before."""
    return Kill(node, seconds(after))
