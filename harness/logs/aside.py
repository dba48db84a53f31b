"""ERROR lines in logs that are not counted: of nodes that are stopped when the plan is over, and of runs made again.

Which node ends first is chance, and a run that did not come to its question went another way than the others, so that
these logs are compared with nothing. But an ERROR that base's jar has no statement for is never chance
(harness.judge.log_verdict), wherever it stands. So each ERROR there that no log of base has is a finding: of unknown
significance, since nothing but the jar's statements can make it weigh.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from harness.base.tails import beginnings
from harness.base.text import visible
from harness.logs.compare.counts import Count
from harness.logs.compare.template_families import unordered
from harness.logs.read.excerpts import excerpt
from harness.logs.read.layout import compile_layout
from harness.logs.read.masks import template_of
from harness.model.findings import Finding, FindingKind
from harness.model.node_logs import NodeLogs
from harness.model.runs import Evidence
from harness.model.spares import beyond, ended_by_known_crash
from harness.rundir.directory import RunDirectory
from harness.rundir.parts import RunFolder, shutdown_log

_ERROR = "ERROR"
_AT_THE_END = "stopped after the plan"
_MADE_AGAIN = "a run that was made again"
_LONGEST_LINE = 64 * 1024
_MOST_ERRORS = 2000  # of one log


@dataclass(frozen=True, slots=True)
class ErrorAside:
    """One line at ERROR: which arm's node wrote it in which scenario and repeat, and `when` that was, in words."""

    arm: str
    scenario: str
    repeat: int
    node_kind: str
    when: str
    logger: str
    template: str
    place: Evidence


def errors_aside(directory: RunDirectory) -> tuple[ErrorAside, ...]:
    """Return the ERROR lines of a run directory's nodes while they were stopped, and of runs that spares stand for.

    Of what ended by a crash that released jars have too nothing is read, since the crash is told by its ERROR.
    """
    declaration = directory.declaration.read_if_exists()
    if declaration is None:
        return ()
    declared = [each for each in directory.results() if declaration.declares(each)]
    again = {each.key for each in beyond(declaration, declared)}
    read = (each for each in declared if not ended_by_known_crash(each))
    return tuple(error for each in read for error in _of_run(directory.run(each.key), is_made_again=each.key in again))


def _of_run(run: RunFolder, *, is_made_again: bool) -> Iterator[ErrorAside]:
    for node in run.logs.read() if run.logs.exists else ():
        for file in node.files:
            yield from _errors(run.root, shutdown_log(file), node, _AT_THE_END)
            if is_made_again:
                yield from _errors(run.root, file, node, _MADE_AGAIN)


def _errors(root: Path, name: str, node: NodeLogs, when: str) -> Iterator[ErrorAside]:
    """Yield the lines at ERROR of a log, the first of them if there are many; nothing where there is none."""
    if (root / name).is_file():
        yield from islice(_errors_in(root, name, node, when), _MOST_ERRORS)


def _errors_in(root: Path, name: str, node: NodeLogs, when: str) -> Iterator[ErrorAside]:
    event = re.compile(compile_layout(node.pattern).event)
    for number, line in beginnings(root / name, most=_LONGEST_LINE):
        text = line.decode("utf-8", "replace")
        found = event.match(text) if _ERROR in text else None
        fields = found.groupdict() if found else {}
        if fields.get("level") == _ERROR and (logger := fields.get("logger")):
            template = unordered(_masked(fields["message"]))
            place = Evidence(name, number, excerpt(text))
            yield ErrorAside(node.arm, node.scenario, node.repeat, node.node_role, when, logger, template, place)


@lru_cache(1 << 12)
def _masked(message: str) -> str:
    return template_of(message)


def new_errors(base: str, candidate: str, aside: Sequence[ErrorAside], counts: Iterable[Count]) -> tuple[Finding, ...]:
    """Return a finding for each such line of a candidate that neither base logs anywhere, nor any log that counts."""
    known = {(each.logger, each.template) for each in counts if each.where.arm in (base, candidate)}
    known |= {(each.logger, each.template) for each in aside if each.arm == base}
    found: dict[tuple[str, ...], list[ErrorAside]] = defaultdict(list)
    for each in aside:
        if each.arm == candidate and (each.logger, each.template) not in known:
            found[each.scenario, each.node_kind, each.when, each.logger, each.template].append(each)
    return tuple(_finding(errors) for errors in found.values())


def _finding(errors: Sequence[ErrorAside]) -> Finding:
    first, runs = errors[0], Counter(each.repeat for each in errors)
    return Finding(
        kind=FindingKind.NEW,
        template=excerpt(first.template),
        scenario=first.scenario,
        node_kind=first.node_kind,
        phase=first.when,
        level=_ERROR,
        logger=visible(first.logger),
        base_count=0,
        candidate_count=len(errors),
        base_excerpt="",
        candidate_excerpt=first.place.excerpt,
        evidence=(first.place,),
        base_runs=(0,) * len(runs),
        candidate_runs=tuple(count for _, count in sorted(runs.items())),
    )
