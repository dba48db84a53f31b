"""Pure: the template counts of two arms to the findings of their contrast.

A finding is a difference between two sums. `noise` assesses it, where an arm was run more than once:
beyond the noise, within it, or unknown. docs/log-diff.md says what that means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.text import visible
from harness.logs.compare.bracket_words import bracket_words
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.noise import Noise
from harness.logs.compare.order import Order, Swap
from harness.logs.compare.pairs import Pair, busiest, by_phase, comparable, levels_of, pairs_of
from harness.logs.compare.plain_findings import plain_finding
from harness.logs.compare.rates import Rates
from harness.logs.compare.shifts import Shift, Shifts
from harness.logs.compare.stock import Stock, settled
from harness.logs.compare.tables import Assessment, Key, Place
from harness.logs.compare.values import Side, ValueChange, Values, word_counts
from harness.logs.read.event_counts import WHOLE_LOG
from harness.logs.read.excerpts import excerpt
from harness.model.findings import Contrast, Finding, FindingKind, Significance, severity

MIN_RATIO = 1.5  # of the events per second of a phase
MIN_EVENTS = 5.0  # by which the arms differ in a phase, over the shorter of their times in it
MOST_WORDS = 6  # of each arm that are shown of a value

_SAME_LENGTH = 1.1  # times as long: within that, counts alone say how often

_Difference = Callable[[tuple[int, int], tuple[float, float]], float]  # events and seconds in both arms, to events
_SIGNIFICANCES = (Significance.BEYOND, Significance.UNKNOWN, Significance.WITHIN)


@dataclass(frozen=True, slots=True)
class LogStatistics:
    """What all arms' runs show of chance, of the order, the times and the values of what they log."""

    noise: Noise
    rates: Rates | None
    order: Order | None
    shifts: Shifts | None
    values: Values
    brackets: Values


@dataclass(frozen=True, slots=True)
class _Known:
    """What findings of a contrast are judged by: the repeats, and many runs of base's jar where those are known."""

    arms: tuple[str, str]
    seconds: Mapping[Where, float]
    noise: Noise
    rates: Mapping[tuple[Place, Key], Assessment]
    stock: Stock | None

    def is_of_a_moment(self, pair: Pair) -> bool:
        """Whether both logged it in logs without phases and had ended that before their end, as what a start says.

        How long such logs go on then says nothing of it.
        """
        return all(count.where.phase == WHOLE_LOG.name and not count.at_end for count in (*pair.base, *pair.candidate))

    def times(self, place: Place, phase: str) -> tuple[float, float]:
        """Return how long a phase was in base's runs, and in the candidate's; 0.0 where that is not known."""
        base, candidate = (
            self.seconds.get(Where(arm, place.scenario, place.node_role, phase), 0.0) for arm in self.arms
        )
        return base, candidate

    def runs(self, place: Place, key: Key) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return how often base's runs logged something, and the candidate's."""
        base, candidate = self.arms
        return self.noise.runs(place, key, base), self.noise.runs(place, key, candidate)


def learned(counts: Sequence[Count], seconds: Mapping[Where, float]) -> LogStatistics:
    """Learn from all arms' counts, once for all contrasts; of rates, order and times nothing without repeats."""
    noise = Noise(counts, seconds)
    values, brackets = Values(word_counts(counts), seconds), Values(bracket_words(counts), seconds)
    if not noise.repeated:
        return LogStatistics(noise, None, None, None, values, brackets)
    return LogStatistics(noise, Rates(noise.tables), Order(counts), Shifts(counts), values, brackets)


def contrast(
    base: str,
    candidate: str,
    counts: Sequence[Count],
    seconds: Mapping[Where, float],
    known: LogStatistics | None = None,
    stock: Stock | None = None,
) -> Contrast:
    """Return what differs between two arms: what is beyond the noise first, worst first.

    `seconds` is how long the nodes were in each phase, added up over nodes. Only scenarios and kinds of node for
    which both arms have logs, that is an entry in `seconds`, are compared. `known` is learned from `counts` if it is
    not given; `stock` is what many runs of base's jar show, where that is known.
    """
    known = known or learned(counts, seconds)
    places = comparable(base, candidate, seconds)
    pairs = list(pairs_of(base, candidate, counts, places))
    rates = known.rates.assess(base, candidate) if known.rates else {}
    judged_by = _Known((base, candidate), _lengths(seconds), known.noise, rates, stock)
    found = [finding for pair in pairs for finding in _findings(pair, judged_by)]
    changes = known.values.changes(base, candidate, places, stock)
    told = {change.lines for change in changes}
    in_brackets = [each for each in known.brackets.changes(base, candidate, places) if each.lines not in told]
    found = [*_not_explained_by(changes, found), *map(_changed, [*changes, *in_brackets])]
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


def _findings(pair: Pair, known: _Known) -> Iterator[Finding]:
    """Yield what differs of a family, level by level: what is logged at one hides nothing that is at another."""
    if not pair.base or not pair.candidate:
        yield from (_one_sided(part, known) for part in pair.by_level())
        return
    yield from _at_other_levels(pair, known)
    for part in pair.by_level():
        if part.base and part.candidate and (found := _more_or_fewer(part, known)):
            yield found


def _one_sided(pair: Pair, known: _Known) -> Finding:
    kind = FindingKind.VANISHED if pair.base else FindingKind.NEW
    return _present(pair, known, kind, busiest(pair.candidate or pair.base), of_candidate=bool(pair.candidate))


def _at_other_levels(pair: Pair, known: _Known) -> Iterator[Finding]:
    """Yield the worst level at which one arm alone logs it, and others of the candidate that are beyond the noise."""
    changed = [part.level for part in pair.by_level() if not part.base or not part.candidate]
    for level in changed:
        of_candidate = level in levels_of(pair.candidate)
        finding = _present(
            replace(pair, level=level), known, FindingKind.LEVEL, busiest(pair.candidate), of_candidate=of_candidate
        )
        if level == changed[0] or (of_candidate and finding.significance is Significance.BEYOND):
            yield finding


def _present(pair: Pair, known: _Known, kind: FindingKind, phase: str, *, of_candidate: bool) -> Finding:
    """Return what one arm alone logs, by what base's jar is known to log; by the repeats where that is nothing."""
    presence = None if known.stock is None else known.stock.new if of_candidate else known.stock.vanished
    judged = presence(pair.place, pair.key_at_its_level) if presence else None
    assessment = settled(judged, lambda: known.noise.presence(pair.place, pair.key_at_its_level, *known.arms))
    finding = plain_finding(pair, kind, phase, assessment, known.runs(pair.place, pair.key))
    return replace(finding, stock=judged.rate if judged else None)


def _more_or_fewer(pair: Pair, known: _Known) -> Finding | None:
    judged = known.stock.rate(pair.place, pair.key_at_its_level) if known.stock else None
    tested = known.rates.get((pair.place, pair.key), Assessment(Significance.UNKNOWN))
    assessment = settled(judged, lambda: tested)
    phase = assessment.phase if assessment.significance is Significance.BEYOND else ""
    other = _other_rate(pair, known, _excess_of_both if known.is_of_a_moment(pair) else _excess)
    if other is None and assessment.significance is Significance.BEYOND:
        other = _other_rate(pair, known, _unexplained)  # in a phase that base never reached, or outside of all
    runs = known.runs(pair.place, pair.key)
    if other is None and judged and judged.rate.flood:
        other = _flooded(pair, known, runs)
    if other is None:
        return None
    finding = plain_finding(pair, FindingKind.RATE, phase or other, assessment, runs)
    detail = _per_second(pair, phase or other, known.times(pair.place, phase or other))
    return replace(finding, detail=detail, stock=judged.rate if judged else None)


def _flooded(pair: Pair, known: _Known, runs: tuple[tuple[int, ...], tuple[int, ...]]) -> str | None:
    """Return the phase of a flood in one run of several, beside which the sums of all hardly differ."""
    phase, most = busiest(pair.candidate), (max(runs[0], default=0), max(runs[1], default=0))
    more = most[1] > most[0] and _unexplained(most, known.times(pair.place, phase)) >= MIN_EVENTS
    return phase if more else None


def _per_second(pair: Pair, phase: str, times: tuple[float, float]) -> str:
    """Return how often a second each side logs it in a phase that is longer on one side; else counts say it."""
    low, high = sorted(times)
    if low <= 0 or high <= _SAME_LENGTH * low:
        return ""
    rates = [
        by_phase(counts).get(phase, 0) / time for counts, time in zip((pair.base, pair.candidate), times, strict=True)
    ]
    return f"{_shown(rates[0])} → {_shown(rates[1])} a second"


def _shown(rate: float) -> str:
    return f"{rate:.2g}" if rate < 10 else f"{rate:,.0f}"


def _moved(pairs: Iterable[Pair], swaps: Iterable[Swap], arms: tuple[str, str], noise: Noise) -> list[Finding]:
    known = {(pair.scenario, pair.node_role, pair.logger, pair.family): pair for pair in pairs}
    found = []
    for swap in swaps:
        pair = known.get((swap.place.scenario, swap.place.node_role, swap.logger, swap.family))
        if pair is not None and pair.base and pair.candidate:
            key = Key(pair.logger, pair.family)
            base_runs, candidate_runs = (noise.runs(swap.place, key, arm) for arm in arms)
            assessment = Assessment(Significance.BEYOND)
            plain = plain_finding(
                pair, FindingKind.ORDER, pair.candidate[0].where.phase, assessment, (base_runs, candidate_runs)
            )
            was, now = ("before", "after") if swap.was_first else ("after", "before")
            detail = f"first logged {was} this line, now {now} it: {excerpt(swap.neighbour)}"
            found.append(replace(plain, detail=detail))
    return found


def _shifted(pairs: Iterable[Pair], shifts: Iterable[Shift], arms: tuple[str, str], noise: Noise) -> list[Finding]:
    known = {(pair.scenario, pair.node_role, pair.logger, pair.family): pair for pair in pairs}
    found = []
    for shift in shifts:
        pair = known[shift.place.scenario, shift.place.node_role, shift.key.logger, shift.key.family]
        base_runs, candidate_runs = (noise.runs(shift.place, shift.key, arm) for arm in arms)
        assessment = Assessment(Significance.BEYOND, shift.phase, shift.q)
        plain = plain_finding(pair, FindingKind.SHIFT, shift.phase, assessment, (base_runs, candidate_runs))
        detail = f"first logged {shift.now:.1f} s after the phase begins, not {shift.was:.1f} s"
        others = f"; {shift.others} more shift alike" if shift.others else ""
        found.append(replace(plain, detail=detail + others))
    return found


def _not_explained_by(changes: Iterable[ValueChange], findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without new and vanished lines that a changed value explains, at the level of that."""
    explained: dict[tuple[str, ...], int] = {}
    for change in changes:
        for count in change.logged:
            place = (change.place.scenario, change.place.node_role)
            line = (*place, visible(count.logger), excerpt(count.key), count.level)
            explained[line] = min(explained.get(line, len(_SIGNIFICANCES)), _SIGNIFICANCES.index(change.significance))
    left = []
    for finding in findings:
        line = (finding.scenario, finding.node_kind, finding.logger, finding.template, finding.level)
        as_sure = explained.get(line, len(_SIGNIFICANCES)) <= _SIGNIFICANCES.index(finding.significance)
        if finding.kind not in (FindingKind.NEW, FindingKind.VANISHED) or not as_sure:
            left.append(finding)
    return left


def _changed(change: ValueChange) -> Finding:
    slot, place = change.slot, change.place
    pair = Pair(place.scenario, place.node_role, slot.logger, slot.text, change.base.shown, change.candidate.shown)
    runs = (change.base.runs, change.candidate.runs)
    phase = busiest(change.candidate.logged or change.base.logged)
    plain = plain_finding(pair, FindingKind.VALUE, phase, Assessment(change.significance), runs)
    own = change.candidate.logged or change.base.logged  # what is shown beside it may be of another level
    return replace(
        plain,
        level=max(levels_of(own), key=severity) if own else plain.level,
        base_count=sum(change.base.runs),
        candidate_count=sum(change.candidate.runs),
        detail=f"base: {_listed(change.base)}; candidate: {_listed(change.candidate)}",
        base_lasting=bool(change.base.logged) if slot.last else plain.base_lasting,
        candidate_lasting=bool(change.candidate.logged) if slot.last else plain.candidate_lasting,
        stock=change.stock,
    )


def _listed(side: Side) -> str:
    more = f" and {len(side.words) - MOST_WORDS} more" if len(side.words) > MOST_WORDS else ""
    return excerpt(", ".join(side.words[:MOST_WORDS])) + more


def _excess(events: tuple[int, int], times: tuple[float, float]) -> float:
    """Return by how many events a phase differs over the shorter of its times; none without a known length in both."""
    if min(times) <= 0:
        return 0.0
    low, high = sorted(number / time for number, time in zip(events, times, strict=True))
    return (high - low) * min(times) if high > MIN_RATIO * low else 0.0


def _excess_of_both(events: tuple[int, int], times: tuple[float, float]) -> float:
    """Return by how many events a phase differs both by time and in number, in the same direction."""
    low, high = sorted(events)
    if min(times) <= 0 or high <= MIN_RATIO * low:
        return 0.0
    is_more_by_time = events[1] * times[0] > events[0] * times[1]
    return min(_excess(events, times), high - low) if is_more_by_time is (events[1] > events[0]) else 0.0


def _unexplained(events: tuple[int, int], times: tuple[float, float]) -> float:
    """Return by how many events a phase differs at all; none where both log as often per second."""
    return abs(events[1] - events[0]) if min(times) <= 0 or _excess(events, times) else 0.0


def _other_rate(pair: Pair, known: _Known, difference: _Difference) -> str | None:
    """Return the phase that differs most, among those that differ enough to count."""
    of_base, of_candidate = by_phase(pair.base), by_phase(pair.candidate)
    found = {
        phase: difference((of_base.get(phase, 0), of_candidate.get(phase, 0)), known.times(pair.place, phase))
        for phase in of_base.keys() | of_candidate.keys()
    }
    enough = [phase for phase, events in found.items() if events >= MIN_EVENTS]
    return min(enough, key=lambda phase: (-found[phase], phase), default=None)


def _worst_first(finding: Finding) -> tuple[object, ...]:
    difference = abs(finding.candidate_count - finding.base_count)
    return (
        _SIGNIFICANCES.index(finding.significance),
        -severity(finding.level),
        not (finding.base_lasting or finding.candidate_lasting),
        -difference,
        finding.scenario,
        finding.node_kind,
        finding.kind,
        finding.logger,
        finding.template,
    )
