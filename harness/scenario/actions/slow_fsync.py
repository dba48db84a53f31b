"""A disk that is slow to flush, as one that others write to: each flush waits, and succeeds."""

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
_FILE = "slow-fsync.txt"


@dataclass(frozen=True, slots=True)
class SlowFsync(Fault):
    """Have every fsync of a node take longer from here on."""

    node: NodeRef
    milliseconds: int

    @property
    def description(self) -> str:
        """The action as a clause."""
        return f"let every fsync of {self.node.description} take {self.milliseconds} ms longer"

    def perform(self, world: World) -> None:
        """Attach strace, and wait for the first call that it delays. Raises ActionFailed."""
        node, strace = world.cluster.nodes[self.node.find(world)], shutil.which("strace")
        if strace is None:
            raise ActionFailed("this host has no strace: have the scenario need failing_calls")
        if not node.pid:
            raise ActionFailed(f"node {node.id} does not run")
        world.write(FaultChanged("slow_fsync", self.description, "begun", node=node.id))
        over = FaultChanged("slow_fsync", self.description, "ended", proof="the process has ended", node=node.id)
        world.monitor(ProcessFaults).lasts(over)
        began, said = time.monotonic(), node.folder / _FILE
        said.unlink(missing_ok=True)  # what was delayed before is no proof
        environment = marked(bare_environment(), node.folder.parent)
        tracer = inject_into(strace, node.pid, said, environment, f"delay_enter={self.milliseconds * 1000}")
        wait_until(lambda: bool(injected(said)) or tracer.poll() is not None, _FLUSHES_WITHIN_SECONDS)
        if not injected(said):
            why = "strace ended" if tracer.poll() is not None else f"none came within {_FLUSHES_WITHIN_SECONDS:g} s"
            raise ActionFailed(f"no fsync of node {node.id} was delayed: {why}")
        took = round(time.monotonic() - began, 3)
        world.write(FaultChanged("slow_fsync", self.description, "proved", took, injected(said), node.id))


@fault
def slow_fsync(node: NodeRef, *, milliseconds: int = 50) -> SlowFsync:
    """Have every fsync of a node take longer from here on. Needs failing_calls."""
    return SlowFsync(node, milliseconds)
