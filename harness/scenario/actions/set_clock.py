"""Setting the clock of one node: its wall clock alone, as a wrong NTP server does; time-outs run by another clock."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from harness.base.tails import beginnings
from harness.base.waiting import wait_until
from harness.cluster.node import Node
from harness.model.events import FaultChanged
from harness.scenario.bounds import seconds
from harness.scenario.capabilities.fake_clock import library
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.scenario.up_or_down import running
from harness.scenario.verbs import fault
from harness.scenario.world import ActionFailed, World

_LOGS_WITHIN_SECONDS = 30.0
_OFF_SECONDS = 5.0
_LEAST_SECONDS = 30.0  # the newest line of a log may be some seconds old, and is no proof of less
_STAMP = re.compile(rb"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3}\]")  # harness.cluster.config.LOG_PATTERN, in UTC
_SHIFT = re.compile(r"([+-])(\d.*)")


@dataclass(frozen=True, slots=True)
class SetClock(Fault):
    """Restart a node with a wall clock that is so many seconds ahead, or behind; 0 for the right time."""

    node: NodeRef
    shift: float

    @property
    def description(self) -> str:
        """The action as a clause."""
        wrong = f"{abs(self.shift):g} s {'ahead' if self.shift > 0 else 'behind'}" if self.shift else "right again"
        return f"restart {self.node.description} with its clock {wrong}"

    def perform(self, world: World) -> None:
        """Restart it, and see by its log what time it is there. Raises ActionFailed."""
        node = running(self.node, world)
        node.environment = self._environment()
        began, old_lines = time.monotonic(), node.log_file.stat().st_size if node.log_file.exists() else 0
        world.write(FaultChanged("set_clock", self.description, "begun", node=node.id))
        world.cluster.restart(node.id, new_addresses=False)
        if not wait_until(lambda: self._is_so(node, old_lines), _LOGS_WITHIN_SECONDS):
            raise ActionFailed(f"the log of node {node.id} does not show that its clock is {self.shift:+g} s off")
        took, off = round(time.monotonic() - began, 3), clock_shift(node, old_lines)
        status = "proved" if self.shift else "ended"
        world.write(FaultChanged("set_clock", self.description, status, took, f"its log is {off:+.0f} s off", node.id))

    def _environment(self) -> dict[str, str]:
        if not self.shift:
            return {}
        found = library()
        if found is None:
            raise ActionFailed("this host has no libfaketime: have the scenario need fake_clock")
        return {
            "LD_PRELOAD": str(found),
            "FAKETIME": f"{self.shift:+g}s",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",  # its name up to 0.9.9
            # Else waits for a time by the clock that is not set end at once, and a JVM does nothing but wait again.
            "FAKETIME_FORCE_MONOTONIC_FIX": "0",
            "NO_FAKE_STAT": "1",  # by other times of its jars the class archive would be refused, and the start be slow
        }

    def _is_so(self, node: Node, old_lines: int) -> bool:
        off = clock_shift(node, old_lines)
        return off is not None and abs(off - self.shift) < _OFF_SECONDS


def clock_shift(node: Node, old_lines: int) -> float | None:
    """Return how many seconds the newest line of a node's log is ahead of this host's clock; None without one.

    The first so many bytes of the log are of before.
    """
    lines = [line for _, line in beginnings(node.log_file, old_lines)] if node.log_file.exists() else []
    stamps = [found[1].decode() for line in lines if (found := _STAMP.match(line))]
    if not stamps:
        return None
    return datetime.strptime(stamps[-1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp() - time.time()


@fault
def set_clock(node: NodeRef, by: str) -> SetClock:
    """Restart a node with its clock `+1m` ahead or `-1m` behind, 30 s or more; `+0s` is right. Needs fake_clock."""
    found = _SHIFT.fullmatch(by)
    if found is None:
        raise ValueError(f"{by!r} is no shift of a clock; write +30s or -5m")
    shift = seconds(found[2]) * (-1 if found[1] == "-" else 1)
    if 0 < abs(shift) < _LEAST_SECONDS:
        raise ValueError(
            f"a clock that is {by!r} off cannot be told from a slow log: write {_LEAST_SECONDS:g} s or more"
        )
    return SetClock(node, shift)
