"""Shares of a core that nodes take, from what the kernel counts of their processes and raft I/O threads; pure.

CPU time, not wall time: a slow or busy host changes it little.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, median

WINDOW_SECONDS = 3.0
_TYPICAL_SECONDS = 8

LEADER, VOTER, OBSERVER = "leader", "voter", "observer"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a process has used so far, in CPU seconds: all of it, and its raft I/O thread. `at` is monotonic.

    `role` is what the node is: the leader, a voter that does not lead, or an observer. `raft` is None where the thread
    cannot be seen.
    """

    at: float
    role: str
    process: float
    raft: float | None


@dataclass(frozen=True, slots=True)
class Share:
    """What a process, and its raft I/O thread, took of a core in one role up to `end` (monotonic), in percent."""

    end: float
    role: str
    process: float
    raft: float | None


def share_between(one: Sample, other: Sample) -> Share:
    """Return the shares from one sample to a later one."""
    seconds = other.at - one.at
    raft = None if one.raft is None or other.raft is None else 100 * (other.raft - one.raft) / seconds
    return Share(other.at, one.role, 100 * (other.process - one.process) / seconds, raft)


def shares(samples: Sequence[Sample]) -> Iterator[Share]:
    """Yield the shares over every WINDOW_SECONDS of one process's samples in which it kept its role."""
    first = 0
    for last, sample in enumerate(samples):
        if sample.role != samples[first].role:
            first = last
        while first < last and sample.at - samples[first + 1].at >= WINDOW_SECONDS:
            first += 1
        if sample.at - samples[first].at >= WINDOW_SECONDS:
            yield share_between(samples[first], sample)


def measures_of_shares(nodes: Iterable[Sequence[Sequence[Sample]]]) -> Mapping[str, float]:
    """Return the busiest window and the typical one (the median) of each role, of several nodes that of the largest.

    For each node `nodes` has the samples of its processes. A node that had a role for moments only was elected, or came
    up: nothing is typical of that, and where no node had the role for longer there is no such figure.
    """
    by_role: dict[str, list[list[Share]]] = defaultdict(list)
    for lives in nodes:
        found: dict[str, list[Share]] = defaultdict(list)
        for share in (share for life in lives for share in shares(life)):
            found[share.role].append(share)
        for role, each in found.items():
            by_role[role].append(each)
    return {name: value for role, of_nodes in by_role.items() for name, value in _of_role(role, of_nodes)}


def _of_role(role: str, nodes: Sequence[Sequence[Share]]) -> Iterator[tuple[str, float]]:
    process = [[(share.end, share.process) for share in each] for each in nodes]
    raft = [[(share.end, share.raft) for share in each if share.raft is not None] for each in nodes]
    for figure, taken in (("cpu", process), ("raft", [each for each in raft if each])):
        if taken:
            yield f"{role}_{figure}_busiest_percent", round(max(percent for each in taken for _, percent in each), 1)
        if medians := [median(percent for _, percent in each) for each in taken if _is_long(each)]:
            yield f"{role}_{figure}_typical_percent", round(max(medians), 1)


def _is_long(windows: Sequence[tuple[float, float]]) -> bool:
    """Whether windows (when each ended, and its percent) are of so many seconds that one is typical of them."""
    return len({int(end) for end, _ in windows}) >= _TYPICAL_SECONDS


def measures_of_cluster(nodes: Iterable[Sequence[Sequence[Sample]]]) -> Mapping[str, float]:
    """Return what all nodes together took in half of all seconds, each by the windows that end in it.

    Which of them leads the partitions that clients write to is chance, and takes that work with it, whatever its role
    in the quorum: between the nodes it moves, and all together it stays the same. `nodes` as in `measures_of_shares`.
    """
    taken: dict[int, float] = defaultdict(float)
    for lives in nodes:
        own: dict[int, list[float]] = defaultdict(list)
        for life in lives:
            for share in shares([replace(sample, role="") for sample in life]):
                own[int(share.end)].append(share.process)
        for second, percents in own.items():
            taken[second] += mean(percents)
    if len(taken) < _TYPICAL_SECONDS:
        return {}
    return {"cluster_cpu_typical_percent": round(median(taken.values()), 1)}


def busiest_by_phase(
    lives: Iterable[Sequence[Sample]], phases: Sequence[tuple[str, float]]
) -> Mapping[str, Mapping[str, float]]:
    """Return the busiest window of each role that ended in a phase; `phases` begin at monotonic times, in order.

    What ends in a phase may have begun in the one before it, which whoever reached this one has gone through as well.
    """
    begins = [began for _, began in phases]
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for share in (share for life in lives for share in shares(life)):
        place = bisect_right(begins, share.end) - 1
        if place >= 0:
            _keep_busiest(found[phases[place][0]], share)
    return found


def _keep_busiest(figures: dict[str, float], share: Share) -> None:
    for what, percent in (("cpu", share.process), ("raft", share.raft)):
        name = f"{share.role}_{what}_busiest_percent"
        if percent is not None:
            figures[name] = max(figures.get(name, 0.0), round(percent, 1))


def of_raft_threads(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the figures without those of whole processes."""
    return {name: value for name, value in figures.items() if "_cpu_" not in name}


def measures_of_window(window: str, lives: Sequence[Sequence[Sample]]) -> Mapping[str, float]:
    """Return what the busiest node of each role took in a measured window, by the samples of processes in it."""
    found: dict[str, float] = {}
    for share in (share_between(life[0], life[-1]) for life in lives if len(life) > 1):
        for figure, value in (("cpu", share.process), ("raft", share.raft)):
            name = f"{window}_{share.role}_{figure}_percent"
            if value is not None:
                found[name] = max(found.get(name, 0.0), round(value, 2))
    return found
