"""Stopping a node while the plan goes on: how long it takes to end is no delay of what comes next."""

from __future__ import annotations

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
        world.comebacks.begin(node.id, node.stop)


@dataclass(frozen=True, slots=True)
class StartStopped:
    """Have a node started that was asked to stop, once it has ended, and go on."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"have {self.node.description} started once it has stopped"

    def perform(self, world: World) -> None:
        """Leave it to the thread that waits for its end, which notes when it had to be killed. Raises ActionFailed."""
        node = self.node.find(world)

        def start(by_itself: bool) -> None:
            if world.is_over():
                return
            if not by_itself:
                world.note(KILLED, node)
            world.cluster.start([node])

        if not world.comebacks.start_after(node, start):
            raise ActionFailed(f"node {node} was not asked to stop: begin_to_stop goes before")


@dataclass(frozen=True, slots=True)
class AwaitStart:
    """Wait until a node has stopped and was started."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"wait until {self.node.description} has stopped and was started"

    def perform(self, world: World) -> None:
        """Wait for the thread that starts it. Raises ActionFailed, also for what went wrong there."""
        node = self.node.find(world)
        try:
            is_awaited = world.comebacks.wait(node)
        except Exception as error:
            raise ActionFailed(f"node {node} was not started: {error}") from error
        if not is_awaited:
            raise ActionFailed(f"node {node} is not to be started: start_stopped goes before")


@fault
def begin_to_stop(node: NodeRef) -> BeginToStop:
    """Ask a node to stop (SIGTERM) while the plan goes on, until `start_stopped`."""
    return BeginToStop(node)


@action
def start_stopped(node: NodeRef) -> StartStopped:
    """Have a node started that was asked to stop by `begin_to_stop`, as soon as it has ended; the plan goes on."""
    return StartStopped(node)


@action
def await_start(node: NodeRef) -> AwaitStart:
    """Wait until a node of which `start_stopped` was said has stopped and was started."""
    return AwaitStart(node)
