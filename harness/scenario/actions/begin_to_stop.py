"""Stopping a node while the plan goes on: how long it takes to end is no delay of what comes next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from harness.scenario.actions.stop import KILLED
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import running
from harness.scenario.verbs import action, fault
from harness.scenario.world import ActionFailed, World


@dataclass(frozen=True, slots=True)
class BeginToStop(Fault):
    """Ask a node to stop, and go on."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"begin to stop {self.node.description}"

    def perform(self, world: World) -> None:
        """Send SIGTERM; another thread waits for the end, and kills a node that does not end in its time.

        Raises ActionFailed.
        """
        node = running(self.node, world)
        waiting = ThreadPoolExecutor(1, thread_name_prefix=f"node {node.id} stops")
        world.stopping[node.id] = waiting.submit(node.stop)
        waiting.shutdown(wait=False)


@dataclass(frozen=True, slots=True)
class StartStopped:
    """Start a node that was asked to stop, once it has ended."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"start {self.node.description} once it has stopped"

    def perform(self, world: World) -> None:
        """Wait for its end, and start it; note it when it had to be killed. Raises ActionFailed, HarnessError."""
        node = self.node.find(world)
        ending = world.stopping.pop(node, None)
        if ending is None:
            raise ActionFailed(f"node {node} was not asked to stop: begin_to_stop goes before")
        if not ending.result():
            world.note(KILLED, node)
        world.cluster.start([node])


@fault
def begin_to_stop(node: NodeRef) -> BeginToStop:
    """Ask a node to stop (SIGTERM) while the plan goes on, until `start_stopped`."""
    return BeginToStop(node)


@action
def start_stopped(node: NodeRef) -> StartStopped:
    """Start a node that was asked to stop by `begin_to_stop`, as soon as it has ended."""
    return StartStopped(node)
