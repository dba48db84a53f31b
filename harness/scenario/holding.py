"""Holding a node's process where it is, and letting it go on; that it does not run then is not the host's doing."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from harness.base.waiting import wait_until
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.world import ActionFailed, World

_WITHIN_SECONDS = 5.0  # a thread in the kernel stands still when it comes out, from a disk perhaps
_POLL_SECONDS = 0.002


def hold_node(node: int, world: World) -> None:
    """Send SIGSTOP, and see that every thread stands still. Raises ActionFailed."""
    pid = world.cluster.nodes[node].pid
    if not pid:
        raise ActionFailed(f"node {node} does not run")
    world.monitor(HostNotStarved).allow(node)
    os.kill(pid, signal.SIGSTOP)
    if not wait_until(lambda: stands_still(pid), _WITHIN_SECONDS, _POLL_SECONDS):
        raise ActionFailed(f"node {node} goes on in spite of SIGSTOP")


def release_node(node: int, world: World) -> None:
    """Send SIGCONT: one that was not held takes no notice. Raises ActionFailed."""
    pid = world.cluster.nodes[node].pid
    if not pid:
        raise ActionFailed(f"node {node} does not run")
    os.kill(pid, signal.SIGCONT)
    world.monitor(HostNotStarved).disallow(node)


def stands_still(pid: int) -> bool:
    """Whether every thread of a process is stopped."""
    try:
        states = [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in _tasks(pid)]
    except OSError:  # a thread ended meanwhile
        return False
    return bool(states) and all(state in ("T", "t") for state in states)


def _tasks(pid: int) -> list[Path]:
    return list(Path(f"/proc/{pid}/task").iterdir())
