"""What is known of noise, run by run, and as the record that is shipped, grown and kept beside a verdict; pure.

A run is known by the digest of its journal, so that what is learned twice counts once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from harness.base.errors import HarnessError
from harness.kafka.release_lines import line_of
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.read.masks import masked_again
from harness.model.arms import ABSENT, RELEASE, Arm, Build, Role
from harness.model.node_logs import NodeLogs
from harness.model.runs import RunKey
from harness.model.stock_noise import SCHEMA, StockLine, StockNoise, StockPlace, StockRun

MOST_RUNS = 100  # of one scenario, plan, profile and Kafka: older ones make room

LearnedRuns = Mapping[StockRun, ObservedRun]


def can_stand_for(run: StockRun, build: Build) -> bool:
    """Whether a run shows what a build logs by chance: of the very jars, or both are releases of one line by Apache."""
    if run.jars_sha256:
        return run.jars_sha256 == digest_of_jars(build) or _are_releases(run, build)
    return not build.kafka.place and _stood_for_before(run, build)


def _stood_for_before(run: StockRun, build: Build) -> bool:
    """Whether an entry that names no jars may stand for what runs in Apache's Kafka: one version has one raft jar."""
    is_same = run.jar_sha256 == build.jar_sha256
    return is_same or (_are_releases(run, build) and run.kafka_version != build.kafka_version)


def _are_releases(run: StockRun, build: Build) -> bool:
    return run.released and is_apaches(build) and _line(run.kafka_version) == _line(build.kafka_version)


@lru_cache
def _line(version: str) -> str:
    return line_of(version).name


def is_apaches(build: Build) -> bool:
    """Whether a build is a release of Apache's as a whole, and not a distribution that somebody has."""
    return build.builder == RELEASE and not build.kafka.place


def digest_of_jars(build: Build) -> str:
    """Return the digest of the digests of all jars that a build's nodes run, empty where they are not recorded."""
    digests = sorted(build.jars.values()) if build.kafka.jars else []
    return sha256("\n".join(digests).encode()).hexdigest() if digests else ""


def runs_like(book: LearnedRuns, nodes: Sequence[NodeLogs], arm: Arm, other: Build | None = None) -> list[ObservedRun]:
    """Return what a book knows of runs like an arm's; with its flag set a jar is another.

    Runs of the version of `other`, another Kafka that the arm is compared with, count for that alone.
    """
    if arm.role is not Role.BASE and arm.flag != ABSENT:
        return []
    others = {other.kafka_version} - {arm.build.kafka_version} if other else set()
    own = [node for node in nodes if node.arm == arm.name]  # others may have repeats that this arm does not have
    topologies = {(node.scenario, topology_of(own, RunKey(node.scenario, arm.name, node.repeat))) for node in own}
    return [
        run
        for stock, run in book.items()
        if (stock.scenario, stock.topology) in topologies
        and can_stand_for(stock, arm.build)
        and stock.kafka_version not in others
    ]


def topology_of(nodes: Iterable[NodeLogs], run: RunKey) -> str:
    """Return how many nodes of each kind left logs in a run: `1 observer, 3 voter`."""
    kinds = Counter(node.node_role for node in nodes if RunKey(node.scenario, node.arm, node.repeat) == run)
    return ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))


def merged(books: Iterable[LearnedRuns]) -> LearnedRuns:
    """Return all runs of some books; of one scenario, plan, profile and Kafka the newest."""
    known = {run.id: (run, observed) for book in books for run, observed in book.items()}
    newest: dict[tuple[str, ...], list[tuple[StockRun, ObservedRun]]] = defaultdict(list)
    for run, observed in sorted(known.values(), key=lambda pair: (pair[0].day, pair[0].id), reverse=True):
        alike = run.scenario, run.plan, run.topology, run.profile, run.jar_sha256, run.jars_sha256
        newest[alike].append((run, observed))
    return dict(pair for pairs in newest.values() for pair in pairs[:MOST_RUNS])


def chosen(book: LearnedRuns, fits: Callable[[StockRun], bool]) -> LearnedRuns:
    """Return those runs of a book that fit."""
    return {run: observed for run, observed in book.items() if fits(run)}


def record_of_runs(line: str, book: LearnedRuns) -> StockNoise:
    """Return the record of a release line's runs: the same runs always make the same record."""
    runs = sorted(book, key=lambda run: (run.scenario, run.topology, run.profile, run.day, run.id))
    by_scenario: dict[str, list[StockRun]] = defaultdict(list)
    for run in runs:
        by_scenario[run.scenario].append(run)
    places = (place for name, own in by_scenario.items() for place in _places(name, own, book))
    return StockNoise(SCHEMA, line, tuple(runs), tuple(places))


def _places(scenario: str, runs: Sequence[StockRun], book: LearnedRuns) -> Iterable[StockPlace]:
    logged: dict[str, dict[Line, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    for number, run in enumerate(runs):
        for line, count in book[run].counts.items():
            logged[line.node_role][line][number] = count
    ids = tuple(run.id for run in runs)
    for node_role, lines in sorted(logged.items()):
        rows = (
            StockLine(line.level, line.logger, line.text, _written(counts, len(runs)), line.word)
            for line, counts in sorted(lines.items())
        )
        yield StockPlace(scenario, node_role, ids, tuple(rows))


def _written(counts: Mapping[int, int], runs: int) -> str:
    numbers = [str(counts.get(run, 0)) for run in range(runs)]
    return numbers[0] if len(set(numbers)) == 1 else " ".join(numbers)


def runs_of_record(record: StockNoise) -> LearnedRuns:
    """Return the runs of a record. Raises HarnessError for one whose parts do not fit together."""
    known = {run.id: run for run in record.runs}
    counts: dict[str, dict[Line, int]] = {run: {} for run in known}
    for place in record.places:
        for row in place.lines:
            line = Line(place.node_role, row.level, row.logger, masked_again(row.text), masked_again(row.word))
            for run, number in zip(place.runs, _read(row, len(place.runs)), strict=True):
                if run not in known or known[run].scenario != place.scenario:
                    raise HarnessError(f"It counts lines of the run {run[:12]}, of which it says nothing.")
                if number:
                    counts[run][line] = counts[run].get(line, 0) + number
    return {run: ObservedRun(run.scenario, counts[run.id]) for run in record.runs}


def _read(row: StockLine, runs: int) -> Sequence[int]:
    numbers = row.counts.split()
    if len(numbers) not in (1, runs) or not all(number.isascii() and number.isdecimal() for number in numbers):
        raise HarnessError(f"{row.counts[:80]!r} are no counts of {runs} runs.")
    return [int(number) for number in numbers] * (runs if len(numbers) == 1 else 1)
