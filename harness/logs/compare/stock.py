"""Is what the candidate logs more than what base's jar logs by chance? Judged by many runs of base's jar; pure.

Noise is how often those logged something, and excuses no more than that. The candidate's runs, and those of its jar
with the flag off, are no witnesses. docs/log-diff.md has the rules, with what they were measured to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb

from harness.base.chance import Stratum, chance_of_at_least, chance_of_so_many, chance_of_so_many_over
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.stock_runs import FLOOD_TIMES, LEAST_STOCK_RUNS, StockRuns, by_scenario, index
from harness.logs.compare.tables import Assessment, Key, Place
from harness.model.findings import WORSE, Significance, StockRate

LEAST_RUNS = 3  # of the candidate that must agree: two run side by side, and share what befalls the host
# Differences expected by chance in a verification: of what warns, which decides, and of what is only shown.
MOST_FALSE = {True: 0.001, False: 0.05}
FLOOD_EVENTS = 20  # in one run
_APART = 1.5  # times as much in every run as in any of base's jar
_APART_EVENTS = 5
_MOST_BESIDE = 0.05  # how likely base beside the candidate logs it in as many runs: what befell this host hit both


@dataclass(frozen=True, slots=True)
class Judged:
    """How a difference compares with what base's jar logs by chance, and how often that logs it.

    `is_final` is false where other statistics may still know: of what does not warn.
    """

    significance: Significance
    rate: StockRate
    is_final: bool = True


def settled(judged: Judged | None, otherwise: Callable[[], Assessment]) -> Assessment:
    """Return what base's jar says of a difference; what the compared runs themselves say where that is nothing."""
    return Assessment(judged.significance) if judged and judged.is_final else otherwise()


class Stock:
    """Runs of base's jar, and the candidate's runs that are held against them."""

    def __init__(self, runs: StockRuns, candidate: Sequence[ObservedRun], own: Sequence[ObservedRun] = ()) -> None:
        """Take the runs of base's jar, those of the candidate's arm, and known ones of a Kafka of the candidate's own.

        That excuses no difference to base; only a flood is none if that Kafka always logs so much.
        """
        self._runs = runs
        self._own = StockRuns(own, ())
        self._logged = index(candidate)
        self._of = by_scenario(candidate)
        self._too_often: dict[Line, bool] = {}

    def new(self, place: Place, key: Key, word: str = "") -> Judged | None:
        """Judge what the candidate logs and base beside it does not; None where too little is known."""
        line = _line(place, key, word)
        rate, found = self._runs.rate(place, line), self._counts(place, line)
        if self._is_flood(place, line, rate, found):
            return Judged(Significance.BEYOND, replace(self._beside_all(line, rate, found), flood=True))
        if rate.runs < LEAST_STOCK_RUNS:
            return None
        if rate.seen:
            return self._of_known(line, rate, found)
        is_chance = self._is_chance(place, line, logs=True) and not self._is_too_often(line)
        unknown = is_chance or (self._warns(line) and self._may_be_trouble(line))
        return self._unless(unknown, line, rate if unknown else self._beside_all(line, rate, found))

    def vanished(self, place: Place, key: Key, word: str = "") -> Judged | None:
        """Judge what base logs and the candidate does not; None where too little is known."""
        line = _line(place, key, word)
        rate = self._runs.rate(place, line)
        if rate.runs < LEAST_STOCK_RUNS:
            return None
        if rate.seen < rate.runs:
            return Judged(Significance.WITHIN, rate)
        unknown = self._runs.least(place, line) < FLOOD_EVENTS and self._is_chance(place, line, logs=False)
        return self._unless(unknown, line, rate)

    def rate(self, place: Place, key: Key) -> Judged | None:
        """Judge how often the candidate logs what base logs too; None where too little is known."""
        line = _line(place, key, "")
        rate, found, least = self._runs.rate(place, line), self._counts(place, line), self._runs.least(place, line)
        if self._is_flood(place, line, rate, found):
            return Judged(Significance.BEYOND, replace(self._beside_all(line, rate, found), flood=True))
        if rate.runs < LEAST_STOCK_RUNS:
            return None
        if min(found) >= least:
            return self._of_known(line, rate, found)
        is_fewer = least >= FLOOD_EVENTS and max(found) * FLOOD_TIMES < least
        is_fewer = is_fewer or _lie_apart(found, [least], rate.runs, MOST_FALSE[self._warns(line)])
        return self._unless(not is_fewer, line, rate)

    def unknown_sentences(self) -> list[str]:
        """Return in sentences why warnings decide nothing: too few runs of base's jar are known, or this one is odd."""
        few = sorted(name for name in self._of if name not in self._runs.known)
        found = [
            f"Too few runs of base's jar are known ({LEAST_STOCK_RUNS} are enough) to tell what it logs by chance in "
            f"{', '.join(few)}: what the candidate warns of there decides nothing, unless it floods every run."
        ]
        troubled = [
            "Base warned here of what no known run of it did before: what the candidate warns of in about as few runs, "
            "and base does not, decides nothing."
        ]
        return [*(found if few else ()), *(troubled if self._runs.troubles else ())]

    def _may_be_trouble(self, line: Line) -> bool:
        """Whether it is as rare among the candidate's runs as what troubles base's on this host."""
        theirs, mine = self._runs.troubles, len(self._logged.get(line, ()))
        runs = sum(map(len, self._of.values()))
        return theirs > 0 and chance_of_so_many(mine, runs, theirs, self._runs.here) >= MOST_FALSE[True]

    def _unless(self, unknown: bool, line: Line, rate: StockRate) -> Judged:
        if unknown:
            return Judged(Significance.UNKNOWN, rate, self._warns(line))
        return Judged(Significance.BEYOND, rate)

    def _of_known(self, line: Line, rate: StockRate, found: Sequence[int]) -> Judged:
        """Judge something that base's jar logs too, at least sometimes."""
        if rate.seen < rate.runs and self._is_too_often(line):
            return Judged(Significance.BEYOND, rate)
        if max(found) <= rate.most:
            return Judged(Significance.WITHIN, rate)
        is_more = _lie_apart([rate.most], found, rate.runs, MOST_FALSE[self._warns(line)])
        return self._unless(not is_more and not self._is_more_everywhere(line), line, rate)

    def _is_too_often(self, line: Line) -> bool:
        """Whether more of the candidate's runs log a line than so many of base's jar make likely, over all scenarios in
        which not every run of that does; base's runs beside them must not log it as often either.

        Each run is held against those of its own scenario. Asked is so of all that base's jar logs now and then, and
        one of them all may seem too frequent by chance no oftener than MOST_FALSE says.
        """
        if line not in self._too_often:
            self._too_often[line] = self._found_too_often(line)
        return self._too_often[line]

    def _found_too_often(self, line: Line) -> bool:
        logged, here = self._runs.logged(line), self._runs.beside
        scope = [name for name in self._runs.known & self._of.keys() if not self._runs.of[name] <= logged.keys()]
        mine = {name: self._agreeing(name, line, logs=True) for name in scope}
        agreeing = sum(mine.values())
        if agreeing < LEAST_RUNS or not logged:
            return False
        strata = [
            Stratum(mine[name], len(self._of[name]), len(self._runs.of[name] & logged.keys()), len(self._runs.of[name]))
            for name in scope
        ]
        beside = frozenset(run for name in scope for run in self._runs.of[name]) & here
        of_mine = sum(len(self._of[name]) for name in scope)
        if chance_of_so_many(agreeing, of_mine, len(beside & logged.keys()), len(beside)) > _MOST_BESIDE:
            return False
        warns = self._warns(line)
        return chance_of_so_many_over(strata) * self._runs.sometimes(frozenset(scope), warns) < MOST_FALSE[warns]

    def _is_more_everywhere(self, line: Line) -> bool:
        """Whether the candidate logs far more of a line than all runs of base's jar, in more scenarios than likely."""
        chances, above = [], 0
        for name in self._runs.known & self._of.keys():
            stock = [self._runs.logged(line).get(run, 0) for run in self._runs.of[name]]
            found = [self._logged.get(line, {}).get(run, 0) for run in self._of[name]]
            if any(stock) or any(found):
                chances.append(1 / comb(len(stock) + len(found), len(found)))
                above += _is_far_above(found, stock)
        warns = self._warns(line)
        asked = self._runs.sometimes(self._runs.known, warns) + len(chances)
        return above >= LEAST_RUNS and chance_of_at_least(above, chances) * asked < MOST_FALSE[warns]

    def _counts(self, place: Place, line: Line) -> list[int]:
        logged = self._logged.get(line, {})
        return [logged.get(run, 0) for run in self._of.get(place.scenario, ())] or [0]

    def _warns(self, line: Line) -> bool:
        at_worst = (line._replace(level=level) in self._logged for level in WORSE)
        return line.level in WORSE if line.level else self._runs.warns(line) or any(at_worst)

    def _is_flood(self, place: Place, line: Line, rate: StockRate, found: Sequence[int]) -> bool:
        """Whether one run logs far more than base's jar ever did, there or, if it is rare there, of anything rare, and
        of the same by whichever client of a node.

        With few runs of base every run of the candidate must, and they must be three.
        """
        limit = max(rate.most, self._own.rate(place, line).most)
        if rate.seen < rate.runs:
            limit = max(
                limit,
                self._runs.bursts[self._warns(line)],
                self._runs.most_of_anyone(place, line),
                self._most_anywhere(line),
            )
        is_known = rate.runs >= LEAST_STOCK_RUNS
        enough = is_known or min(rate.runs, len(found)) >= LEAST_RUNS
        most = max(found) if is_known else min(found)
        return enough and most >= FLOOD_EVENTS and most > FLOOD_TIMES * limit

    def _most_anywhere(self, line: Line) -> int:
        return max(self._runs.anywhere(line).values(), default=0)

    def _beside_all(self, line: Line, rate: StockRate, found: Sequence[int]) -> StockRate:
        """Return the rate with what is said of all scenarios and nodes together."""
        most = self._most_anywhere(line)
        return replace(rate, unmatched=not most or max(found) > max(FLOOD_TIMES * most, FLOOD_EVENTS))

    def _is_chance(self, place: Place, line: Line, *, logs: bool) -> bool:
        """Whether so many runs of base's jar may well log this, or lack it, that no other run of it does (or lacks).

        What k of n runs show and none of N others: base's own runs tell how many such things there are, by those that
        were in just k of them (Good 1953), and one more, as the next may be the first.
        """
        own = {name: self._agreeing(name, line, logs=logs) for name in self._scope(place, line, logs=logs)}
        scope = frozenset(name for name, agreeing in own.items() if agreeing)
        agreeing, runs = sum(own.values()), len(self._runs.in_scope(scope))
        if agreeing < LEAST_RUNS or agreeing > runs:
            return True
        alike = self._runs.sizes(scope, self._warns(line))[agreeing if logs else runs - agreeing]
        # As many may fall on these of the candidate's runs, and these scenarios may be any of those that it ran.
        ways = comb(sum(len(self._of[name]) for name in scope), agreeing) * comb(len(own), len(scope))
        return (alike + 1) * ways >= MOST_FALSE[self._warns(line)] * comb(runs, agreeing)

    def _agreeing(self, scenario: str, line: Line, *, logs: bool) -> int:
        """Return how many of the candidate's runs of a scenario log a line, or lack it."""
        return sum((run in self._logged.get(line, {})) is logs for run in self._of[scenario])

    def _scope(self, place: Place, line: Line, *, logs: bool) -> frozenset[str]:
        """Return the scenarios that can show the same: where base's jar never logs it, or always does.

        What it never logs here but does elsewhere is asked here alone.
        """
        if logs:
            return frozenset({place.scenario}) if self._runs.anywhere(line) else self._runs.known & self._of.keys()
        logged = self._runs.logged(line).keys()
        return frozenset(name for name in self._runs.known & self._of.keys() if self._runs.of[name] <= logged)


def _lie_apart(low: Sequence[int], high: Sequence[int], stock_runs: int, most_false: float) -> bool:
    """Whether all of the candidate's runs lie on one side of all of base's jar, far off, and are enough for that."""
    runs = max(len(low), len(high))
    return _is_far_above(high, low) and runs >= LEAST_RUNS and comb(stock_runs + runs, runs) * most_false > 1


def _is_far_above(high: Sequence[int], low: Sequence[int]) -> bool:
    return min(high) > _APART * max(low) and min(high) - max(low) >= _APART_EVENTS


def _line(place: Place, key: Key, word: str) -> Line:
    return Line(place.node_role, key.level, key.logger, key.family, word)
