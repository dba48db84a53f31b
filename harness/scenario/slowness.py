"""How much a host held a run's nodes back, from what was measured of it; pure.

docs/adr/0017-a-slow-host-stretches-bounds-and-excuses-failures.md has the reasons and the measurements.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

# Two clusters side by side on two processors make a node wait for up to a quarter of the time: bounds allow for it.
ORDINARY_SHARE = 0.25
# From here on a failure says nothing of the build; everything takes more than twice its time.
STARVED_SHARE = 0.6
# From here on nothing that a run showed counts, a pass neither.
HOPELESS_SHARE = 0.9
# What the nodes of a run may use themselves before waiting is their own doing.
_NEED_PROCESSORS = 0.5
_NEED_WRITTEN_PER_SECOND = 20e6
# Two busy threads of one core are each half as fast; only a clock slower than that is a slow host.
_ORDINARY_SLOWDOWN = 2.0
# A disk of a spindle takes as long for a write that is forced; what takes longer is a slow one.
_ORDINARY_ANSWER_SECONDS = 0.05
_MOST_FACTOR = (1 - ORDINARY_SHARE) / (1 - 0.75)
_LEAST_SECONDS = 1.0
_LEAST_MEMORY = 64 * 2**20

Waiter = tuple[int, str]  # a node and a thread's name


@dataclass(frozen=True, slots=True)
class HostInterval:
    """What was measured in some seconds up to a monotonic time: `waits` are seconds that threads of nodes waited.

    `own` and `others` are the CPU seconds used by the run's nodes and by everybody else on `processors`, `throttled`,
    `io` and `memory` seconds in which a quota, disks or memory held everybody back; `answer` is how many seconds the
    slowest kind of operation took on a disk, infinite where none was done or nobody knows; `written` are the nodes'
    bytes, `available` the bytes of memory that were left, `slowdown` how many times longer a fixed piece of work took
    than on the idle host.
    """

    end: float
    seconds: float
    processors: int = 1
    waits: Mapping[Waiter, float] = field(default_factory=dict)
    own: float = 0.0
    others: float = 0.0
    throttled: float = 0.0
    io: float = 0.0
    memory: float = 0.0
    available: float = math.inf
    answer: float = math.inf
    written: float = 0.0
    slowdown: float = 1.0


@dataclass(frozen=True, slots=True)
class Slowness:
    """The share of the time for which the host held nodes back, and in words by which resource."""

    share: float = 0.0
    reason: str = ""

    @property
    def factor(self) -> float:
        """How many times longer a bound is than on an idle host; 1 where the slowness is ordinary."""
        return min(max(1.0, (1 - ORDINARY_SHARE) / max(1 - self.share, 1e-9)), _MOST_FACTOR)

    @property
    def is_starved(self) -> bool:
        """Whether what went wrong may be the host's doing."""
        return self.share >= STARVED_SHARE

    @property
    def is_hopeless(self) -> bool:
        """Whether even what went well says nothing."""
        return self.share >= HOPELESS_SHARE


def slowness_of(intervals: Sequence[HostInterval]) -> Slowness:
    """Return how much the host held nodes back in these intervals, by the resource that did so most."""
    seconds = sum(each.seconds for each in intervals)
    if seconds < _LEAST_SECONDS:
        return Slowness()
    found = (
        _waiting(intervals, seconds),
        _clock(intervals),
        _quota(intervals, seconds),
        *_stalls(intervals, seconds),
        _memory(intervals),
    )
    return max(found, key=lambda each: each.share)


def blame_of_others(own: float, others: float) -> float:
    """Return the share of all waiting that others than the run's own nodes cause; both are processors in use.

    A build that keeps its own processors busy must not be excused by that: what its nodes use beyond their need counts
    as theirs. Where nobody uses more (a quota, a machine that stood still) the host alone is to blame.
    """
    excess = max(0.0, own - _NEED_PROCESSORS)
    return others / (others + excess) if others + excess > 0 else 1.0


def _used(intervals: Sequence[HostInterval], seconds: float) -> tuple[float, float]:
    return sum(each.own for each in intervals) / seconds, sum(each.others for each in intervals) / seconds


def _waiting(intervals: Sequence[HostInterval], seconds: float) -> Slowness:
    waits: Counter[Waiter] = Counter()
    for each in intervals:
        waits.update(each.waits)
    if not waits:
        return Slowness()
    ((node, thread), waited), *_ = waits.most_common(1)
    own, others = _used(intervals, seconds)
    share = min(waited / seconds, 1.0)
    reason = (
        f"processor: node {node} ({thread}) waited for a processor for {share:.0%} of {seconds:.0f} s, while its "
        f"cluster used {own:.1f} of {intervals[-1].processors} processors and other processes used {others:.1f}"
    )
    return Slowness(share * blame_of_others(own, others), reason)


def _clock(intervals: Sequence[HostInterval]) -> Slowness:
    slowdown = min(each.slowdown for each in intervals)
    share = max(0.0, 1 - _ORDINARY_SLOWDOWN / slowdown)
    return Slowness(share, f"processor: {slowdown:.1f} times slower than before the first run")


def _quota(intervals: Sequence[HostInterval], seconds: float) -> Slowness:
    share = min(sum(each.throttled for each in intervals) / seconds, 1.0)
    reason = f"processor: the quota of the harness's cgroup throttled everything for {share:.0%} of {seconds:.0f} s"
    return Slowness(share * blame_of_others(*_used(intervals, seconds)), reason)


def _memory(intervals: Sequence[HostInterval]) -> Slowness:
    least = min(each.available for each in intervals)
    if least >= _LEAST_MEMORY:
        return Slowness()
    return Slowness(STARVED_SHARE, f"memory: only {least / 2**20:.0f} MiB were left on this host")


def _stalls(intervals: Sequence[HostInterval], seconds: float) -> tuple[Slowness, Slowness]:
    """Return what disks and memory held back; nodes that ask a quick disk all the time wait for their own doing."""
    io, memory = (sum(found) / seconds for found in zip(*((each.io, each.memory) for each in intervals), strict=True))
    late = sum(each.io * _lateness(each.answer) for each in intervals) / seconds
    own_writing = sum(each.written for each in intervals) / seconds > _NEED_WRITTEN_PER_SECOND
    words = "everything on this host waited for it"
    return (
        Slowness(0.0 if own_writing else min(late, 1.0), f"disk: {words} for {io:.0%} of {seconds:.0f} s"),
        Slowness(min(memory, 1.0), f"memory: {words} for {memory:.0%} of {seconds:.0f} s"),
    )


def _lateness(answer: float) -> float:
    """Return the part of a disk's answer that is more than the ordinary."""
    return 1 - _ORDINARY_ANSWER_SECONDS / max(answer, _ORDINARY_ANSWER_SECONDS)
