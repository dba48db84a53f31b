"""Holding one node's process: it neither works nor ends, and its connections stay open, as on a host that hangs."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.model.events import FaultChanged
from harness.scenario.holding import hold_node, release_node
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault, Rejoin
from harness.scenario.verbs import action, fault
from harness.scenario.world import World


@dataclass(frozen=True, slots=True)
class Hold(Fault):
    """Hold a node where it is."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"hold {self.node.description} (SIGSTOP)"

    def perform(self, world: World) -> None:
        """Hold it, and see that it stands still. Raises ActionFailed."""
        node = self.node.find(world)
        world.write(FaultChanged("hold", self.description, "begun", node=node))
        began = time.monotonic()
        hold_node(node, world)
        took = round(time.monotonic() - began, 6)
        world.write(FaultChanged("hold", self.description, "proved", took, "every thread is stopped", node))


@dataclass(frozen=True, slots=True)
class Release(Rejoin):
    """Let a node go on that was held."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"let {self.node.description} go on (SIGCONT)"

    def perform(self, world: World) -> None:
        """Let it go on. Raises ActionFailed."""
        node = self.node.find(world)
        release_node(node, world)
        world.write(FaultChanged("hold", self.description, "ended", node=node))


@fault
def hold(node: NodeRef) -> Hold:
    """Hold a node's process where it is (SIGSTOP), until `release`; its connections stay open."""
    return Hold(node)


@action
def release(node: NodeRef) -> Release:
    """Let a node go on that was held (SIGCONT)."""
    return Release(node)
