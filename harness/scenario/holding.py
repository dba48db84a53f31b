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
from harness.scenario.world import ActionFailed, World

_WITHIN_SECONDS = 5.0  # a thread in the kernel stands still when it comes out, from a disk perhaps
_POLL_SECONDS = 0.002


def hold_node(node: int, world: World, text: str) -> None:
    """Send SIGSTOP, and see that every thread stands still; `text` says why. Raises ActionFailed."""
    pid, began = _pid_of(node, world), time.monotonic()
    world.write(FaultChanged("hold", text, "begun", node=node))
    world.monitor(HostNotStarved).allow(node)
    world.held.add(node)
    os.kill(pid, signal.SIGSTOP)
    if not wait_until(lambda: stands_still(pid), _WITHIN_SECONDS, _POLL_SECONDS):
        raise ActionFailed(f"node {node} goes on in spite of SIGSTOP")
    took = round(time.monotonic() - began, 6)
    world.write(FaultChanged("hold", text, "proved", took, "every thread is stopped", node))


def release_nodes(nodes: Iterable[int], world: World, text: str) -> None:
    """Send SIGCONT to all at one moment, and see that those go on which were held; others take no notice.

    Raises ActionFailed.
    """
    began, pids = time.monotonic(), {node: _pid_of(node, world) for node in nodes}
    for pid in pids.values():
        os.kill(pid, signal.SIGCONT)
    for node, pid in pids.items():
        world.monitor(HostNotStarved).disallow(node)
        if node in world.held:
            _see_going_on(node, pid)
            world.held.remove(node)
            took = round(time.monotonic() - began, 6)
            world.write(FaultChanged("hold", text, "ended", took, "its threads go on", node))


def no_longer_held(node: int, world: World) -> None:
    """Forget that a node was held that has ended: the process that is started next runs."""
    if node in world.held:
        world.monitor(HostNotStarved).disallow(node)
        world.held.remove(node)


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
