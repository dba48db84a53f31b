"""ERROR and FATAL lines that nodes write, and which of them count against the candidate.

Three kinds do not. What a node that was started on base writes is base's, to its last line: as it stops, another build
is about to take its place. Only a fault that it meets beside the candidate may be of what that wrote, and counts unless
the control met it, too. An ERROR with one of Kafka's API exceptions below it says that a client's request was refused
(an out-of-order sequence number after a leader moved, say): that comes and goes from roll to roll, and what the clients
lost by it their own reports say exactly. The same holds of an ERROR that only says how long something took, as Kafka
4's EventPerformanceMonitor writes of controller events over 2 s: that depends on the host, and how long clients waited
is measured.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from harness.base.tails import ended_lines
from harness.cluster.cluster import Cluster
from harness.cluster.node import Node, NodeState
from harness.model.events import ErrorLogged
from harness.scenario.monitors.base import MakeMonitor, Monitor, RunRecord
from harness.scenario.verbs import optional_monitor

_ERROR = re.compile(rb"^\[[^\]]{10,40}\] (?:ERROR|FATAL) ")
# Extended regular expressions, as awk takes them too: a runbook's script weighs such lines in the same way.
REFUSAL = r"^(java\.util\.concurrent\.[A-Za-z]+: )?org\.apache\.kafka\.common\.errors\.[A-Za-z]+"
# Of these no client tells: a record or a disk is bad, or the broker does not know what went wrong.
GRAVE = r"\.(CorruptRecord|KafkaStorage|InconsistentClusterId|UnknownServer|Serialization)Exception"
# A fault handler's, or a loss: whatever stands below it, or however long it took.
FAULT = r"Encountered [a-z ]*fault|[Cc]orrupt"
DURATION = r"(^|[^A-Za-z0-9_])took [0-9]+(\.[0-9]+)? ?(ms|s|milliseconds|seconds)([^A-Za-z0-9_]|$)"
OF_A_TRACE = "^([ \t]+at |([A-Za-z0-9_$]+[.])+[A-Za-z0-9_$]+(Exception|Error|Throwable)([^A-Za-z0-9_]|$)|Caused by: )"
_REFUSAL, _GRAVE, _FAULT, _DURATION, _OF_A_TRACE = (
    re.compile(each.encode()) for each in (REFUSAL, GRAVE, FAULT, DURATION, OF_A_TRACE)
)
_MOST_BYTES = 400
_MOST_JOURNALED = 1000


@dataclass(frozen=True, slots=True)
class _Line:
    """One line, and what the one below it says: whether a request was refused, or nothing is wrong but a duration."""

    node: int
    number: int
    text: str
    refused: bool
    timed: bool


class ErrorLines(Monitor):
    """Reads on in every node's log; a line counts once the one after it is there, or at the second look.

    It is charged to the build that the node was started on, which need not be the one that is installed by now.
    """

    name: ClassVar[str] = "error_lines"

    def __init__(self, record: RunRecord, cluster: Cluster, base: str, known: Collection[str]) -> None:
        super().__init__(record, cluster)
        self._base = base
        self._known = set(known)
        self._read: dict[int, tuple[int, int]] = {}
        self._waited: dict[int, int] = {}
        self._started_on: dict[int, str] = {}
        self._is_mixed = False  # since the candidate was first started
        self._unjudged: list[ErrorLogged] = []
        self._journaled = 0
        self._lock = threading.RLock()

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """When a node starts, charge what it wrote before to the build that it was started on until now."""
        if node.state is NodeState.STARTING:
            with self._lock:
                is_first = node.install.name != self._base and not self._is_mixed
                self._read_to_the_end(self.cluster.nodes if is_first else [node.id])
                self._started_on[node.id] = node.install.name
                self._is_mixed |= is_first

    def after(self) -> None:
        """Read to the end of every log."""
        with self._lock:
            self._read_to_the_end(self.cluster.nodes)

    def forget(self) -> None:
        """Let no line count that has been written so far."""
        with self._lock:
            self._read_to_the_end(self.cluster.nodes)
            self._unjudged.clear()

    def news(self) -> list[ErrorLogged]:
        """Return the lines since the last call that count against the candidate."""
        with self._lock:
            self._look(self.cluster.nodes)
            found, self._unjudged = self._unjudged, []
            return [event for event in found if self._counts(event)]

    def _counts(self, event: ErrorLogged) -> bool:
        return event.template not in self._known and not (event.refused or event.timed)

    def _may_be_the_candidates(self, event: ErrorLogged) -> bool:
        """Whether a node of base may say it of what the candidate wrote: records or snapshots that it cannot apply."""
        return self._is_mixed and _FAULT.search(event.text.encode()) is not None

    def _read_to_the_end(self, nodes: Collection[int]) -> None:
        for _ in range(2):  # a last line, with none below it, counts at the second look
            self._look(nodes)

    def _look(self, nodes: Collection[int]) -> None:
        found = [self._event(line) for node in nodes for line in self._read_on(node)]
        for event in found[: max(_MOST_JOURNALED - self._journaled, 0)]:
            self.record.write(event)
        self._journaled += len(found)
        self._known |= {event.template for event in found if event.on_base and not self._may_be_the_candidates(event)}
        self._unjudged += found

    def _event(self, line: _Line) -> ErrorLogged:
        on_base = self._started_on.get(line.node) == self._base
        from harness.logs.read.masks import template_of  # whose library has threads: a process with them cannot fork

        template = template_of(line.text.partition("] ")[2])
        return ErrorLogged(line.node, line.number, line.text, template, on_base, line.refused, line.timed)

    def _read_on(self, node: int) -> list[_Line]:
        log = self.cluster.nodes[node].log_file
        if not log.is_file():
            return []
        offset, number = self._read.get(node, (0, 0))
        found: list[_Line] = []
        pending, begins = b"", offset
        for end, raw in ended_lines(log, offset):
            if pending:
                found.append(_line(node, number, pending, raw))
            pending, begins = raw if _ERROR.match(raw) else b"", offset
            offset, number = end, number + 1
        if pending and self._waited.get(node) != offset:  # what stands below it may still be on its way
            self._waited[node] = offset
            offset, number = begins, number - 1
        elif pending:
            found.append(_line(node, number, pending, b""))
        self._read[node] = (offset, number)
        return found


@optional_monitor
def error_lines(*, base: str, known: Collection[str] = ()) -> MakeMonitor:
    """Follow ERROR lines; `base` names the control's build, `known` are templates that count against nobody."""
    return lambda record, cluster: ErrorLines(record, cluster, base, known)


def _line(node: int, number: int, raw: bytes, below: bytes) -> _Line:
    text = raw[:_MOST_BYTES].decode("utf-8", "replace").rstrip("\r\n")
    is_fault = bool(_FAULT.search(raw))
    timed = bool(_DURATION.search(raw)) and not _OF_A_TRACE.match(below) and not is_fault
    refused = bool(_REFUSAL.match(below)) and not _GRAVE.search(below) and not is_fault
    return _Line(node, number, text, refused, timed)
