"""ERROR lines in logs that are not counted: of nodes that are stopped when the plan is over, and of runs made again.

Which node ends first is chance, and a run that did not come to its question went another way than the others, so that
these logs are compared with nothing. But an ERROR that base's jar has no statement for is never chance
(harness.judge.log_verdict), wherever it stands. So each ERROR there that no log of base has is a finding: of unknown
significance, since nothing but the jar's statements can make it weigh.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import polars as pl
import pyarrow as pa

from harness.base.text import visible
from harness.logs.compare.counts import Count
from harness.logs.compare.template_families import family, unordered
from harness.logs.read.blocks import LogFile, whole
from harness.logs.read.event_counts import Reading
from harness.logs.read.excerpts import excerpt
from harness.logs.read.layout import compile_layout
from harness.logs.read.library import Origins
from harness.logs.read.statements import Library
from harness.model.findings import Finding, FindingKind
from harness.model.node_logs import NodeLogs
from harness.model.runs import Evidence
from harness.model.spares import beyond, ended_by_known_crash
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder, shutdown_log

_ERROR = "ERROR"
_AT_THE_END = "stopped after the plan"
_MADE_AGAIN = "a run that was made again"
_MOST_BYTES = 64 * 2**20  # of one log: what a node logs as it stops is a thousandth of that


@dataclass(frozen=True, slots=True)
class ErrorAside:
    """One kind of line at ERROR in one log: which arm's node wrote it in which scenario and repeat, and how often.

    `when` says in words when that was, `template` is what is compared with other logs (`Count.key`), `place` the first.
    """

    arm: str
    scenario: str
    repeat: int
    node_kind: str
    when: str
    logger: str
    template: str
    count: int
    place: Evidence
    statement: str = ""


def errors_aside(
    directory: RunDirectory, known: Mapping[str, Library] = MappingProxyType({})
) -> tuple[ErrorAside, ...]:
    """Return the ERROR lines of a run directory's nodes while they were stopped, and of runs that spares stand for.

    `known` are the log statements of each arm's sources, to which they are traced.

    Of what ended by a crash that released jars have too nothing is read, since the crash is told by its ERROR.
    """
    declaration = directory.declaration.read_if_exists()
    if declaration is None:
        return ()
    declared = [each for each in directory.results() if declaration.declares(each)]
    again = {each.key for each in beyond(declaration, declared)}
    read = (each for each in declared if not ended_by_known_crash(each))
    origins = {arm: Origins(of_arm) for arm, of_arm in known.items()}
    return tuple(
        error
        for each in read
        for error in _of_run(
            directory.run(each.key), origins.get(each.arm, Origins(Library())), is_made_again=each.key in again
        )
    )


def _of_run(run: RunFolder, origins: Origins, *, is_made_again: bool) -> Iterator[ErrorAside]:
    for node in run.logs.read() if run.logs.exists else ():
        for file in node.files:
            yield from _errors(run.root, shutdown_log(file), node, _AT_THE_END, origins)
            if is_made_again:
                yield from _errors(run.root, file, node, _MADE_AGAIN, origins)


def _errors(root: Path, name: str, node: NodeLogs, when: str, origins: Origins) -> Iterator[ErrorAside]:
    """Yield what a log has at ERROR, read as logs that count are, so that the same line is the same in both."""
    if not (root / name).is_file():
        return
    with (root / name).open("rb") as log:
        content = log.read(_MOST_BYTES)
    if _ERROR.encode() not in content:
        return
    reading = Reading(compile_layout(node.pattern), (), node.names)
    rows = whole(pa.scalar(content, pa.binary()), LogFile(name, reading))
    errors = rows.filter(pl.col("logger") != "", part="event", level=_ERROR)
    for row in origins.with_origins(errors, reading).iter_rows(named=True):
        template, place = family(unordered(row["template"])), Evidence(name, row["line"] + 1, excerpt(row["excerpt"]))
        yield ErrorAside(
            node.arm,
            node.scenario,
            node.repeat,
            node.node_role,
            when,
            row["logger"],
            template,
            row["count"],
            place,
            row["statement"],
        )


def new_errors(base: str, candidate: str, aside: Sequence[ErrorAside], counts: Iterable[Count]) -> tuple[Finding, ...]:
    """Return a finding for each such line of a candidate that neither base logs anywhere, nor any log that counts."""
    known = {(each.logger, each.key) for each in counts if each.where.arm in (base, candidate)}
    known |= {(each.logger, each.template) for each in aside if each.arm == base}
    found: dict[tuple[str, ...], list[ErrorAside]] = defaultdict(list)
    for each in aside:
        if each.arm == candidate and (each.logger, each.template) not in known:
            found[each.scenario, each.node_kind, each.when, each.logger, each.template].append(each)
    return tuple(_finding(errors) for errors in found.values())


def _finding(errors: Sequence[ErrorAside]) -> Finding:
    first, runs = errors[0], Counter[int]()
    for each in errors:
        runs[each.repeat] += each.count
    return Finding(
        kind=FindingKind.NEW,
        template=excerpt(first.template),
        scenario=first.scenario,
        node_kind=first.node_kind,
        phase=first.when,
        level=_ERROR,
        logger=visible(first.logger),
        base_count=0,
        candidate_count=runs.total(),
        base_excerpt="",
        candidate_excerpt=first.place.excerpt,
        evidence=(first.place,),
        base_runs=(0,) * len(runs),
        candidate_runs=tuple(count for _, count in sorted(runs.items())),
        statement=first.statement,
    )
