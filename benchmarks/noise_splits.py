"""Is anything held back for what base's jar logs by chance, and what would be? Splits of real runs of one jar.

    python benchmarks/noise_splits.py RUN_DIR … [--splits 300] [--repeats 1]
    python benchmarks/noise_splits.py --shipped 3.9 [--splits 300] [--repeats 1]

RUN_DIRs are verifications whose logs were compared. With --shipped the runs are those that the noise of a release line
was learned from (builds/noise), and no folder is needed: of them is known how often each logged what, but not in which
phase or with which values. Runs of base's jar are shared out at random, scenario by scenario: some are base, as many
the candidate, and from the rest noise is learned. Every HOLD is a false one. Then one change is put into the
candidate's counts, another in each split: what of it is noticed, is printed by kind and size.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.judge.log_verdict import reasons_of_logs
from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.observing import observe, stocks
from harness.logs.count_cache import cached_counts, run_folder
from harness.logs.learning import base_arms
from harness.logs.log_diff import counts_of, node_logs
from harness.logs.log_lengths import exposures
from harness.logs.noise_book import runs_of_record
from harness.logs.noise_store import shipped_noise
from harness.model.runs import Outcome, Verdict
from harness.model.verdict import CellName, CellOutcome, CellState
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import noise_file

SEED = 20261123
BASE, CANDIDATE = "base", "candidate"


@dataclass(frozen=True)
class Run:
    """One run of base's jar: its counts, how long its phases were, what it was in words for learning."""

    scenario: str
    counts: Sequence[Count]
    seconds: Mapping[Where, float]
    observed: ObservedRun
    day: str


@dataclass(frozen=True)
class Change:
    """Something put into the candidate's counts, by what it is called and how large it is."""

    kind: str
    size: int
    make: Callable[[list[Count], random.Random, int], list[Count]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--shipped", metavar="LINE", help="the runs that a release line's noise was learned from: 3.9")
    parser.add_argument("--splits", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--changes", type=int, default=60, help="splits that are asked once more for each change")
    options = parser.parse_args()
    if bool(options.folders) is bool(options.shipped):
        parser.error("name run directories, or --shipped LINE")
    runs = (
        [*shipped(options.shipped)] if options.shipped else [run for each in options.folders for run in runs_of(each)]
    )
    of: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        of[run.scenario].append(run)
    print({name: len(each) for name, each in of.items()}, flush=True)
    held, told = 0, Counter()
    noticed: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for split in range(options.splits):
        chance = random.Random(SEED + split)
        parts = {name: chance.sample(each, len(each)) for name, each in of.items()}
        reasons, significances = judged(parts, options.repeats)
        held += bool(reasons)
        told += significances
        for reason in reasons:
            print(f"split {split}: {reason}", flush=True)
        if split < options.changes:
            for change in CHANGES:
                found, _ = judged(parts, options.repeats, change, chance)
                noticed[change.kind, change.size].append(bool(found))
    print(f"{held} of {options.splits} splits held back; findings by significance: {dict(told)}")
    for (kind, size), each in noticed.items():
        print(f"{kind}, {size}: noticed in {sum(each)} of {len(each)}")


def runs_of(folder: Path) -> Iterable[Run]:
    """Yield the decided runs of base's jar in a run directory, from the counts that its log diff left."""
    directory = RunDirectory(folder)
    arms = {arm.name for arm in base_arms(directory.declaration.read(), directory.setup.read())}
    nodes = [node for node in node_logs(directory) if node.arm in arms]
    names = [name for node in nodes for name in node.files]
    counted = cached_counts(run_folder(directory.logs, folder.resolve().name), nodes, names)
    files = {name: log.counts for name, log in counted.items()}
    for result in directory.results():
        if result.arm in arms and result.outcome.is_decided:
            own = [
                node
                for node in nodes
                if (node.scenario, node.arm, node.repeat) == (result.scenario, result.arm, result.repeat)
            ]
            counts = list(counts_of(own, files))
            (observed,) = observe(counts).values()
            yield Run(result.scenario, counts, exposures(own, files), observed, folder.name)


def shipped(line: str) -> Iterable[Run]:
    """Yield the decided runs that a release line's noise was learned from: each kind of node is one, in one phase."""
    for stock, observed in runs_of_record(noise_file(shipped_noise(line)).read()).items():
        if stock.outcome.startswith((Outcome.PASSED, Outcome.FAILED)):
            counts = [counted(stock.scenario, each, times) for each, times in observed.counts.items() if not each.word]
            (known,) = observe(counts).values()
            seconds = {count.where: 1.0 for count in counts}
            yield Run(stock.scenario, counts, seconds, known, stock.day)


def counted(scenario: str, line: Line, times: int) -> Count:
    where = Where("", scenario, line.node_role, "all of it")
    return Count(where, line.level, line.logger, line.text, times, "", 0, line.text, before_end=True)


def judged(
    parts: Mapping[str, Sequence[Run]], repeats: int, change: Change | None = None, chance: random.Random | None = None
) -> tuple[list[str], Counter[str]]:
    """Return why the candidate would be held back, and how many findings are beyond the noise, within it, unknown."""
    counts: list[Count] = []
    seconds: dict[Where, float] = {}
    learned: list[ObservedRun] = []
    where = sorted(parts)
    planted = chance.choice(where) if chance else ""
    for name, runs in parts.items():
        learned += [run.observed for run in runs[2 * repeats :]]
        for number, run in enumerate(runs[: 2 * repeats]):
            arm, repeat = (BASE, number + 1) if number < repeats else (CANDIDATE, number - repeats + 1)
            own = [replace(count, where=replace(count.where, arm=arm, repeat=repeat)) for count in run.counts]
            if arm == CANDIDATE and change and chance and (name == planted or change.kind.endswith("each scenario")):
                own = change.make(own, chance, change.size)
            counts += own
            seconds |= {replace(place, arm=arm, repeat=repeat): length for place, length in run.seconds.items()}
    stock = stocks(counts, [(BASE, CANDIDATE)], {BASE: learned})
    found = contrast(BASE, CANDIDATE, counts, seconds, None, stock[BASE, CANDIDATE])
    cells = {CellName(name, arm): CellOutcome(CellState.PASSED) for name in parts for arm in (BASE, CANDIDATE)}
    reasons = reasons_of_logs([(BASE, CANDIDATE)], "", [found], None, cells)
    return (
        [reason.sentence for reason in reasons if reason.weight is Verdict.HOLD],
        Counter(finding.significance.value for finding in found.findings),
    )


def add_error(own: list[Count], chance: random.Random, size: int) -> list[Count]:
    """Log an error so often at one voter that nobody has logged before."""
    like = chance.choice([count for count in own if count.where.node_role == "voter" and count.where.phase])
    error = {"level": "ERROR", "logger": "org.apache.kafka.raft.KafkaRaftClient", "count": size}
    text = "[RaftManager id=<n>] Cannot append the record to the quorum"
    return [*own, replace(like, template=text, family=text, wording="", values=(), statement="", **error)]


def multiply_warning(own: list[Count], chance: random.Random, size: int) -> list[Count]:
    """Log a warning that base's jar knows so many times as often."""
    warnings = sorted({(count.logger, count.key) for count in own if count.level == "WARN"})
    chosen = chance.choice(warnings)
    return [replace(c, count=c.count * size) if (c.logger, c.key) == chosen else c for c in own]


CHANGES = (
    *(Change("times a new error in one scenario", size, add_error) for size in (1, 10, 20, 40)),
    *(Change("times a new error in each scenario", size, add_error) for size in (1,)),
    *(Change("times as often a known warning", size, multiply_warning) for size in (2, 5, 10, 20)),
)

if __name__ == "__main__":
    main()
