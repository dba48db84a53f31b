"""Raft's rules over kept runs: python benchmarks/raft_rules.py RUN_DIRECTORY…

Nothing is started: the logs of each run's nodes, their metrics and the files of their metadata logs are judged as the
run's monitor did, after each thing that its plan did and once more at its end. Left out are answers of leaders, which
journals do not keep whole (`check_quorum` asks nothing then). A row for each suite says how many of its runs raise an
alarm, and what judging took of the processor time of the run's nodes. Exit code 1 where any does.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from pathlib import Path
from statistics import median

from harness.base.errors import HarnessError
from harness.cluster.conformance.history import History, Violation
from harness.cluster.conformance.observations import DiskReplaced, Place, Said
from harness.cluster.conformance.reading import LogReader, files_of, metered_of
from harness.cluster.conformance.rules import violations
from harness.cluster.formatting import METADATA_LOG
from harness.model.events import NodeChanged, StepChanged
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import Entry, read_undamaged
from harness.rundir.parts import NODE_FIGURES, NODE_LOG, SHUTDOWN_LOG, RunFolder
from harness.scenario.registry import load_all

_WIPES = "wipe the disk of "


@dataclass(frozen=True, slots=True)
class Judged:
    """A run: of which suite, what breaks a rule, and the CPU seconds that this took, and its nodes."""

    run: RunFolder
    suite: str
    found: tuple[Violation, ...]
    seconds: float
    nodes: float

    @property
    def share(self) -> float:
        return self.seconds / self.nodes if self.nodes > 0 else 0.0


def judged(run: RunFolder, suite: str) -> Judged:
    """Judge a run that is over."""
    entries, began = list(read_undamaged(run.journal)), time.process_time()
    said = {node: read(run, node, entries) for node in nodes_of(run)}
    found = [each for at in deeds(entries) for each in violations(History(said_by(said, at)))]
    ended = max((when(entry) for entry in entries), default=0.0)
    files = [files_of(node, run.nodes / str(node) / "data" / METADATA_LOG, ended) for node in said]
    over = max((when(entry) for entry in entries if isinstance(entry.event, StepChanged)), default=0.0)
    metered = [
        each for node in said for each in metered_of(node, run.nodes / str(node) / NODE_FIGURES) if each.until <= over
    ]
    ending = {node: tuple(LogReader(node, run.nodes / str(node) / SHUTDOWN_LOG).read_on()) for node in said}
    found += violations(History(said, (), files, is_over=True, metered=metered, ending=ending))
    took = time.process_time() - began
    by_name = {each.name: each for each in reversed(found)}
    nodes = run.result.read().measures.get("node_cpu_seconds", 0.0) if run.result.exists else 0.0
    return Judged(run, suite, tuple(by_name.values()), took, nodes)


def when(entry: Entry) -> float:
    return datetime.fromisoformat(entry.at).timestamp()


def nodes_of(run: RunFolder) -> list[int]:
    return sorted(int(path.parent.name) for path in run.nodes.glob(f"*/{NODE_LOG}") if path.parent.name.isdecimal())


def read(run: RunFolder, node: int, entries: Sequence[Entry]) -> tuple[Said, ...]:
    """Return what a node said, with the moments at which its disk was emptied among it."""
    said = [*LogReader(node, run.nodes / str(node) / NODE_LOG).read_on()]
    for at in wiped(node, entries):
        before = len(list(takewhile(lambda each, at=at: each.place.at < at, said)))
        said.insert(before, DiskReplaced(Place(node, said[before - 1].place.line if before else 0, at)))
    return tuple(said)


def wiped(node: int, entries: Sequence[Entry]) -> Iterator[float]:
    """Yield when a node's disk was emptied: whichever node starts next is the one that was meant."""
    pending = 0.0
    for entry in entries:
        event = entry.event
        if isinstance(event, StepChanged) and event.text.startswith(_WIPES) and event.status == "done":
            pending = when(entry)
        elif isinstance(event, NodeChanged) and event.state == "starting" and pending:
            if event.node == node:
                yield pending
            pending = 0.0


def deeds(entries: Sequence[Entry]) -> Iterator[float]:
    """Yield when each thing was done that a plan did, a fault or not."""
    for entry in entries:
        if isinstance(entry.event, StepChanged) and (entry.event.step, entry.event.status) == ("do", "done"):
            yield when(entry)


def said_by(said: dict[int, tuple[Said, ...]], at: float) -> dict[int, tuple[Said, ...]]:
    return {node: tuple(takewhile(lambda each: each.place.at <= at, each_said)) for node, each_said in said.items()}


def suites() -> dict[str, str]:
    """Return a suite of each shipped scenario."""
    return {name: each.suites[0] for name, each in load_all().items()}


def main(directories: list[str]) -> int:
    known, by_suite = suites(), defaultdict[str, list[Judged]](list)
    for directory in directories:
        for run in RunDirectory(Path(directory)).runs():
            if nodes_of(run):
                suite = known.get(run.key.scenario, "others, rollouts among them")
                by_suite[suite].append(judged(run, suite))
    print(f"{'suite':32}{'runs':>6}{'alarms':>8}{'median s':>10}{'most s':>8}{'median %':>10}{'most %':>8}")
    for suite, runs in sorted(by_suite.items()):
        seconds, shares = [each.seconds for each in runs], [100 * each.share for each in runs]
        alarms = sum(bool(each.found) for each in runs)
        print(
            f"{suite:32}{len(runs):6}{alarms:8}{median(seconds):10.2f}{max(seconds):8.2f}"
            f"{median(shares):10.2f}{max(shares):8.2f}"
        )
    spoiled = [each for runs in by_suite.values() for each in runs if each.found]
    for each in spoiled:
        for found in each.found:
            print(f"{each.run.path}: {found.name}: {found.reason}")
    return 1 if spoiled else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except HarnessError as error:
        sys.exit(str(error))
