"""What nodes cost, in every run: processor time, memory, threads, descriptors, log lines, Kafka's own metrics."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, starmap
from pathlib import Path
from typing import ClassVar

from harness.base.waiting import wait_until
from harness.cluster.cluster import Cluster
from harness.cluster.host_accounts import RaftThreads, descriptors_of, processor_seconds, threads_of, written_bytes
from harness.cluster.node import Node, NodeState
from harness.cluster.node_figures import ask_for_collection, read_figures
from harness.cluster.watch import Look
from harness.model.events import NodeSampled
from harness.model.incidents import Incident, IncidentKind
from harness.model.told import changes_of, metrics_of
from harness.scenario.log_volume import LoggedSpan, measures_of_logs, printed_lines
from harness.scenario.monitors.base import Monitor, RunRecord
from harness.scenario.node_lives import Life, Moment, Period, logged_in
from harness.scenario.processor_shares import (
    LEADER,
    OBSERVER,
    VOTER,
    Sample,
    busiest_by_phase,
    measures_of_cluster,
    measures_of_shares,
    measures_of_window,
    of_raft_threads,
    share_between,
)
from harness.scenario.raft_metrics import (
    NodeLines,
    allocated_in_window,
    changes_of_metrics,
    growth_in_window,
    measures_of_lines,
    metrics_of_roles,
)
from harness.scenario.verbs import monitor

_SAMPLE_EVERY_SECONDS = 0.5
_JOURNAL_EVERY_SECONDS = 1.0
# A look or two find no leader where it did not answer in time; it leads all the same.
_LEADERLESS_SECONDS = 2.0
# A node that has just come up loads classes and compiles them.
WARM_AFTER_SECONDS = 2.0
# One that is not up by then waits for something: what its raft I/O thread does is no loading of classes any more.
STARTS_WITHIN_SECONDS = 6.0
_COLLECTION_SECONDS = 2.0


@monitor
class Costs(Monitor):
    """Samples every node in a thread of its own, and reads their figures and logs when all have ended."""

    name: ClassVar[str] = "costs"

    def __init__(self, record: RunRecord, cluster: Cluster) -> None:
        super().__init__(record, cluster)
        self._leader = -1
        self._led_at = self._looked_at = 0.0
        self._nobody_leads = False
        self._started: dict[int, float] = {}
        self._ready: dict[int, float] = {}
        self._lives: dict[int, Life] = {}
        self._starting: dict[int, list[Sample]] = defaultdict(list)
        self._journaled: dict[int, Sample] = {}
        self._most: dict[str, float] = {}
        self._raft = RaftThreads()
        self._phases: list[tuple[str, float]] = []
        self._windows: list[tuple[str, Period]] = []
        self._window_began = Moment.now()
        self._written: Mapping[int, int] = {}
        self._written_in_windows: dict[str, float] = {}
        self._figures: dict[str, float] = {}
        self._by_phase: Mapping[str, Mapping[str, float]] = {}
        self._told: Mapping[str, Mapping[str, str]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=self.name, daemon=True)

    def start(self) -> None:
        """Begin to sample."""
        self._thread.start()

    def on_look(self, look: Look, line: int) -> None:  # noqa: ARG002
        """Note who leads."""
        self._looked_at = look.at
        if look.quorum.leader >= 0:
            self._leader, self._led_at = look.quorum.leader, look.at

    def on_node(self, node: Node, line: int) -> None:  # noqa: ARG002
        """Note since when a node starts and is ready, and when it ends."""
        if node.state is NodeState.READY:
            self._ready[node.id] = time.monotonic()
        elif node.state is NodeState.STARTING:
            self._started[node.id] = time.monotonic()
        else:
            self._end_life(node)
            # The next life of the node is none of this one's age, before anybody tells that it is ready.
            self._ready.pop(node.id, None)
            self._started.pop(node.id, None)

    def begin_phase(self, name: str) -> None:
        """Note since when the plan is in a phase."""
        self._phases.append((name, time.monotonic()))

    def begin_window(self, name: str) -> None:  # noqa: ARG002
        """Have every heap collected; what is left of it now is the beginning. Nobody looks who leads until its end."""
        self._nobody_leads = self._looked_at - self._led_at > _LEADERLESS_SECONDS
        self._collect_heaps()
        self._window_began = self._moment()
        self._written = self._bytes_written()

    def end_window(self, name: str) -> None:
        """Have every heap collected again."""
        window = Period(self._window_began, self._moment())
        self._windows.append((name, window))
        self._note_written(name, window.end.monotonic - window.start.monotonic)
        self._nobody_leads = False
        self._collect_heaps()

    def stop(self) -> None:
        """End sampling; have every heap collected, so that what is left of it can be compared."""
        self._stopping.set()
        self._thread.join()
        for node in self.cluster.running:
            self._end_life(node)
        if not self.cluster.is_closed:
            self._collect_heaps()

    def after(self) -> None:
        """Read what nodes counted and logged.

        Where their network was split, whole processes and logs do not count: a coordinator of transactions that has too
        few replicas in sync tries again without a pause, with an ERROR each time, up to 3,000 a second. For how long it
        is without them, and whether it has a transaction to end, is chance.
        """
        nodes = [node for node in self.cluster.nodes.values() if node.was_started]
        stretches = self._outside_windows()
        lines = [NodeLines(n.is_voter, read_figures(n.figures_file), _spans(n, stretches)) for n in nodes]
        samples: dict[int, list[list[Sample]]] = defaultdict(list)
        for life, period in stretches:
            samples[life.node].append(life.samples_in(period))
        starting = [*self._starting.values()]
        self._by_phase = busiest_by_phase([*chain.from_iterable(samples.values()), *starting], self._phases)
        of_processes = {**measures_of_shares([*samples.values(), starting]), **measures_of_cluster(samples.values())}
        logged = measures_of_logs(starmap(_logged, stretches))
        if self.cluster.runtime.was_split:
            self._by_phase = {phase: of_raft_threads(figures) for phase, figures in self._by_phase.items()}
            of_processes, logged = of_raft_threads(of_processes), {}
        self._figures = {**of_processes, **self._most, **measures_of_lines(lines), **logged}
        self._figures |= {**self._written_in_windows, **_printed(nodes)}
        self._told = _told(lines)
        for name, window in self._windows:
            self._figures |= self._measures_of_window(name, window, lines)

    def measures(self) -> Mapping[str, float]:
        """Return the costs by name."""
        return self._figures

    def measures_by_phase(self) -> Mapping[str, Mapping[str, float]]:
        """Return what was busiest in each phase: a run that ended earlier can be compared by those of both."""
        return self._by_phase

    def told(self) -> Mapping[str, Mapping[str, str]]:
        """Return the types of Kafka's raft metrics and how often they change, by role."""
        return self._told

    def _outside_windows(self) -> list[tuple[Life, Period]]:
        windows = [window for _, window in self._windows]
        return [(life, period) for life in self._lives.values() for period in life.without(windows)]

    def _measures_of_window(self, name: str, window: Period, lines: list[NodeLines]) -> Mapping[str, float]:
        samples = [life.samples_in(window) for life in self._lives.values()]
        nodes = [node for node in self.cluster.nodes.values() if node.log_file in window.end.log_bytes]
        return {
            **measures_of_window(name, samples),
            **growth_in_window(name, lines, window.start.epoch, window.end.epoch),
            **allocated_in_window(name, lines, window.start.epoch, window.end.epoch),
            **measures_of_logs((logged_in(window, _kind(node), node.log_file) for node in nodes), name),
        }

    def _bytes_written(self) -> Mapping[int, int]:
        return {pid: written_bytes(pid) for node in self.cluster.running if (pid := node.pid)}

    def _note_written(self, window: str, seconds: float) -> None:
        """Note what the node wrote that wrote most in a window, in kB a second, by kind of node."""
        now = self._bytes_written()
        for node in self.cluster.running:
            if node.pid in self._written.keys() & now.keys():
                name = f"{window}_{_kind(node)}_written_kilobytes_per_second"
                rate = (now[node.pid] - self._written[node.pid]) / seconds / 1000
                self._written_in_windows[name] = max(self._written_in_windows.get(name, 0.0), round(rate, 1))

    def _collect_heaps(self) -> None:
        asked = [ask_for_collection(node.figures_file) for node in self.cluster.running if node.figures_file.exists()]
        wait_until(lambda: not any(map(Path.exists, asked)), _COLLECTION_SECONDS)

    def _moment(self) -> Moment:
        return Moment.now(*(node.log_file for node in self.cluster.running))

    def _end_life(self, node: Node) -> None:
        for life in list(self._lives.values()):
            if life.node == node.id and life.end is None:
                life.end = Moment.now(life.log)

    def _watch(self) -> None:
        try:
            while not self._stopping.wait(_SAMPLE_EVERY_SECONDS):
                for node in self.cluster.running:
                    self._sample(node)
        except Exception as error:
            story = f"the watch of costs failed: {type(error).__name__}: {error}"
            self.record.report(Incident(IncidentKind.HARNESS_FAILED, "", story), 0)

    def _sample(self, node: Node) -> None:
        pid, now = node.pid, time.monotonic()
        if pid and node.state is NodeState.READY and now >= self._ready.get(node.id, now) + WARM_AFTER_SECONDS:
            self._note(node, pid, self._taken(node, pid, self._role(node)))
        elif (
            pid and node.state is NodeState.STARTING and now >= self._started.get(node.id, now) + STARTS_WITHIN_SECONDS
        ):
            self._starting[pid].append(self._taken(node, pid, f"starting_{_kind(node)}"))

    def _taken(self, node: Node, pid: int, role: str) -> Sample:
        return Sample(time.monotonic(), role, processor_seconds(pid), self._raft.seconds(pid, node.id))

    def _note(self, node: Node, pid: int, sample: Sample) -> None:
        if pid not in self._lives:
            self._lives[pid] = Life(node.id, _kind(node), node.log_file, Moment.now(node.log_file))
        self._lives[pid].samples.append(sample)
        before = self._journaled.setdefault(pid, sample)
        if sample.at - before.at >= _JOURNAL_EVERY_SECONDS:
            self._journaled[pid] = sample
            self._journal(node, before, sample)

    def _journal(self, node: Node, before: Sample, sample: Sample) -> None:
        share, pid, kind = share_between(before, sample), node.pid, _kind(node)
        threads, descriptors = threads_of(pid), descriptors_of(pid)
        for name, value in ((f"{kind}_threads", threads), (f"{kind}_descriptors", descriptors)):
            self._most[name] = max(self._most.get(name, 0), value)
        event = NodeSampled(
            node.id, sample.role, round(share.process, 1), round(share.raft or 0.0, 1), threads, descriptors
        )
        self.record.write(event)

    def _role(self, node: Node) -> str:
        leads = node.id == self._leader and node.is_voter and not self._nobody_leads
        return LEADER if leads else _kind(node)


def _told(lines: Sequence[NodeLines]) -> Mapping[str, Mapping[str, str]]:
    changes = changes_of_metrics(lines).items()
    return {
        **{metrics_of(role): types for role, types in metrics_of_roles(lines).items()},
        **{changes_of(role): {name: str(each) for name, each in found.items()} for role, found in changes},
    }


def _printed(nodes: Iterable[Node]) -> Mapping[str, float]:
    """Return how many lines the node printed beside its log that printed most, by kind of node."""
    found: dict[str, float] = {}
    for node in nodes:
        name = f"{_kind(node)}_printed_lines"
        found[name] = max(found.get(name, 0), printed_lines(node.output_file))
    return found


def _logged(life: Life, period: Period) -> LoggedSpan:
    return logged_in(period, life.kind, life.log)


def _spans(node: Node, stretches: Iterable[tuple[Life, Period]]) -> tuple[tuple[float, float], ...]:
    return tuple((period.start.epoch, period.end.epoch) for life, period in stretches if life.node == node.id)


def _kind(node: Node) -> str:
    return VOTER if node.is_voter else OBSERVER
