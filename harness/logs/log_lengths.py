"""How long logs and the phases in them are, and when their last stretch begins; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import PurePosixPath

from harness.logs.compare.counts import Where
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs, PhaseSpan

_SHORTEST = 1.0  # seconds: a shorter log has no length that means anything
# What config/log4j.properties and log4j2.yaml have one process write, and its standard output.
_OF_KAFKA = re.compile(
    r"(server|controller|state-change|kafka-request|log-cleaner|kafka-authorizer|kafkaServer)\.(log|out)(\.[\w.-]+)?"
)


def exposures(nodes: Iterable[NodeLogs], files: Mapping[str, FileCounts]) -> dict[Where, float]:
    """Return how long the nodes of each kind were in each phase of each run, in seconds, over nodes.

    A phase without bounds, as in logs from anywhere, is as long as its process has events: files that it writes side by
    side, such as server.log and controller.log, make it no longer. Where any is too short for that to mean anything all
    count alike, so that numbers of events are compared.
    """
    seconds: dict[Where, float] = defaultdict(float)
    unbounded: dict[Where, list[str]] = defaultdict(list)
    for node in nodes:
        for phase in node.phases:
            where = Where(node.arm, node.scenario, node.node_role, phase.name, node.repeat)
            if phase != WHOLE_LOG:
                seconds[where] += phase.end - phase.start
                continue
            unbounded[where] += node.files
    for where, names in unbounded.items():
        seconds[where] += sum(map(_together, _processes({name: files[name] for name in names})))
    if any(seconds[where] < _SHORTEST for where in unbounded):
        seconds |= dict.fromkeys(unbounded, _SHORTEST)
    return dict(seconds)


def _processes(files: Mapping[str, FileCounts]) -> list[list[FileTotal]]:
    """Return the files by who wrote them: in a folder those that Kafka's log4j files name, and others beside them.

    A file beside others is of their process where it has none of their loggers, as audit.log beside broker.log; one
    with the same loggers is another node's, or an earlier one.
    """
    found: dict[str, list[_Process]] = defaultdict(list)
    for name in sorted(files, key=lambda each: (not _is_kafkas(each), each)):
        folder, loggers = found[str(PurePosixPath(name).parent)], {*files[name].counts["logger"].unique()}
        theirs = folder[:1] if _is_kafkas(name) else [each for each in folder if each.loggers.isdisjoint(loggers)]
        if not theirs:
            theirs = [_Process(set(), [])]
            folder += theirs
        theirs[0].loggers.update(loggers)
        theirs[0].totals.append(files[name].total)
    return [each.totals for folder in found.values() for each in folder]


@dataclass(frozen=True, slots=True)
class _Process:
    loggers: set[str]
    totals: list[FileTotal]


def _is_kafkas(file: str) -> bool:
    return _OF_KAFKA.fullmatch(PurePosixPath(file).name) is not None


def _together(totals: Sequence[FileTotal]) -> float:
    """Return how long a process is that wrote some files: no longer than the time that these cover."""
    return min(sum(map(_length, totals)), _covered(totals))


def _covered(totals: Sequence[FileTotal]) -> float:
    """Return for how long at least one of some files has events."""
    covered, end = 0.0, -inf
    for total in sorted(totals, key=lambda each: each.first_at):
        covered += max(total.last_at - max(total.first_at, end), 0.0)
        end = max(end, total.last_at)
    return covered


def _length(total: FileTotal) -> float:
    """Return how long a log is; one that was counted before this was known, from its first event to its last."""
    return total.active or (0.0 if total.idle else total.last_at - total.first_at)


def last_stretches(nodes: Sequence[NodeLogs], files: Mapping[str, FileCounts]) -> list[float]:
    """Return for each node when its run's last stretch begins: its last tenth, at most a third of its last phase.

    Logs from anywhere end when the last of their run does: the older part of a log that was rotated is no end.
    """
    of_run: dict[tuple[str, str, int], list[FileTotal]] = defaultdict(list)
    for node in nodes:
        of_run[_run(node)] += [files[name].total for name in node.files]
    bounds = {run: _bounds(totals) for run, totals in of_run.items()}
    return [
        _last_stretch([bounds[_run(node)] if each == WHOLE_LOG else each for each in node.phases]) for node in nodes
    ]


def _run(node: NodeLogs) -> tuple[str, str, int]:
    return node.arm, node.scenario, node.repeat


def _last_stretch(phases: Sequence[PhaseSpan]) -> float:
    if not phases:
        return inf
    last = max(phases, key=lambda phase: phase.end)
    whole = last.end - min(phase.start for phase in phases)
    return last.end - min(whole / 10, (last.end - last.start) / 3)


def _bounds(totals: Sequence[FileTotal]) -> PhaseSpan:
    """Return when a run's logs begin and end, without the pauses that do not count."""
    spans = [replace(total, first_at=total.last_at - _length(total)) for total in totals]
    end = max((total.last_at for total in spans), default=0.0)
    return replace(WHOLE_LOG, start=end - _covered(spans), end=end)
