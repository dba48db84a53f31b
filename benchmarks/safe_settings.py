"""What safe settings cost where networks split: a table of ledgers that were kept beside each other in the same runs.

    harness verify --arms base --claims none --repeats 3 --scenario leader-cuts --out out/settings
    python benchmarks/safe_settings.py out/settings [SCENARIO]

A column for each promise (acks=1; acks=all, which min.insync.replicas=2 goes with), from the entries of the runs'
ledgers. Refused writes are those that clients gave up, and those of the plan's own offers that a broker refused: it
offers records to one broker alone, whoever leads. Several runs give the median, with the lowest and the highest.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles

from harness.model.events import ClientSettled, Event, Noted
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import events_of, read_journal
from harness.rundir.parts import RunFolder

SCENARIO = "leader-cuts"
LEDGER = "records in a ledger, "
# What `offer` notes of each of its answers.
OFFERED = re.compile(
    r"of (?P<records>\d+) records for “[^”]*” with acks=(?P<acks>\w+), "
    r"broker \d+ took (?P<taken>\d+)(?:, then answered (?P<refusal>\w+))?"
)


@dataclass(slots=True)
class Kept:
    """What the entries of one ledger come to; times in seconds."""

    sent: dict[int, float] = field(default_factory=dict)
    acknowledged: dict[int, float] = field(default_factory=dict)
    given_up: Counter[str] = field(default_factory=Counter)
    stored: set[int] = field(default_factory=set)
    answers: defaultdict[int, list[float]] = field(default_factory=lambda: defaultdict(list))  # by partition

    @property
    def lost(self) -> int:
        return len(self.acknowledged.keys() - self.stored)

    @property
    def latencies_ms(self) -> list[float]:
        return [1000 * (at - self.sent[number]) for number, at in self.acknowledged.items() if number in self.sent]

    @property
    def longest_silence(self) -> float:
        """How long at most a partition that is written to all the time answered nothing."""
        ends = self.sent.values()
        waits = (gap for at in self.answers.values() for gap in _gaps([min(ends), *at, max(ends)]))
        return max(waits, default=0.0)

    @property
    def silent_share(self) -> float:
        """In which share of the seconds nothing at all was acknowledged."""
        lasted = range(int(min(self.sent.values())), int(max(self.sent.values())))
        answered = {int(at) for at in self.acknowledged.values()}
        return sum(second not in answered for second in lasted) / len(lasted) if lasted else 0.0


def _gaps(times: Sequence[float]) -> Iterable[float]:
    return (later - earlier for earlier, later in pairwise(times))


def kept_of(lines: Iterable[str]) -> Kept:
    """Return what the lines of a ledger's file come to (docs/faults.md has the letters)."""
    kept = Kept()
    for line in lines:
        letter, at, *rest = line.rstrip("\n").split("\t")
        match letter:
            case "S":
                kept.sent[int(rest[0])] = float(at)
            case "A":
                kept.acknowledged[int(rest[0])] = float(at)
                kept.answers[int(rest[1])].append(float(at))
            case "E":
                kept.given_up[rest[1]] += 1
            case "L":
                kept.stored.add(int(rest[2]))
    return kept


def offers_of(events: Iterable[Event]) -> dict[str, Counter[str]]:
    """Return by acks how many offered records were `taken`, and how many offers ended with which refusal."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for event in events:
        said = OFFERED.fullmatch(event.text) if isinstance(event, Noted) else None
        if said:
            found[said["acks"]]["taken"] += int(said["taken"])
            if said["refusal"]:
                found[said["acks"]][said["refusal"]] += 1
    return found


@dataclass(frozen=True, slots=True)
class Column:
    """One promise in one run."""

    promise: str
    kept: Kept
    offers: Mapping[str, int]

    @property
    def acks(self) -> str:
        return self.promise.partition("acks=")[2].partition(",")[0]


def columns_of(run: RunFolder) -> list[Column]:
    """Return a column for each ledger of a run, those of few promises first."""
    events = list(events_of(read_journal(run.journal)))
    offers, found = offers_of(events), []
    for event in events:
        if isinstance(event, ClientSettled) and event.report.description.startswith(LEDGER):
            with run.ledger(event.report.name).open(encoding="ascii") as lines:
                kept = kept_of(lines)
            promise = event.report.description.removeprefix(LEDGER)
            found.append(Column(promise, kept, offers.get(promise.partition("acks=")[2].partition(",")[0], {})))
    return sorted(found, key=lambda column: column.promise)


def _percentile(values: Sequence[float], percent: int) -> float:
    return quantiles(values, n=100)[percent - 1] if len(values) > 1 else max(values, default=0.0)


ROWS: Mapping[str, Callable[[Column], float]] = {
    "sent": lambda column: len(column.kept.sent),
    "acknowledged": lambda column: len(column.kept.acknowledged),
    "lost": lambda column: column.kept.lost,
    "given up by the client": lambda column: column.kept.given_up.total(),
    "an answer takes, ms: median": lambda column: median(column.kept.latencies_ms),
    "99th percentile": lambda column: _percentile(column.kept.latencies_ms, 99),
    "longest": lambda column: max(column.kept.latencies_ms),
    "longest time without an answer from a partition, s": lambda column: column.kept.longest_silence,
    "seconds without any acknowledgement, %": lambda column: 100 * column.kept.silent_share,
    "offered to one broker alone: taken": lambda column: column.offers.get("taken", 0),
}


def table(runs: Sequence[Sequence[Column]]) -> str:
    """Return the table of Markdown; all runs have the same promises."""
    promises = [column.promise for column in runs[0]]
    of = {promise: [column for run in runs for column in run if column.promise == promise] for promise in promises}
    refusals = sorted({error for run in runs for column in run for error in column.offers} - {"taken"})
    rows = {**ROWS, **{f"refused, {error}": _counting(error) for error in refusals}}
    lines = [f"| {len(runs)} runs | {' | '.join(promises)} |", "|---" * (len(promises) + 1) + "|"]
    for name, figure in rows.items():
        lines.append(f"| {name} | {' | '.join(_shown([figure(each) for each in of[one]]) for one in promises)} |")
    return "\n".join(lines)


def _counting(error: str) -> Callable[[Column], float]:
    return lambda column: column.offers.get(error, 0)


def _shown(values: Sequence[float]) -> str:
    middle, low, high = (_number(value) for value in (median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def main() -> None:
    folder, scenario = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else SCENARIO
    runs = [
        columns for run in RunDirectory(folder).runs() if run.key.scenario == scenario if (columns := columns_of(run))
    ]
    if not runs:
        raise SystemExit(f"{folder} has no run of {scenario} with a ledger.")
    print(table(runs))


if __name__ == "__main__":
    main()
