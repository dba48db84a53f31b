"""No node may crash; but where the host ended it (no disk, no memory), that says nothing of the build."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from harness.base.room import LEAST_DISK_BYTES, free_bytes
from harness.base.tails import tail
from harness.cluster.cluster import Cluster
from harness.cluster.conformance.reading import LogReader
from harness.cluster.conformance.voter_rules import has_lost_voters
from harness.cluster.host_accounts import out_of_memory_kills, resident_bytes, threads_of
from harness.cluster.node import Node, NodeState
from harness.cluster.watch import Look
from harness.model.events import Noted
from harness.model.incidents import Incident, IncidentKind
from harness.model.outcome_names import HOST_NOT_STARVED, KNOWN_CRASH, NODE_ALIVE
from harness.rundir.parts import NODE_LOG, NODE_OUTPUT
from harness.scenario.full_disk import nodes_took_the_room
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.verbs import monitor

_SAYS_WHY = re.compile(rb"\b(ERROR|FATAL)\b|(Exception|Error)\b")
# org.apache.kafka.server.fault.FaultHandler's words for an error that ends the process.
_FATAL_FAULT = re.compile(rb"\bEncountered fatal fault\b")
_TIMED_OUT = re.compile(rb"TimeoutException\b")
_TAIL_LINES = 400
_EXCERPT_BYTES = 300
# What the kernel refuses a process for want of room: ENOSPC, EDQUOT, and memory for the JVM's own needs.
_DISK_FULL = re.compile(rb"No space left on device|Disk quota exceeded")
_NO_MEMORY = re.compile(rb"insufficient memory for the Java Runtime Environment|errno=12\)")
# HotSpot's words, of an OutOfMemoryError and of its own warning, where a limit of the host leaves a process no thread.
_NO_THREAD = re.compile(rb"unable to create native thread|pthread_create failed \(EAGAIN\)")
_MANY_THREADS = 400  # of a node, which needs some 100
_GROWN_TIMES = 4


@monitor
class NodeAlive(Monitor):
    """A death is the build's doing, but for the one signal that only somebody else can have sent.

    By a fault that is no time-out it is so on any host; else a slow one may have caused it.
    """

    name: ClassVar[str] = NODE_ALIVE

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._allowed: set[int] = set()
        self._filled: set[int] = set()
        self._sizes = NodeSizes()
        self._kills = out_of_memory_kills()
        self._over = False

    def allow(self, node: int) -> None:
        """Let a node die once from here on: what is started after that is another process."""
        self._allowed.add(node)

    def fill_disk_of(self, node: int) -> None:
        """A fault fills the disk of a node: that it has no room there is not the host's doing."""
        self._filled.add(node)

    def on_node(self, node: Node, line: int) -> None:
        """Report a death with the node's last line about why."""
        if node.state is NodeState.READY:
            self._sizes.note_first(node)
        if node.state is not NodeState.DIED or self._over:
            return
        last, shown = last_line(node.folder)
        self.record.show(*(self.record.folder.evidence(path, at) for path, at in shown))
        if host := self._ended_by_the_host(node):
            self._report(IncidentKind.HOST_GAVE_OUT, HOST_NOT_STARVED, f"{host}{last}", line)
        elif self._was_killed_for_memory(node):
            story = f"node {node.id} was killed by the kernel for the memory that it took"
            self._report(IncidentKind.NODE_DIED, self.name, story, line)
        elif node.exit_code == -signal.SIGKILL:
            story = f"node {node.id} was killed from outside (signal 9; out of memory?)"
            self._report(IncidentKind.HARNESS_FAILED, "", story, line)
        elif node.id in self._allowed:
            self._allowed.discard(node.id)
            self.record.write(Noted(f"it died, as it may{last}", node.id))
        elif why := _excuse_when_stopped(node):
            self.record.write(Noted(f"it ended with an error when it was stopped, {why}{last}", node.id))
        elif told := _told(node, node.line.known_crashes) or _told_of_lost_voters(node):
            story = f"node {node.id} crashed as released jars do now and then ({told}){last}"
            self._report(IncidentKind.KNOWN_CRASH, KNOWN_CRASH, story, line)
        else:
            kind = IncidentKind.NODE_FAULTED if _ended_by_a_fault(node.folder) else IncidentKind.NODE_DIED
            self._report(kind, self.name, f"node {node.id} crashed{last}", line)

    def _report(self, kind: IncidentKind, name: str, reason: str, line: int) -> None:
        self.record.report(Incident(kind, name, reason), line)

    def on_look(self, look: Look, line: int) -> None:  # noqa: ARG002
        """Note how large nodes are: one that the kernel ends has no size any more."""
        for node in self.cluster.running:
            self._sizes.note_newest(node)

    def stop(self) -> None:
        """The plan is over: how nodes end from here on is compared across arms."""
        self._over = True

    def _ended_by_the_host(self, node: Node) -> str:
        """Return what the host lacked when a node died, and empty where the build took it up itself."""
        if self._had_no_room(node):
            return f"disk: there was no room left for node {node.id}, which ended"
        if self._sizes.has_grown(node):
            return ""
        if self._was_killed_for_memory(node):
            return f"memory: the kernel's out-of-memory killer ended node {node.id}"
        if _ends_with(node.folder, _NO_MEMORY):
            return f"memory: the host gave the JVM of node {node.id} none"
        if self._sizes.has_few_threads(node) and _ends_with(node.folder, _NO_THREAD):
            return f"threads: a limit of the host left node {node.id} none"
        return ""

    def _had_no_room(self, node: Node) -> bool:
        """Whether the host had no room for it, and neither a fault nor the nodes themselves took that.

        On a full disk a node cannot log that either.
        """
        if node.id in self._filled:
            return False
        full = free_bytes(node.folder) < LEAST_DISK_BYTES or _ends_with(node.folder, _DISK_FULL)
        return full and not nodes_took_the_room(self.record.folder.nodes)

    def _was_killed_for_memory(self, node: Node) -> bool:
        return node.exit_code == -signal.SIGKILL and out_of_memory_kills() > self._kills


class NodeSizes:
    """How much memory each process held when it became ready, and holds now; and how many threads."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._newest: dict[int, int] = {}
        self._threads: dict[int, int] = {}

    def note_first(self, node: Node) -> None:
        """Take what a node needs."""
        self._first[node.id] = resident_bytes(node.pid)

    def note_newest(self, node: Node) -> None:
        """Take what it has."""
        self._newest[node.id] = resident_bytes(node.pid) or self._newest.get(node.id, 0)
        self._threads[node.id] = threads_of(node.pid) or self._threads.get(node.id, 0)

    def has_grown(self, node: Node) -> bool:
        """Whether it took several times what it needed, as one that leaks."""
        first = self._first.get(node.id, 0)
        return first > 0 and self._newest.get(node.id, 0) > _GROWN_TIMES * first

    def has_few_threads(self, node: Node) -> bool:
        """Whether it was seen, and had no more threads than one that leaks none may have."""
        return 0 < self._threads.get(node.id, 0) < _MANY_THREADS


def _ends_with(folder: Path, words: re.Pattern[bytes]) -> bool:
    logs = (path for path in (folder / NODE_LOG, folder / NODE_OUTPUT) if path.exists())
    return any(words.search(line) for path in logs for line in tail(path)[1][-_TAIL_LINES:])


def _excuse_when_stopped(node: Node) -> str:
    """Return why the error says nothing with which a node ended that was asked to stop, empty where it does.

    In a node that is stopped while it starts, halves wait for what others close: released jars end so in many ways.
    """
    if not node.was_asked_to_stop:
        return ""
    if node.was_stopped_while_starting:
        return "before it was up"
    told = _told(node, node.line.known_stop_errors)
    return f"as nodes of released jars do now and then ({told})" if told else ""


def _told(node: Node, known: Mapping[str, str]) -> str:
    """Return where the defect by which a node ended is described, empty if it is none of these `known` ones."""
    found = (told for text, told in known.items() if _ends_with(node.folder, re.compile(re.escape(text.encode()))))
    return next(found, "")


def _told_of_lost_voters(node: Node) -> str:
    """Return where it is described how a node ends that cut off its voters, empty where this one ended otherwise."""
    told = _told(node, node.line.crashes_without_voters)
    return told if told and has_lost_voters(LogReader(node.id, node.log_file).read_on()) else ""


def _ended_by_a_fault(folder: Path) -> bool:
    """Whether a node says that an error ended it that is not a time-out: waiting for a processor makes none other."""
    lines = tail(folder / NODE_LOG)[1][-_TAIL_LINES:] if (folder / NODE_LOG).exists() else []
    fault = next((at for at, line in enumerate(lines) if _FATAL_FAULT.search(line)), None)
    return fault is not None and not any(map(_TIMED_OUT.search, lines[fault:]))


def last_line(folder: Path) -> tuple[str, list[tuple[Path, int]]]:
    """Return a dead node's last line about why, as `: …`, and (file, line number) of each log's end."""
    last, shown = "", []
    for path in (folder / NODE_LOG, folder / NODE_OUTPUT):
        if not path.exists():
            continue
        count, lines = tail(path)
        shown.append((path, max(1, count)))
        says_why = [line for line in lines[-_TAIL_LINES:] if _SAYS_WHY.search(line)]
        if says_why and not last:
            last = ": " + says_why[-1][:_EXCERPT_BYTES].decode("utf-8", "replace").strip()
    return last, shown
