"""Collects what happens in a run, from several threads: the journal, the incidents, and the lines that show them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base.tails import beginnings
from harness.cluster.node import Node
from harness.cluster.watch import Look
from harness.engine.outcome import Facts
from harness.engine.planned_run import PlannedRun
from harness.model.clients import ClientReport
from harness.model.events import (
    ClientSeconds,
    ClientSettled,
    Event,
    FaultChanged,
    HostShort,
    NodeChanged,
    QuorumSeen,
    Sampled,
    StepChanged,
)
from harness.model.incidents import Incident, IncidentKind
from harness.model.runs import Evidence
from harness.rundir.journal import Journal
from harness.rundir.parts import RunFolder
from harness.scenario.full_disk import full_disk

_WARNING = re.compile(rb"\b(WARN|ERROR|FATAL)\b")
_EXCERPT_BYTES = 400
_QUORUM_AT_LEAST_EVERY_SECONDS = 1.0
_DEATHS = (
    IncidentKind.NODE_DIED,
    IncidentKind.NODE_FAULTED,
    IncidentKind.KNOWN_CRASH,
    IncidentKind.HOST_GAVE_OUT,
)
_BY_THE_ARM = (IncidentKind.NODE_DIED, IncidentKind.NODE_FAULTED, IncidentKind.EXPECTATION_UNMET)


class Recorder:
    """Records everything in a run; the first incident of a kind is kept, those of the aftermath all are."""

    def __init__(
        self,
        cell: PlannedRun,
        journal: Journal,
        folder: RunFolder,
        tell: Callable[[Incident], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self.evidence: list[Evidence] = []
        self.clients: list[ClientReport] = []
        self.answered: list[ClientSeconds] = []
        self.unasked: tuple[str, ...] = ()
        self._cell = cell
        self._tell = tell
        self._journal = journal
        self._incidents: dict[IncidentKind, Incident] = {}
        self._aftermath: list[Incident] | None = None
        self._deaths = 0
        self._lasting: list[FaultChanged] = []
        self._last: tuple[tuple[int, int, bool], float] = ((-2, -2, False), 0.0)
        self._lock = threading.Lock()

    # What monitors see (harness.scenario.monitors.base.RunRecord).

    @property
    def flag_key(self) -> str:
        """The feature flag whose value live nodes must report."""
        return self._cell.flag_key

    @property
    def java(self) -> str:
        """The nodes' Java, as run.json declares it."""
        return self._cell.java

    def write(self, event: Event) -> int:
        """Append an event to the journal; return its line."""
        if isinstance(event, FaultChanged):
            self._follow(event)
        elif isinstance(event, ClientSeconds):
            self.answered.append(event)
        line = self._journal.write(event)
        if self._journal.disk_is_full:
            self.host_disk_full()
        return line

    def _follow(self, change: FaultChanged) -> None:
        with self._lock:
            if change.status == "begun":
                self._lasting.append(change)
            self._lasting = [left for each in self._lasting if (left := each.after(change))]

    def end_faults(self) -> None:
        """Journal the end of every fault that lasts: with the run it is over, wherever in its plan that ended."""
        while self._lasting:
            self.write(replace(self._lasting[0], status="ended", proof="the run has ended"))

    def report(self, incident: Incident, line: int = 0) -> None:
        """Keep an incident, with its line of the journal as evidence."""
        with self._lock:
            self._deaths += incident.kind in _DEATHS
            if self._aftermath is not None and incident.kind in (*_BY_THE_ARM, IncidentKind.GUARD_UNMET):
                self._aftermath.append(incident)
            elif incident.kind in self._incidents:
                return
            else:
                self._incidents[incident.kind] = incident
        self._tell(incident)
        if incident.kind is IncidentKind.HARNESS_FAILED and not line:
            line = self.write(StepChanged("error", incident.reason, "failed"))
        self.show(self.folder.evidence(self.folder.journal, line))

    def show(self, *evidence: Evidence) -> None:
        """Add places that a reader should look at."""
        with self._lock:
            self.evidence += evidence

    # What the engine asks and writes.

    @property
    def deaths(self) -> int:
        """How many nodes crashed that were not allowed to, or were ended by the host: the plan cannot go on."""
        return self._deaths

    @property
    def ended_by_the_arm(self) -> bool:
        """Whether an unmet expectation or a death ended the plan: then its aftermath is carried out."""
        return any(kind in self._incidents for kind in _BY_THE_ARM)

    @property
    def has_incidents(self) -> bool:
        """Whether anything was met that ends a plan, or decides a run."""
        return bool(self._incidents)

    def begin_aftermath(self) -> None:
        """What the arm does from here on is recorded beside what ended the plan."""
        self._aftermath = []

    def facts(self) -> Facts:
        """Return what was found out, for the pure function that decides."""
        with self._lock:
            incidents, aftermath = tuple(self._incidents.values()), tuple(self._aftermath or ())
        return Facts(incidents, tuple(self.clients), aftermath, self._cell.scenario.stalls_spoil, self.unasked)

    def on_node(self, node: Node) -> int:
        """Journal a change of a node's state."""
        broker, controller = node.config.broker, node.config.controller
        return self.write(
            NodeChanged(
                node.id,
                str(node.state),
                str(broker or ""),
                str(controller or ""),
                node.pid,
                node.exit_code,
            )
        )

    def on_look(self, look: Look) -> int:
        """Journal the quorum when it changed, when its high watermark is first known, or once a second.

        Return the line, 0 for none.
        """
        quorum = look.quorum
        shown, (last_shown, at) = (quorum.leader, quorum.epoch, quorum.high_watermark > 0), self._last
        if shown == last_shown and look.at - at < _QUORUM_AT_LEAST_EVERY_SECONDS:
            return 0
        self._last = (shown, look.at)
        return self.write(
            QuorumSeen(quorum.leader, quorum.epoch, quorum.high_watermark, dict(quorum.voters), dict(quorum.observers))
        )

    def on_sample(self, description: str, ok: bool, detail: Mapping[str, Any]) -> None:
        """Journal one look at a condition."""
        self.write(Sampled(description, ok, dict(detail)))

    def on_client(self, report: ClientReport) -> None:
        """Journal a client's report; records that are lost or were not checked are evidence."""
        line = self.write(ClientSettled(report))
        self.clients.append(report)
        if report.lost or report.unread or report.violations or not report.acknowledged:
            self.show(self.folder.evidence(self.folder.journal, line))

    def harness_failed(self, story: str) -> None:
        """The harness or the host itself failed."""
        self.report(Incident(IncidentKind.HARNESS_FAILED, "", story))

    def host_disk_full(self) -> None:
        """The disk that all is written to has no room left: the plan cannot go on."""
        if self._deaths:  # it does not go on anyway; all that is written asks
            return
        incident = full_disk(self.folder.nodes, f"disk: no room is left on that of {self.folder.path}")
        self.report(incident, self._journal.write(HostShort(incident.reason)))

    def expectation_unmet(self, incident: Incident, line: int, node: int | None) -> None:
        """An expectation was not met; the log of the node that it is about says most about why."""
        self.report(incident, line)
        if node is not None:
            log = self.folder.node_log(node)
            self.show(*(self.folder.evidence(log, at, words) for at, words in last_warning(log)))


def last_warning(log: Path) -> list[tuple[int, str]]:
    """Return (line number, text) of a log's last WARN or ERROR line, if there is one."""
    if not log.is_file():
        return []
    last: list[tuple[int, str]] = []
    for at, line in beginnings(log):
        if _WARNING.search(line[:100]):
            last = [(at, line[:_EXCERPT_BYTES].decode("utf-8", "replace"))]
    return last
