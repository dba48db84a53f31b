"""Pure: the template counts of two arms to the findings of their contrast.

Without repeats of the same build nothing here knows how much two runs differ by chance: findings are shown to a
reader and decide nothing. docs/log-diff.md says what that means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.logs.layout import LEVELS
from harness.logs.text import excerpt
from harness.model import Contrast, Evidence, Finding, FindingKind
from harness.text import visible

MIN_RATIO = 1.5  # of the events per second of a phase
MIN_EVENTS = 5.0  # by which the arms differ in a phase, over the shorter of their times in it


@dataclass(frozen=True, slots=True)
class Where:
    """A stretch of an arm's logs that can be compared: one kind of node in one phase of one scenario."""

    arm: str
    scenario: str
    node_role: str
    phase: str


@dataclass(frozen=True, slots=True)
class Count:
    """How often a template was logged somewhere, and the first such event: its file, line and text.

    `statement` is the place in the sources that wrote it, where it is known.
    """

    where: Where
    level: str
    logger: str
    template: str
    count: int
    file: str
    line: int
    excerpt: str
    statement: str = ""


@dataclass(frozen=True, slots=True)
class _Pair:
    """One template in both arms; `base` and `candidate` are in the order in which they were counted."""

    scenario: str
    node_role: str
    logger: str
    template: str
    base: tuple[Count, ...]
    candidate: tuple[Count, ...]


def contrast(base: str, candidate: str, counts: Iterable[Count], seconds: Mapping[Where, float]) -> Contrast:
    """Return what differs between two arms, worst first.

    `seconds` is how long the nodes were in each phase, added up over nodes and repeats. Only scenarios and kinds
    of node for which both arms have logs, that is an entry in `seconds`, are compared.
    """
    pairs = _pairs(base, candidate, counts, comparable(base, candidate, seconds))
    found = [finding for pair in pairs if (finding := _finding(pair, base, candidate, seconds)) is not None]
    return Contrast(base, candidate, tuple(sorted(found, key=_worst_first)))


def comparable(base: str, candidate: str, seconds: Iterable[Where]) -> set[tuple[str, str]]:
    """Return the pairs of scenario and kind of node of which both arms have logs."""
    places = list(seconds)
    of_base, of_candidate = (
        {(where.scenario, where.node_role) for where in places if where.arm == arm} for arm in (base, candidate)
    )
    return of_base & of_candidate


def _pairs(base: str, candidate: str, counts: Iterable[Count], places: set[tuple[str, str]]) -> Iterable[_Pair]:
    sides: dict[tuple[str, str, str, str], tuple[list[Count], list[Count]]] = defaultdict(lambda: ([], []))
    for count in counts:
        where = count.where
        if (where.scenario, where.node_role) in places and where.arm in (base, candidate):
            side = sides[where.scenario, where.node_role, count.logger, count.template]
            side[where.arm == candidate].append(count)
    for (scenario, node_role, logger, template), (of_base, of_candidate) in sides.items():
        yield _Pair(scenario, node_role, logger, template, tuple(of_base), tuple(of_candidate))


def _finding(pair: _Pair, base: str, candidate: str, seconds: Mapping[Where, float]) -> Finding | None:
    if not pair.base:
        return _told(pair, FindingKind.NEW, _busiest(pair.candidate))
    if not pair.candidate:
        return _told(pair, FindingKind.VANISHED, _busiest(pair.base))
    if _levels(pair.base) != _levels(pair.candidate):
        return _told(pair, FindingKind.LEVEL, _busiest(pair.candidate))
    phase = _other_rate(pair, base, candidate, seconds)
    return None if phase is None else _told(pair, FindingKind.RATE, phase)


def _levels(counts: Sequence[Count]) -> set[str]:
    return {count.level for count in counts}


def _by_phase(counts: Sequence[Count]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for count in counts:
        sums[count.where.phase] += count.count
    return sums


def _busiest(counts: Sequence[Count]) -> str:
    """Return the phase with the most events; among equals the first by name."""
    sums = _by_phase(counts)
    return min(sums, key=lambda phase: (-sums[phase], phase))


def _other_rate(pair: _Pair, base: str, candidate: str, seconds: Mapping[Where, float]) -> str | None:
    """Return the phase whose rates differ most, among those whose rates differ enough to be told."""
    of_base, of_candidate = _by_phase(pair.base), _by_phase(pair.candidate)
    excess: dict[str, float] = {}
    for phase in of_base.keys() | of_candidate.keys():
        times = [seconds.get(Where(arm, pair.scenario, pair.node_role, phase), 0.0) for arm in (base, candidate)]
        if min(times) <= 0:  # the phase has no known length in one of the arms
            continue
        low, high = sorted((of_base.get(phase, 0) / times[0], of_candidate.get(phase, 0) / times[1]))
        if high > MIN_RATIO * low and (high - low) * min(times) >= MIN_EVENTS:
            excess[phase] = (high - low) * min(times)
    return min(excess, key=lambda phase: (-excess[phase], phase), default=None)


def _told(pair: _Pair, kind: FindingKind, phase: str) -> Finding:
    shown = [_shown(counts, phase) for counts in (pair.base, pair.candidate)]
    evidence = [Evidence(c.file, c.line, excerpt(c.excerpt)) for c in shown if c is not None]
    return Finding(
        kind=kind,
        template=excerpt(pair.template),
        scenario=pair.scenario,
        node_role=pair.node_role,
        phase=visible(phase),
        level=max(_levels(pair.base) ^ _levels(pair.candidate) or _levels(pair.base), key=_severity),
        logger=visible(pair.logger),
        base_count=sum(count.count for count in pair.base),
        candidate_count=sum(count.count for count in pair.candidate),
        base_excerpt=excerpt(shown[0].excerpt) if shown[0] else "",
        candidate_excerpt=excerpt(shown[1].excerpt) if shown[1] else "",
        evidence=tuple(evidence),
        statement=visible(next((c.statement for c in reversed(shown) if c is not None and c.statement), "")),
    )


def _shown(counts: Sequence[Count], phase: str) -> Count | None:
    """Return the event to show: the first in the phase, or the first at all; by file and line, so always the same."""
    if not counts:
        return None
    return min(counts, key=lambda count: (count.where.phase != phase, count.file, count.line))


def _severity(level: str) -> int:
    """Return how bad a level is; one that log4j does not know is worst."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)


def _worst_first(finding: Finding) -> tuple[object, ...]:
    difference = abs(finding.candidate_count - finding.base_count)
    return (
        -_severity(finding.level),
        -difference,
        finding.scenario,
        finding.node_role,
        finding.kind,
        finding.logger,
        finding.template,
    )
