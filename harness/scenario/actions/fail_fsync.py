"""A disk that goes bad: fsync fails, and Kafka must not say that it has what it could not flush; or it takes long."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass

from harness.base.processes import bare_environment
from harness.base.processes.leftovers import marked
from harness.base.waiting import wait_until
from harness.model.events import FaultChanged
from harness.scenario.capabilities.failing_calls import inject_into, injected
from harness.scenario.monitors.process_faults import ProcessFaults
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.verbs import fault
from harness.scenario.world import ActionFailed, World

_FLUSHES_WITHIN_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class FailFsync(Fault):
    """Let every fsync of a node fail with EIO from here on."""

    node: NodeRef

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"let every fsync of {self.node.description} fail (EIO)"

    def perform(self, world: World) -> None:
        """Attach strace, and wait for the first call that fails. Raises ActionFailed."""
        _inject(world, self.node, ("fail_fsync", self.description), "error=EIO", "failing-fsync.txt")


@dataclass(frozen=True, slots=True)
class SlowFsync(Fault):
    """Have every fsync of a node take longer from here on; it succeeds."""

    node: NodeRef
    milliseconds: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"let every fsync of {self.node.description} take {self.milliseconds} ms longer"

    def perform(self, world: World) -> None:
        """Attach strace, and wait for the first call that it delays. Raises ActionFailed."""
        delay = f"delay_enter={self.milliseconds * 1000}"
        _inject(world, self.node, ("slow_fsync", self.description), delay, "slow-fsync.txt")


def _inject(world: World, ref: NodeRef, fault: tuple[str, str], what: str, file: str) -> None:
    """Have strace do something to every fsync of a node until its process ends; `fault` is its name and description."""
    node, strace = world.cluster.nodes[ref.find(world)], shutil.which("strace")
    if strace is None:
        raise ActionFailed("this host has no strace: have the scenario need failing_calls")
    if not node.pid:
        raise ActionFailed(f"node {node.id} does not run")
    world.write(FaultChanged(*fault, "begun", node=node.id))
    over = FaultChanged(*fault, "ended", proof="the process has ended", node=node.id)
    world.monitor(ProcessFaults).lasts(over)
    began, said = time.monotonic(), node.folder / file
    said.unlink(missing_ok=True)  # what was done before is no proof
    tracer = inject_into(strace, node.pid, said, marked(bare_environment(), node.folder.parent), what)
    wait_until(lambda: bool(injected(said)) or tracer.poll() is not None, _FLUSHES_WITHIN_SECONDS)
    if not injected(said):
        why = "strace ended" if tracer.poll() is not None else f"none was within {_FLUSHES_WITHIN_SECONDS:g} s"
        raise ActionFailed(f"no fsync of node {node.id} was made to fail, or to wait: {why}")
    took = round(time.monotonic() - began, 3)
    world.write(FaultChanged(*fault, "proved", took, injected(said), node.id))


@fault
def fail_fsync(node: NodeRef) -> FailFsync:
    """Let every fsync of a node fail from here on, of which it may die (`allow_death`). Needs failing_calls."""
    return FailFsync(node)


@fault
def slow_fsync(node: NodeRef, *, milliseconds: int = 50) -> SlowFsync:
    """Have every fsync of a node take longer from here on. Needs failing_calls."""
    return SlowFsync(node, milliseconds)
