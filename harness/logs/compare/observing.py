"""From the counts of many runs to what each of them logged, and to what base's jar logs by chance; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from harness.logs.compare.counts import Count
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.stock import Stock
from harness.logs.compare.stock_runs import StockRuns
from harness.logs.compare.values import word_counts


def observe(counts: Sequence[Count]) -> dict[tuple[str, str, int], ObservedRun]:
    """Return what each run logged, by arm, scenario and repeat."""
    runs: dict[tuple[str, str, int], dict[Line, int]] = defaultdict(lambda: defaultdict(int))
    for count, line in _lines(counts):
        where = count.where
        runs[where.arm, where.scenario, where.repeat][line] += count.count
    return {key: ObservedRun(key[1], dict(lines)) for key, lines in runs.items()}


def stocks(
    counts: Sequence[Count],
    contrasts: Iterable[tuple[str, str]],
    base_runs: Mapping[str, Sequence[ObservedRun]],
    own_runs: Mapping[str, Sequence[ObservedRun]] = MappingProxyType({}),
) -> dict[tuple[str, str], Stock]:
    """Return by what each candidate is judged; `base_runs` are known of the arms of base from before, `own_runs` of
    those of another Kafka, in base's words.

    A contrast with any other arm is not among them.
    """
    runs = observe(counts) if base_runs else {}
    of = {
        arm: [run for (name, *_), run in sorted(runs.items(), key=lambda pair: pair[0]) if name == arm]
        for arm, *_ in runs
    }
    known = {base: StockRuns(before, of.get(base, ())) for base, before in base_runs.items()}
    return {
        (base, other): Stock(known[base], of.get(other, ()), own_runs.get(other, ()))
        for base, other in contrasts
        if base in known
    }


def _lines(counts: Sequence[Count]) -> Iterable[tuple[Count, Line]]:
    for count in counts:
        yield count, Line(count.where.node_role, count.level, count.logger, count.key)
    for count, slot, word in word_counts(counts):
        yield count, Line(count.where.node_role, count.level, slot.logger, slot.text, word)
