"""Pure: the template counts of two arms to the findings of their contrast.

A finding is a difference between two sums. `noise` assesses it, where an arm was run more than once:
beyond the noise, within it, or unknown. docs/log-diff.md says what that means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.text import visible
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.noise import Noise
from harness.logs.compare.order import Order, Swap
from harness.logs.compare.rates import Rates
from harness.logs.compare.shifts import Shift, Shifts
from harness.logs.compare.tables import Assessment, Key, Place
from harness.logs.compare.values import Side, ValueChange, Values
from harness.logs.read.excerpts import excerpt
from harness.logs.read.layout import LEVELS
from harness.model.findings import Contrast, Finding, FindingKind, Significance
from harness.model.runs import Evidence

MIN_RATIO = 1.5  # of the events per second of a phase
MIN_EVENTS = 5.0  # by which the arms differ in a phase, over the shorter of their times in it
MOST_WORDS = 6  # of each arm that are shown of a value

_SIGNIFICANCES = (Significance.BEYOND, Significance.UNKNOWN, Significance.WITHIN)


@dataclass(frozen=True, slots=True)
class _Pair:
    """One family in both arms; `base` and `candidate` are in the order in which they were counted."""

    scenario: str
    node_role: str
    logger: str
    family: str
    base: tuple[Count, ...]
    candidate: tuple[Count, ...]


@dataclass(frozen=True, slots=True)
class LogStatistics:
    """What all arms' runs show of chance, of the order, the times and the values of what they log."""

    noise: Noise
    rates: Rates | None
    order: Order | None
    shifts: Shifts | None
    values: Values


def learned(counts: Sequence[Count], seconds: Mapping[Where, float]) -> LogStatistics:
    """Learn from all arms' counts, once for all contrasts; of rates, order and times nothing without repeats."""
    noise = Noise(counts, seconds)
    values = Values(counts, seconds)
    if not noise.repeated:
        return LogStatistics(noise, None, None, None, values)
    return LogStatistics(noise, Rates(noise.tables), Order(counts), Shifts(counts), values)


def contrast(
    base: str,
    candidate: str,
    counts: Sequence[Count],
    seconds: Mapping[Where, float],
    known: LogStatistics | None = None,
) -> Contrast:
    """Return what differs between two arms: what is beyond the noise first, worst first.

    `seconds` is how long the nodes were in each phase, added up over nodes. Only scenarios and kinds of node for
    which both arms have logs, that is an entry in `seconds`, are compared. `known` is learned from `counts` if it is
    not given.
    """
    known = known or learned(counts, seconds)
    places = comparable(base, candidate, seconds)
    pairs = list(_pairs(base, candidate, counts, places))
    lengths = _lengths(seconds)
    rates = known.rates.assess(base, candidate) if known.rates else {}
    found = [
        finding
        for pair in pairs
        if (finding := _finding(pair, base, candidate, lengths, known.noise, rates)) is not None
    ]
    changes = known.values.changes(base, candidate, places)
    found = [*_not_explained_by(changes, found), *map(_changed, changes)]
    found += _moved(pairs, known.order.swaps(base, candidate) if known.order else [], (base, candidate), known.noise)
    shifts = known.shifts.find(base, candidate, known.noise.is_enough) if known.shifts else []
    found += _shifted(pairs, shifts, (base, candidate), known.noise)
    return Contrast(base, candidate, tuple(sorted(found, key=_worst_first)))


def _lengths(seconds: Mapping[Where, float]) -> dict[Where, float]:
    """Return the seconds of each phase over all repeats."""
    sums: dict[Where, float] = defaultdict(float)
    for where, length in seconds.items():
        sums[replace(where, repeat=1)] += length
    return sums


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
            side = sides[where.scenario, where.node_role, count.logger, count.key]
            side[where.arm == candidate].append(count)
    for (scenario, node_role, logger, family), (of_base, of_candidate) in sides.items():
        yield _Pair(scenario, node_role, logger, family, tuple(of_base), tuple(of_candidate))


def _finding(
    pair: _Pair,
    base: str,
    candidate: str,
    seconds: Mapping[Where, float],
    noise: Noise,
    rates: Mapping[tuple[Place, Key], Assessment],
) -> Finding | None:
    place, key = Place(pair.scenario, pair.node_role), Key(pair.logger, pair.family)
    runs = (noise.runs(place, key, base), noise.runs(place, key, candidate))
    if not pair.base or not pair.candidate:
        kind = FindingKind.VANISHED if pair.base else FindingKind.NEW
        assessment = noise.presence(place, key, base, candidate)
        return _plain_finding(pair, kind, _busiest(pair.candidate or pair.base), assessment, runs)
    if _levels(pair.base) != _levels(pair.candidate):
        changed = replace(key, level=_changed_level(pair))
        assessment = noise.presence(place, changed, base, candidate)
        at_level = (noise.runs(place, changed, base), noise.runs(place, changed, candidate))
        return _plain_finding(pair, FindingKind.LEVEL, _busiest(pair.candidate), assessment, at_level)
    assessment = rates.get((place, key), Assessment(Significance.UNKNOWN))
    phase = assessment.phase if assessment.significance is Significance.BEYOND and assessment.phase else ""
    other = _other_rate(pair, base, candidate, seconds)
    return None if other is None else _plain_finding(pair, FindingKind.RATE, phase or other, assessment, runs)


def _moved(pairs: Iterable[_Pair], swaps: Iterable[Swap], arms: tuple[str, str], noise: Noise) -> list[Finding]:
    known = {(pair.scenario, pair.node_role, pair.logger, pair.family): pair for pair in pairs}
    found = []
    for swap in swaps:
        pair = known.get((swap.place.scenario, swap.place.node_role, swap.logger, swap.family))
        if pair is not None and pair.base and pair.candidate:
            key = Key(pair.logger, pair.family)
            base_runs, candidate_runs = (noise.runs(swap.place, key, arm) for arm in arms)
            assessment = Assessment(Significance.BEYOND)
            plain = _plain_finding(
                pair, FindingKind.ORDER, pair.candidate[0].where.phase, assessment, (base_runs, candidate_runs)
            )
            was, now = ("before", "after") if swap.was_first else ("after", "before")
            detail = f"first logged {was} this line, now {now} it: {excerpt(swap.neighbour)}"
            found.append(replace(plain, detail=detail))
    return found


def _shifted(pairs: Iterable[_Pair], shifts: Iterable[Shift], arms: tuple[str, str], noise: Noise) -> list[Finding]:
    known = {(pair.scenario, pair.node_role, pair.logger, pair.family): pair for pair in pairs}
    found = []
    for shift in shifts:
        pair = known[shift.place.scenario, shift.place.node_role, shift.key.logger, shift.key.family]
        base_runs, candidate_runs = (noise.runs(shift.place, shift.key, arm) for arm in arms)
        assessment = Assessment(Significance.BEYOND, shift.phase, shift.q)
        plain = _plain_finding(pair, FindingKind.SHIFT, shift.phase, assessment, (base_runs, candidate_runs))
        detail = f"first logged {shift.now:.1f} s after the phase begins, not {shift.was:.1f} s"
        others = f"; {shift.others} more shift alike" if shift.others else ""
        found.append(replace(plain, detail=detail + others))
    return found


def _not_explained_by(changes: Iterable[ValueChange], findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without new and vanished lines that a changed value explains."""
    explained: dict[tuple[str, ...], int] = {}
    for change in changes:
        for count in change.logged:
            line = (change.place.scenario, change.place.node_role, visible(count.logger), excerpt(count.key))
            explained[line] = min(explained.get(line, len(_SIGNIFICANCES)), _SIGNIFICANCES.index(change.significance))
    left = []
    for finding in findings:
        line = (finding.scenario, finding.node_kind, finding.logger, finding.template)
        as_sure = explained.get(line, len(_SIGNIFICANCES)) <= _SIGNIFICANCES.index(finding.significance)
        if finding.kind not in (FindingKind.NEW, FindingKind.VANISHED) or not as_sure:
            left.append(finding)
    return left


def _changed(change: ValueChange) -> Finding:
    slot, place = change.slot, change.place
    pair = _Pair(place.scenario, place.node_role, slot.logger, slot.text, change.base.shown, change.candidate.shown)
    runs = (change.base.runs, change.candidate.runs)
    phase = _busiest(change.candidate.logged or change.base.logged)
    plain = _plain_finding(pair, FindingKind.VALUE, phase, Assessment(change.significance), runs)
    return replace(
        plain,
        base_count=sum(change.base.runs),
        candidate_count=sum(change.candidate.runs),
        detail=f"base: {_listed(change.base)}; candidate: {_listed(change.candidate)}",
        base_lasting=bool(change.base.logged) if slot.last else plain.base_lasting,
        candidate_lasting=bool(change.candidate.logged) if slot.last else plain.candidate_lasting,
    )


def _listed(side: Side) -> str:
    more = f" and {len(side.words) - MOST_WORDS} more" if len(side.words) > MOST_WORDS else ""
    return excerpt(", ".join(side.words[:MOST_WORDS])) + more


def _lasting(counts: Iterable[Count], runs: Sequence[int]) -> bool:
    """Say whether in every run of an arm it was logged before and still in the run's last stretch."""
    seen = list(counts)
    before = {count.where.repeat for count in seen if count.before_end}
    still = {count.where.repeat for count in seen if count.at_end}
    return len(before & still) == max(len(runs), 1)


def _changed_level(pair: _Pair) -> str:
    return max(_levels(pair.base) ^ _levels(pair.candidate), key=_severity)


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
    """Return the phase whose rates differ most, among those whose rates differ enough to count."""
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


def _plain_finding(
    pair: _Pair, kind: FindingKind, phase: str, assessment: Assessment, runs: tuple[tuple[int, ...], ...]
) -> Finding:
    shown = [_example(counts, phase) for counts in (pair.base, pair.candidate)]
    evidence = [Evidence(c.file, c.line, excerpt(c.excerpt)) for c in shown if c is not None]
    same = _levels(pair.base) == _levels(pair.candidate)
    return Finding(
        kind=kind,
        template=excerpt(pair.family),
        scenario=pair.scenario,
        node_kind=pair.node_role,
        phase=visible(phase),
        level=max(_levels(pair.base), key=_severity) if same else _changed_level(pair),
        logger=visible(pair.logger),
        base_count=sum(count.count for count in pair.base),
        candidate_count=sum(count.count for count in pair.candidate),
        base_excerpt=excerpt(shown[0].excerpt) if shown[0] else "",
        candidate_excerpt=excerpt(shown[1].excerpt) if shown[1] else "",
        evidence=tuple(evidence),
        statement=visible(next((c.statement for c in reversed(shown) if c is not None and c.statement), "")),
        significance=assessment.significance,
        fdr=assessment.q,
        base_runs=runs[0],
        candidate_runs=runs[1],
        base_lasting=_lasting(pair.base, runs[0]),
        candidate_lasting=_lasting(pair.candidate, runs[1]),
        logged_by=_logged_by(pair, phase),
    )


def _logged_by(pair: _Pair, phase: str) -> str:
    """Say what the nodes were that logged it in a phase: of both arms at once if that is the same."""
    of_base, of_candidate = (
        " and ".join(sorted({count.role for count in counts if count.where.phase == phase and count.role}))
        for counts in (pair.base, pair.candidate)
    )
    if of_base and of_candidate and of_base != of_candidate:
        return f"{of_base} in base, {of_candidate} in the candidate"
    return of_candidate or of_base


def _example(counts: Sequence[Count], phase: str) -> Count | None:
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
        _SIGNIFICANCES.index(finding.significance),
        -_severity(finding.level),
        not (finding.base_lasting or finding.candidate_lasting),
        -difference,
        finding.scenario,
        finding.node_kind,
        finding.kind,
        finding.logger,
        finding.template,
    )
