"""Holding one node's process: it neither works nor ends, and its connections stay open, as on a host that hangs."""

from __future__ import annotations

from dataclasses import dataclass

from harness.scenario.holding import hold_node, release_nodes
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
        hold_node(self.node.find(world), world, self.description)


@dataclass(frozen=True, slots=True)
class Release(Rejoin):
    """Let a node go on that was held."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"let {self.node.description} go on (SIGCONT)"

    def perform(self, world: World) -> None:
        """Let it go on, and see that it does. Raises ActionFailed."""
        release_nodes([self.node.find(world)], world, self.description)


@fault
def hold(node: NodeRef) -> Hold:
    """Hold a node's process where it is (SIGSTOP), until `release`; its connections stay open."""
    return Hold(node)


@action
def release(node: NodeRef) -> Release:
    """Let a node go on that was held (SIGCONT)."""
    return Release(node)
