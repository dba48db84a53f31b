"""Holding a node's process where it is, and letting it go on; that it does not run then is not the host's doing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from harness.base.waiting import wait_until
from harness.model.events import FaultChanged
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.monitors.process_faults import ProcessFaults
from harness.scenario.world import ActionFailed, World

_WITHIN_SECONDS = 5.0  # a thread in the kernel stands still when it comes out, from a disk perhaps
_POLL_SECONDS = 0.002
_HOLD = "hold"


def hold_node(node: int, world: World, text: str) -> None:
    """Send SIGSTOP, and see that every thread stands still; `text` says why. Raises ActionFailed.

    It lasts until `release_nodes`, or until the process has ended.
    """
    pid, began = _pid_of(node, world), time.monotonic()
    world.write(FaultChanged(_HOLD, text, "begun", node=node))
    world.monitor(HostNotStarved).allow(node)
    world.monitor(ProcessFaults).lasts(FaultChanged(_HOLD, text, "ended", proof="the process has ended", node=node))
    _signal(node, pid, signal.SIGSTOP)
    if not wait_until(lambda: stands_still(pid), _WITHIN_SECONDS, _POLL_SECONDS):
        raise ActionFailed(f"node {node} goes on in spite of SIGSTOP")
    took = round(time.monotonic() - began, 6)
    world.write(FaultChanged(_HOLD, text, "proved", took, "every thread is stopped", node))


def _signal(node: int, pid: int, what: signal.Signals) -> None:
    try:
        os.kill(pid, what)
    except ProcessLookupError as error:
        raise ActionFailed(f"node {node} has ended") from error


def release_nodes(nodes: Iterable[int], world: World, text: str) -> None:
    """Send SIGCONT to all at one moment, and see that those go on which were held; others take no notice.

    Raises ActionFailed.
    """
    began, pids = time.monotonic(), {node: _pid_of(node, world) for node in nodes}
    for node, pid in pids.items():
        _signal(node, pid, signal.SIGCONT)
    host = world.monitor(HostNotStarved)
    held = host.held
    for node, pid in pids.items():
        host.disallow(node)
        if node in held:
            _see_going_on(node, pid)
            world.monitor(ProcessFaults).lasts_no_more(_HOLD, node)
            took = round(time.monotonic() - began, 6)
            world.write(FaultChanged(_HOLD, text, "ended", took, "its threads go on", node))


def _see_going_on(node: int, pid: int) -> None:
    if not wait_until(lambda: not stands_still(pid), _WITHIN_SECONDS, _POLL_SECONDS):
        raise ActionFailed(f"node {node} stands still in spite of SIGCONT")


def _pid_of(node: int, world: World) -> int:
    pid = world.cluster.nodes[node].pid
    if not pid:
        raise ActionFailed(f"node {node} does not run")
    return pid


def stands_still(pid: int) -> bool:
    """Whether every thread of a process is stopped."""
    try:
        states = [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in _tasks(pid)]
    except OSError:  # a thread ended meanwhile
        return False
    return bool(states) and all(state in ("T", "t") for state in states)


def _tasks(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())
