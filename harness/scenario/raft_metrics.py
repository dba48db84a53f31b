"""Costs that a node counts of itself (harness.cluster.node_figures), as figures of a run; pure.

How busy the raft I/O thread is by Kafka's own account (a thread that sleeps is busy, too), how long commits and the
controller's events take, and what collections of the heap cost and leave.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median

from harness.cluster.node_figures import FiguresLine
from harness.model.told import Changes, most_usual
from harness.scenario.processor_shares import LEADER, OBSERVER, VOTER

_IDLE = "poll-idle-ratio-avg"
_COMMIT, _LONGEST_COMMIT = "commit-latency-avg", "commit-latency-max"
_COMMIT_PAUSE = "commit-pause-ms"
_ELECTION = "election-latency-max"
_EPOCH = "current-epoch"
_EVENTS, _EVENT_MEAN = "controller-events", "controller-event-ms-mean"
_GC = "gc-ms"
_LIVE = "live"
_DIRECT = "direct"
_ALLOCATED = "allocated"
_MEGABYTE = 2**20
_LEAST_SECONDS = 20.0  # a node that lived for less may have had one collection in all
_LATE_SECONDS = 0.5
_COLLECTED_SECONDS = 3.0  # longer than anybody waits for a collection (harness.scenario.monitors.costs)
_LEAST_LINES = 4  # seconds in a role of which its metrics are told
_LEAST_RATES = 8  # seconds in a role, for what is typical of it
_MOST_BETWEEN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class NodeLines:
    """What one node said of itself; `warm` are the spans (seconds since the epoch) after its first seconds."""

    is_voter: bool
    lines: Sequence[FiguresLine]
    warm: Sequence[tuple[float, float]]

    @property
    def kind(self) -> str:
        """`voter` or `observer`."""
        return VOTER if self.is_voter else OBSERVER

    def role(self, line: FiguresLine) -> str:
        """What it was when it wrote a line."""
        return LEADER if self.is_voter and line.state == LEADER else self.kind

    def is_warm_from(self, start: float, end: float) -> bool:
        """Whether it was warm from one moment to another, in seconds since the epoch."""
        return any(first <= start and end <= last for first, last in self.warm)

    @property
    def warm_lines(self) -> list[FiguresLine]:
        """Its lines but for those of its first seconds."""
        return [line for line in self.lines if any(start <= line.at <= end for start, end in self.warm)]


def measures_of_lines(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return the figures of a run by name."""
    return {
        **{f"{role}_raft_not_idle_percent": round(100 * (1 - mean(ratios)), 1) for role, ratios in _idle(nodes)},
        **_commits(nodes),
        **_events(nodes),
        **_elections(nodes),
        **_collections(nodes),
        **_live_heaps(nodes),
        **_direct(nodes),
        **_allocated(nodes),
    }


def metrics_of_roles(nodes: Sequence[NodeLines]) -> Mapping[str, Mapping[str, str]]:
    """Return the types of the raft metrics that nodes have in each role, by name.

    A metric counts that most lines of a role have: one is added or removed a moment after its node's state has changed.
    """
    lines: dict[str, list[FiguresLine]] = defaultdict(list)
    for node in nodes:
        for line in node.lines:
            lines[node.role(line)].append(line)
    return {role: found for role in sorted(lines) if (found := _usual_metrics(lines[role]))}


def changes_of_metrics(nodes: Sequence[NodeLines]) -> Mapping[str, Mapping[str, Changes]]:
    """Return how often the raft metrics of warm nodes change from one line to the next in each role, by name."""
    pairs: dict[str, list[tuple[FiguresLine, FiguresLine]]] = defaultdict(list)
    for node in nodes:
        for one, other in _pairs(node, _GC):
            if node.role(one) == node.role(other):
                pairs[node.role(one)].append((one, other))
    return {role: _changes(found) for role, found in sorted(pairs.items())}


def _changes(pairs: Sequence[tuple[FiguresLine, FiguresLine]]) -> Mapping[str, Changes]:
    seconds = Counter(name for one, other in pairs for name in one.metrics.keys() & other.metrics.keys())
    changed = Counter(
        name
        for one, other in pairs
        for name in one.numbers.keys() & other.numbers.keys()
        if one.numbers[name] != other.numbers[name]
    )
    return {name: Changes(changed[name], count) for name, count in sorted(seconds.items())}


def _usual_metrics(lines: Sequence[FiguresLine]) -> Mapping[str, str]:
    if len(lines) < _LEAST_LINES:
        return {}
    counts = Counter(name for line in lines for name in line.metrics)
    types = most_usual(line.metrics for line in lines)
    return {name: types[name] for name, count in sorted(counts.items()) if 2 * count > len(lines)}


def _idle(nodes: Sequence[NodeLines]) -> Iterator[tuple[str, list[float]]]:
    found: dict[str, list[float]] = defaultdict(list)
    for node in nodes:
        for line in node.warm_lines:
            if _IDLE in line.numbers:
                found[node.role(line)].append(min(max(line.numbers[_IDLE], 0.0), 1.0))
    yield from found.items()


def _commits(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return how long commits took, so that what waited while a majority was away does not decide it.

    Kafka's average and maximum go back for half a minute and more, through epochs. Whoever leads again after it had
    lost its majority counts what waited for that; a node that is elected for the first time does not.
    """
    averages = _values([line for node in nodes for line in _led(node)], _COMMIT)
    longest = _values([line for node in nodes for line in _led_first(node)], _LONGEST_COMMIT)
    pauses = [pause for node in nodes for pause in _pauses(node, [each for each in nodes if each.is_voter])]
    return {
        **({"commit_at_best_milliseconds": round(min(averages), 1)} if averages else {}),
        **({"first_epoch_commit_longest_milliseconds": round(max(longest), 1)} if longest else {}),
        **({"commit_pause_longest_milliseconds": round(max(pauses))} if pauses else {}),
    }


def _pauses(node: NodeLines, voters: Sequence[NodeLines]) -> Iterator[float]:
    """Yield the longest pauses (ms) between commits that began and ended while every voter was warm.

    While one is away or has just come back, a sound leader has a bare majority, and waits for whoever is slowest of it.
    """
    for line in node.warm_lines:
        pause = line.numbers.get(_COMMIT_PAUSE)
        if pause is not None and all(each.is_warm_from(line.at - pause / 1000, line.at) for each in voters):
            yield pause


def _led(node: NodeLines) -> list[FiguresLine]:
    return [line for line in node.warm_lines if node.role(line) == LEADER]


def _led_first(node: NodeLines) -> Iterator[FiguresLine]:
    """Yield the lines that a process wrote in the first epoch that it led."""
    warm = {line.at for line in node.warm_lines}
    for lines in _processes(node.lines):
        led = [line for line in lines if node.role(line) == LEADER]
        yield from (line for line in led if line.at in warm and line.numbers.get(_EPOCH) == led[0].numbers.get(_EPOCH))


def _processes(lines: Sequence[FiguresLine]) -> list[list[FiguresLine]]:
    """Return the lines of each process of a node: what one has counted is gone in the next."""
    found: list[list[FiguresLine]] = []
    before = math.inf
    for line in lines:
        collecting = line.numbers.get(_GC, before)
        if collecting < before:
            found.append([])
        before = collecting
        if not found:
            found.append([])
        found[-1].append(line)
    return found


def _last_process(lines: Sequence[FiguresLine]) -> list[FiguresLine]:
    return _processes(lines)[-1]


def _events(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return how long an event of the active controller took in half of all seconds.

    Its commit is a part of it: one that waits until a majority is back takes seconds, and must not decide the figure.
    """
    averages = [average for node in nodes for average in _event_averages(node)]
    return {"controller_event_milliseconds": round(median(averages), 2)} if averages else {}


def _event_averages(node: NodeLines) -> Iterator[float]:
    """Yield the average between two lines of an active controller, where it had an event."""
    for one, other in _pairs(node, _EVENTS, _EVENT_MEAN):
        count = other.numbers[_EVENTS] - one.numbers[_EVENTS]
        if count > 0 and node.role(one) == node.role(other) == LEADER:
            yield max(_summed(other) - _summed(one), 0.0) / count


def _summed(line: FiguresLine) -> float:
    return line.numbers[_EVENTS] * line.numbers[_EVENT_MEAN]


def _elections(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    longest = [value for node in nodes for value in _values(node.lines, _ELECTION)]
    return {"election_longest_milliseconds": round(max(longest), 1)} if longest else {}


def _collections(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return which share of the time collections of the heap took in the node of a kind that has most, in percent."""
    found: dict[str, float] = {}
    for node in nodes:
        pairs = [*_pairs(node, _GC)]
        if pairs:
            spent = sum(other.numbers[_GC] - one.numbers[_GC] for one, other in pairs)
            seconds = max(sum(other.at - one.at for one, other in pairs), _LEAST_SECONDS)
            name = f"{node.kind}_gc_percent"
            found[name] = max(found.get(name, 0.0), round(spent / seconds / 10, 2))
    return found


def _pairs(node: NodeLines, *names: str) -> Iterator[tuple[FiguresLine, FiguresLine]]:
    """Yield consecutive lines of one process that have all these numbers, which only grow; none across a window."""
    lines = [line for line in node.warm_lines if line.numbers.keys() >= set(names)]
    for one, other in pairwise(lines):
        if 0 < other.at - one.at < _MOST_BETWEEN_SECONDS and other.numbers[names[0]] >= one.numbers[names[0]]:
            yield one, other


def _live_heaps(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return what was left of the largest heap after the collection at the end of the run, by role.

    A voter that has led counts as a leader: the raft client of its process keeps the buffers of 8 MB that it appended
    with (BatchMemoryPool), however long ago that was.
    """
    left: dict[str, list[float]] = defaultdict(list)
    for node in nodes:
        for line in [line for line in node.lines if _LIVE in line.numbers][-1:]:
            until = [each for each in node.lines if each.at <= line.at]
            role = LEADER if any(node.role(each) == LEADER for each in _last_process(until)) else node.kind
            left[role].append(line.numbers[_LIVE])
    return {f"{role}_heap_megabytes": round(max(each) / _MEGABYTE, 2) for role, each in left.items()}


def _direct(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return how large the buffers outside of the heap were in the end of the node that had most, by kind."""
    last: dict[str, list[float]] = defaultdict(list)
    for node in nodes:
        last[node.kind] += _values(node.warm_lines, _DIRECT)[-1:]
    return {f"{kind}_direct_megabytes": round(max(each) / _MEGABYTE, 2) for kind, each in last.items() if each}


def _allocated(nodes: Sequence[NodeLines]) -> Mapping[str, float]:
    """Return how much a node allocates on its heap in half of all seconds, that of a role which allocates most."""
    found: dict[str, float] = {}
    for node in nodes:
        rates: dict[str, list[float]] = defaultdict(list)
        for one, other in _pairs(node, _ALLOCATED):
            if node.role(one) == node.role(other):
                rates[node.role(one)].append(_rate(one, other))
        for role, each in rates.items():
            name = f"{role}_allocated_typical_megabytes_per_second"
            if len(each) >= _LEAST_RATES:
                found[name] = max(found.get(name, 0.0), round(median(each), 2))
    return found


def _rate(one: FiguresLine, other: FiguresLine) -> float:
    """Return the megabytes a second that a process allocated from one line to another."""
    return (other.numbers[_ALLOCATED] - one.numbers[_ALLOCATED]) / (other.at - one.at) / _MEGABYTE


def _values(lines: Iterable[FiguresLine], name: str) -> list[float]:
    return [line.numbers[name] for line in lines if name in line.numbers]


def growth_in_window(window: str, nodes: Sequence[NodeLines], start: float, end: float) -> Mapping[str, float]:
    """Return by how much the heap grew that grew most in a measured window, and buffers outside of it, by kind of node.

    Heaps were collected before `start` and after `end` (seconds since the epoch); the line that says so may be late. Of
    a node that was held then, which collects nothing, it is not known what grew in the window.
    """
    found: dict[str, float] = {}
    for node in nodes:
        for what, bytes_grown in (*_heap_growth(node, start, end), *_direct_growth(node, start, end)):
            name, grown = f"{window}_{node.kind}_{what}_growth_megabytes", bytes_grown / _MEGABYTE
            found[name] = round(max(found.get(name, grown), grown), 2)
    return found


def _heap_growth(node: NodeLines, start: float, end: float) -> Iterator[tuple[str, float]]:
    live = [line for line in node.lines if _LIVE in line.numbers]
    before = [line for line in live if start - _COLLECTED_SECONDS <= line.at <= start + _LATE_SECONDS][-1:]
    after = [line for line in live if end <= line.at <= end + _COLLECTED_SECONDS][:1]
    for one, other in zip(before, after, strict=False):
        yield "heap", other.numbers[_LIVE] - one.numbers[_LIVE]


def _direct_growth(node: NodeLines, start: float, end: float) -> Iterator[tuple[str, float]]:
    if within := _values([line for line in node.lines if start <= line.at <= end], _DIRECT):
        yield "direct", within[-1] - within[0]


def allocated_in_window(window: str, nodes: Sequence[NodeLines], start: float, end: float) -> Mapping[str, float]:
    """Return what the node of a kind allocated on its heap that allocated most in a measured window, in MB a second."""
    found: dict[str, float] = {}
    for node in nodes:
        within = [line for line in node.lines if start <= line.at <= end and _ALLOCATED in line.numbers]
        if len(within) > 1 and within[-1].numbers[_ALLOCATED] >= within[0].numbers[_ALLOCATED]:
            name = f"{window}_{node.kind}_allocated_megabytes_per_second"
            found[name] = round(max(found.get(name, 0.0), _rate(within[0], within[-1])), 2)
    return found
