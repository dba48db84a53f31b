"""What watching a cluster costs: nodes and harness with every monitor, the watch and the metrics reporter, and without.

    python benchmarks/monitors.py [ROUNDS] [SECONDS]

Each round runs a cluster of 3 combined nodes and 1 broker for SECONDS (40) bare, and one watched as every run is, in
turn, so that a drifting host meets both alike. What monitors do outside of threads of their own, after a fault and when
all is over (metadata logs and node logs are read then), has rows of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from harness.base.files import sha256_of
from harness.cluster.cluster import Cluster
from harness.cluster.host_accounts import accounts_of, processor_seconds, thread_name
from harness.cluster.install import Install
from harness.cluster.node import Node
from harness.cluster.prepare import NodeParts
from harness.cluster.topology import Topology
from harness.cluster.watch import Look, Watcher
from harness.kafka.distribution import distribution_of
from harness.model.events import Event
from harness.model.incidents import Incident
from harness.model.request import Request
from harness.model.runs import Evidence
from harness.rundir.journal import Journal
from harness.rundir.parts import RunFolder
from harness.scenario.monitors.base import Monitor
from harness.scenario.verbs import monitors_of_every_run
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
TOPOLOGY = Topology(3, 1)


_WRITER = "harness-figures"  # the reporter's thread in a node


@dataclass(frozen=True, slots=True)
class Spent:
    """CPU seconds of the nodes and of the harness; of these, those of each part of ours by its name."""

    nodes: float
    harness: float
    parts: Mapping[str, float]


def main() -> None:
    rounds, seconds = (int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in ((1, 3), (2, 40)))
    toolbox = local_toolbox()
    kafka = distribution_of(None, KAFKA, toolbox)
    raft = kafka.raft_jar
    install = Install("stock", raft, sha256_of(raft), "absent")
    node_parts = prepare_node_parts(Request(), kafka, toolbox, lambda _: None)
    spent: dict[str, list[Spent]] = {"bare": [], "watched": []}
    for _ in range(rounds):
        spent["bare"].append(measure(replace(node_parts, reporter=None), install, seconds, watched=False))
        spent["watched"].append(measure(node_parts, install, seconds, watched=True))
    print(f"{'':24}{'nodes':>10}{'harness':>10}   CPU s of {seconds} s, median of {rounds}")
    for name, rows in spent.items():
        print(f"{name:24}{median(row.nodes for row in rows):10.2f}{median(row.harness for row in rows):10.2f}")
    whole = median(row.nodes + row.harness for row in spent["watched"])
    for name in spent["watched"][0].parts:
        took = median(row.parts[name] for row in spent["watched"])
        print(f"{name:32}{took:10.2f}{took / whole:10.1%}")


@dataclass(slots=True)
class Run:
    """What monitors write to: a journal, as in every run."""

    folder: RunFolder
    journal: Journal
    flag_key: str = ""
    java: str = ""
    incidents: list[Incident] = field(default_factory=list)

    def write(self, event: Event) -> int:
        return self.journal.write(event)

    def report(self, incident: Incident, line: int) -> None:  # noqa: ARG002
        self.incidents.append(incident)

    def show(self, *evidence: Evidence) -> None: ...


def measure(node_parts: NodeParts, install: Install, seconds: float, *, watched: bool) -> Spent:
    """Return what a cluster costs from its start on, to the end of every monitor."""
    monitors: list[Monitor] = []

    def on_node(node: Node) -> None:
        for monitor in monitors:
            monitor.on_node(node, 0)

    with tempfile.TemporaryDirectory() as root, Journal(Path(root) / "journal.jsonl") as journal:
        folder, began = RunFolder(Path(root), "runs/s/stock/1"), time.process_time()
        launch = node_parts.launch({})
        with Cluster(TOPOLOGY, folder.nodes, launch, install, node_parts.template, on_node) as cluster:
            if watched:
                run = Run(folder, journal)
                monitors += [make(run, cluster) for make in monitors_of_every_run()]
            with watching(cluster, monitors):
                cluster.start(cluster.nodes)
                time.sleep(seconds)
                parts = each_spends("after a fault", monitors, lambda monitor: monitor.after_fault())
                parts |= {**own_threads(), "reporter in the nodes": sum(map(written_by, processes(cluster)))}
                before = sum(map(processor_seconds, processes(cluster)))
            nodes = sum(map(processor_seconds, processes(cluster)))
            parts["collections at the end"] = nodes - before
        parts |= each_spends("at the end", monitors, lambda monitor: monitor.after())
        for monitor in monitors:
            monitor.measures()
        if watched and run.incidents:
            raise SystemExit(f"the run was spoiled: {run.incidents[0].reason}")
        return Spent(nodes, time.process_time() - began, parts)


def each_spends(when: str, monitors: Sequence[Monitor], work: Callable[[Monitor], None]) -> dict[str, float]:
    """Return the CPU seconds of this thread that each monitor takes for a piece of its work."""
    found: dict[str, float] = {}
    for monitor in monitors:
        began = time.thread_time()
        work(monitor)
        found[f"{monitor.name} {when}"] = time.thread_time() - began
    return found


def processes(cluster: Cluster) -> list[int]:
    return [node.pid for node in cluster.running]


def own_threads() -> dict[str, float]:
    """Return the CPU seconds of the threads of this process that watch, by their names."""
    mine = accounts_of(os.getpid())
    return {
        f"thread {each.name}": mine[each.native_id].ran / 1e9
        for each in threading.enumerate()
        if each.native_id in mine and each is not threading.main_thread()
    }


def written_by(pid: int) -> float:
    """Return the CPU seconds of the reporter's thread in a node's process."""
    return sum(each.ran / 1e9 for number, each in accounts_of(pid).items() if thread_name(pid, number) == _WRITER)


@contextmanager
def watching(cluster: Cluster, monitors: Sequence[Monitor]) -> Iterator[None]:
    """Watch as the engine does; without monitors nobody looks."""

    def on_look(look: Look) -> None:
        for monitor in monitors:
            monitor.on_look(look, 0)

    watcher = Watcher(cluster, on_look, print)
    for monitor in monitors:
        monitor.start()
    if monitors:
        watcher.start()
    yield
    if monitors:
        watcher.stop()
    for monitor in monitors:
        monitor.stop()


if __name__ == "__main__":
    main()
