"""Killing nodes."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness.base.text import listed
from harness.scenario.bounds import seconds
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import killable
from harness.scenario.verbs import fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Kill(Fault):
    """End nodes at one moment; `after_seconds` puts it into the middle of what they are doing, such as their start."""

    nodes: tuple[NodeRef, ...]
    after_seconds: float = 0.0

    @property
    def description(self) -> str:
        """The action as a clause."""
        later = f" {self.after_seconds:g} s later" if self.after_seconds else ""
        at_once = " at one moment" if len(self.nodes) > 1 else ""
        return f"kill -9 {listed([node.description for node in self.nodes])}{at_once}{later}"

    def perform(self, world: World) -> None:
        """Send SIGKILL. Raises ActionFailed where there is nothing to kill."""
        time.sleep(self.after_seconds)
        found = [killable(node, world) for node in self.nodes]
        with ThreadPoolExecutor(len(found)) as at_once:
            list(at_once.map(lambda node: node.kill(), found))


@fault
def kill(node: NodeRef, *others: NodeRef, after: str = "0s") -> Kill:
    """End a node at once (kill -9), or several at one moment, or so long after the step before."""
    return Kill((node, *others), seconds(after))
