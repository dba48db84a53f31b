"""How long logs and the phases in them are, and when their last stretch begins; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf

from harness.logs.compare.counts import Where
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.pipeline import FileCounts
from harness.model.log_totals import FileTotal
from harness.model.node_logs import NodeLogs, PhaseSpan

_SHORTEST = 1.0  # seconds: a shorter log has no length that means anything


def exposures(nodes: Iterable[NodeLogs], files: Mapping[str, FileCounts]) -> dict[Where, float]:
    """Return how long the nodes of each kind were in each phase of each run, in seconds, over nodes.

    A phase without bounds, as in logs from anywhere, is as long as its file has events. Where any is too short for
    that to mean anything all count alike, so that numbers of events are compared.
    """
    seconds: dict[Where, float] = defaultdict(float)
    unbounded: set[Where] = set()
    for node in nodes:
        seen = sum(_length(files[name].total) for name in node.files)
        for phase in node.phases:
            where = Where(node.arm, node.scenario, node.node_role, phase.name, node.repeat)
            seconds[where] += seen if phase == WHOLE_LOG else phase.end - phase.start
            unbounded |= {where} if phase == WHOLE_LOG else set()
    if any(seconds[where] < _SHORTEST for where in unbounded):
        seconds |= dict.fromkeys(unbounded, _SHORTEST)
    return dict(seconds)


def _length(total: FileTotal) -> float:
    """Return how long a log is; one that was counted before this was known, from its first event to its last."""
    return total.active or (0.0 if total.idle else total.last_at - total.first_at)


def last_stretch(node: NodeLogs, files: Mapping[str, FileCounts]) -> float:
    """Return when the last stretch of a run begins: its last tenth, but no more than the last third of its last phase.

    Logs from anywhere end with their file.
    """
    totals = [files[name].total for name in node.files]
    own = [_bounded(phase, totals) if phase == WHOLE_LOG else phase for phase in node.phases]
    if not own:
        return inf
    last = max(own, key=lambda phase: phase.end)
    whole = last.end - min(phase.start for phase in own)
    return last.end - min(whole / 10, (last.end - last.start) / 3)


def _bounded(phase: PhaseSpan, totals: Iterable[FileTotal]) -> PhaseSpan:
    last = max(totals, key=lambda total: total.last_at)
    return replace(phase, start=last.last_at - _length(last), end=last.last_at)
