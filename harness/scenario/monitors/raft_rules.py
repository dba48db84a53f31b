"""Raft's rules, held against what every node logs of itself: docs/conformance.md."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from harness.cluster.address import Address
from harness.cluster.cluster import Cluster
from harness.cluster.conformance.endpoints import PERIODS_IN_FETCH_TIMEOUTS, Unregistered, follow, wrong
from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.leader_rules import silent_seconds
from harness.cluster.conformance.observations import DiskReplaced, Looked, Place, Said, Transitioned
from harness.cluster.conformance.reading import LogReader, files_of, metered_of
from harness.cluster.conformance.rules import violations
from harness.cluster.conformance.successors import OrderlyStop, waits_for_successors
from harness.cluster.metadata_log.folder import LogFolder
from harness.cluster.node import Node, NodeState
from harness.cluster.watch import Look
from harness.kafka.release_lines import Mode
from harness.model.events import ENDED, Noted, RoleChanged
from harness.model.incidents import Incident, IncidentKind
from harness.model.runs import Evidence
from harness.rundir.parts import SHUTDOWN_LOG
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.slowness import Slowness
from harness.scenario.verbs import monitor

_READ_EVERY_SECONDS = 1.0
_MOST_ROLES = 2000
# A leader whose voters have fetched within this is no case for check-quorum, however slow the host is.
_SILENT_SECONDS = 2.0
_WINDOW_SECONDS = 10.0
# What is told of a voter that is not known where it listens: three fetch time-outs, and one in which it is asked.
_REGISTERED_SECONDS = (PERIODS_IN_FETCH_TIMEOUTS + 1) * 2.0


@monitor
class RaftRules(Monitor):
    """Reads on in every node's log once a second, and judges after each fault and when every node has ended."""

    name: ClassVar[str] = "raft_rules"
    modes: ClassVar[tuple[Mode, ...]] = (Mode.KRAFT,)

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._readers: dict[int, LogReader] = {}
        self._said: dict[int, list[Said]] = {}
        self._lives: dict[int, str] = {}
        self._ended: dict[int, float] = {}
        self._stopping: dict[int, float] = {}
        self._stops: list[OrderlyStop] = []
        self._successor: float | None = None
        self._looks: list[Looked] = []
        self._newest: dict[int, Looked] = {}
        self._read_at = 0.0
        self._over = math.inf
        self._steps = 0
        self._broken: set[str] = set()
        self._unregistered = Unregistered()
        self._told: set[int] = set()
        self._host: HostNotStarved | None = None
        self._lock = threading.RLock()

    def meet(self, others: Sequence[Monitor]) -> None:
        """Find who knows how slow the host is."""
        self._host = next((each for each in others if isinstance(each, HostNotStarved)), None)

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Read what a node wrote up to its start, and note whether somebody has emptied its disk since."""
        life = LogFolder(node.id, node.metadata_log).life
        with self._lock:
            if node.state is NodeState.STARTING:
                self._read_on(node)
                if self._lives.get(node.id, life) != life:
                    self._said[node.id].append(DiskReplaced(Place(node.id, self._readers[node.id].lines)))
            elif life:
                self._lives[node.id] = life
            if node.state in ENDED:
                self._ended[node.id] = time.time()
            self._follow_stop(node)

    def on_look(self, look: Look, line: int) -> None:
        """Keep what leaders say of their voters, and read on in the logs, once a second."""
        at = time.time() - (time.monotonic() - look.at)
        with self._lock:
            for epoch, leader in look.quorum.leaders:
                if fetched := look.quorum.fetched.get(leader):
                    elsewhere = self._sure_to_announce(look) if leader == look.quorum.leader else frozenset()
                    self._take(Looked(at, leader, epoch, fetched, line=line, elsewhere=elsewhere), look.at)
            self._follow_endpoints(look)
            if look.at - self._read_at >= _READ_EVERY_SECONDS:
                self._read_at = look.at
                self._read_all()

    def after_fault(self) -> None:
        """Judge what was said so far."""
        with self._lock:
            self._stopping.clear()  # what the next fault does to the others is not to count for their elections
            self._read_all()
            history = History(self._said_by_now, tuple(self._looks))
        self._report(violations(history))

    def stop(self) -> None:
        """Note when nodes are asked to stop: what they log from then on is kept apart."""
        self._over = time.time()

    def after(self) -> None:
        """Read every log to its end, look at the files, and judge all of it."""
        with self._lock:
            self._read_all()
            nodes = [node for node in self.cluster.nodes.values() if node.was_started]
            now = time.time()
            files = [files_of(node.id, node.metadata_log, self._ended.get(node.id, now)) for node in nodes]
            slow = _factor(self._slowness(0.0))
            metered = [
                each for node in nodes for each in metered_of(node.id, node.figures_file) if each.until <= self._over
            ]
            ending = {node.id: tuple(LogReader(node.id, _shutdown_log(node)).read_on()) for node in nodes}
            history = History(self._said_by_now, tuple(self._looks), files, True, slow, metered, ending)
        self._successor = max(waits_for_successors(history, self._stops), default=None)
        self._report(violations(history))

    def _follow_stop(self, node: Node) -> None:
        """Keep the stop of a voter that ended by itself, where enough of the others ran to elect one of them."""
        if node.state is NodeState.STOPPING and time.time() < self._over and self._can_elect_without(node):
            self._stopping[node.id] = time.time()
        elif node.state in ENDED:
            began = self._stopping.pop(node.id, None)
            if began is not None and node.state is NodeState.STOPPED:
                self._stops.append(OrderlyStop(node.id, began, time.time()))

    def _can_elect_without(self, node: Node) -> bool:
        voters = self.cluster.topology.voter_ids
        held = self._host.held if self._host is not None else frozenset[int]()
        able = {each.id for each in self.cluster.running} - held - {node.id}
        return not held and 2 * len(able.intersection(voters)) > len(voters)

    def measures(self) -> Mapping[str, float]:
        """Return how many steps from one state to another were judged, and how long a voter's address was not known."""
        longest = round(self._unregistered.longest, 1)
        successor = {} if self._successor is None else {"successor_stands_seconds": round(self._successor, 2)}
        return {"raft_steps_judged": self._steps, "endpoint_unregistered_seconds": longest, **successor}

    @property
    def _said_by_now(self) -> Mapping[int, Sequence[Said]]:
        return {node: tuple(said) for node, said in self._said.items()}

    def _follow_endpoints(self, look: Look) -> None:
        """Tell of a voter whose present address the voter set does not come to know."""
        if not look.quorum.endpoints:
            return
        there = self._present()
        self._unregistered = follow(self._unregistered, look.at, look.quorum.endpoints, there)
        for node, since in self._unregistered.since.items():
            if look.at - since > _REGISTERED_SECONDS and node not in self._told:
                self._told.add(node)
                story = f"the voter set names {look.quorum.endpoints[node]} for node {node}, which listens at"
                text = f"{story} {there[node]}, for {look.at - since:.0f} s: UpdateRaftVoter is overdue (KAFKA-16538)"
                self.record.write(Noted(text, node))

    def _present(self) -> Mapping[int, Address]:
        """Return where each controller that is up listens."""
        endpoints = self.cluster.endpoints
        return {node.id: endpoints[node.id] for node in self.cluster.voters if node.state is NodeState.READY}

    def _sure_to_announce(self, look: Look) -> frozenset[int]:
        """Return the voters that the leader names elsewhere than they listen, of lines that tell it for sure."""
        nodes, named = self.cluster.nodes, look.quorum.endpoints
        leader = nodes.get(look.quorum.leader)  # who leads is what nodes say, and may be nobody of the cluster
        if not named or leader is None or not leader.line.registers_endpoints:
            return frozenset()
        return frozenset(node for node in wrong(named, self._present()) if nodes[node].line.registers_endpoints)

    def _take(self, look: Looked, now: float) -> None:
        """Keep an answer that may say something: of a silent majority, of a voter elsewhere, of the end of either.

        Of another leader or voter set likewise.
        """
        last = self._newest.get(look.leader)
        is_silent = silent_seconds(look) >= _SILENT_SECONDS
        is_new = last is None or (last.epoch, last.fetched.keys()) != (look.epoch, look.fetched.keys())
        was_telling = last is not None and (silent_seconds(last) >= _SILENT_SECONDS or bool(last.elsewhere))
        self._newest[look.leader] = look
        if is_silent or look.elsewhere:
            self._looks.append(replace(look, slow=_factor(self._slowness(now - _WINDOW_SECONDS))))
        elif is_new or was_telling:
            self._looks.append(look)

    def _slowness(self, since: float) -> Slowness:
        return self._host.slowness(since) if self._host is not None else Slowness()

    def _read_all(self) -> None:
        for node in self.cluster.nodes.values():
            self._read_on(node)

    def _read_on(self, node: Node) -> None:
        reader = self._readers.setdefault(node.id, LogReader(node.id, node.log_file))
        said = self._said.setdefault(node.id, [])
        for each in reader.read_on():
            said.append(each)
            if isinstance(each, Transitioned):
                self._note_role(each)

    def _note_role(self, step: Transitioned) -> None:
        self._steps += 1
        if self._steps <= _MOST_ROLES:
            state, place = step.state, step.place
            ago = round(max(time.time() - place.at, 0.0), 3)
            self.record.write(RoleChanged(place.node, state.kind.lower(), state.epoch, state.leader, ago, place.line))

    def _report(self, found: Sequence[Violation]) -> None:
        """Report the first violation of each rule, with the lines that show it."""
        for each in found:
            if each.name not in self._broken:
                self._broken.add(each.name)
                line = self.record.write(Noted(f"{each.name}: {each.reason}"))
                self.record.report(Incident(IncidentKind.INVARIANT_BROKEN, each.name, each.reason), each.line or line)
                self.record.show(*(self._evidence(each, place) for place in each.places))

    def _evidence(self, found: Violation, place: Place) -> Evidence:
        log = self.cluster.nodes[place.node].log_file
        return self.record.folder.evidence(log, place.line, f"{found.name}: what node {place.node} says")


def _shutdown_log(node: Node) -> Path:
    return node.log_file.with_name(SHUTDOWN_LOG)


def _factor(slowness: Slowness) -> float:
    return math.inf if slowness.is_starved else slowness.factor
