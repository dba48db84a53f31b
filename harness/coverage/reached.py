"""Changed lines and methods against those that ran: pure, but for reading the texts of the lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from harness.coverage.changes import JAVA_SOURCES, ChangedLines
from harness.coverage.jacoco import LineHits, MethodName
from harness.model.outcome_names import NODE_ALIVE
from harness.model.proof import ReachedLine, ReachedMethod
from harness.model.runs import RunResult
from harness.model.spares import was_spoiled_by_host

_LONGEST_TEXT = 300
_END_OF_LINE = re.compile(r"\r\n|\r|\n")


def reached_lines(
    changed: ChangedLines, hits: Mapping[str, LineHits], texts: Mapping[str, Sequence[str]]
) -> tuple[ReachedLine, ...]:
    """Return the changed lines that hold instructions, by path and line; `hits` are by scenario.

    Paths of `changed` may be those of the source tree; those of `hits` begin with the package. `texts` are the lines
    of source files, by the path in `changed`.
    """
    return tuple(
        ReachedLine(path, line, _text(texts.get(path, ()), line), scenarios)
        for path, lines in sorted(changed.items())
        for line in sorted(lines)
        if (scenarios := _scenarios(path.removeprefix(f"{JAVA_SOURCES}/"), line, hits)) is not None
    )


def reached_methods(
    changed: Iterable[MethodName], hits: Mapping[str, Mapping[MethodName, bool]]
) -> tuple[ReachedMethod, ...]:
    """Return the changed methods with the scenarios that entered them; `hits` are by scenario.

    What the compiler made without a line of its own, such as a bridge, is not counted by JaCoCo and left out.
    """
    return tuple(
        ReachedMethod(*method, tuple(sorted(scenario for scenario, found in hits.items() if found.get(method))))
        for method in sorted(changed)
        if any(method in found for found in hits.values())
    )


def _scenarios(file: str, line: int, hits: Mapping[str, LineHits]) -> tuple[str, ...] | None:
    """Return which scenarios ran a line; None for one without instructions, such as a comment."""
    ran = {scenario: found[file][line] for scenario, found in hits.items() if line in found.get(file, {})}
    return tuple(sorted(scenario for scenario, it_did in ran.items() if it_did)) if ran else None


def _text(lines: Sequence[str], line: int) -> str:
    return lines[line - 1].strip()[:_LONGEST_TEXT] if line <= len(lines) else ""


def gap_in(results: Sequence[RunResult], without_data: Sequence[str]) -> str:
    """Return in a sentence which scenarios may have run more than is known; empty when none. Pure."""
    gaps = [f"{name} gave no execution data" for name in without_data]
    cut_short = [result for result in results if is_cut_short(result) and result.scenario not in without_data]
    gaps += [f"{result.scenario} ended {result.label}" for result in cut_short]
    return f"{'; '.join(gaps)}: what else it would have reached is not known." if gaps else ""


def is_cut_short(result: RunResult) -> bool:
    """Whether a run did not get to its end, or a JVM ended without a chance to send what it had run.

    One whose processes the host let wait goes on to its end: it says nothing of the build, and all that it reached.
    """
    if was_spoiled_by_host(result):
        return bool(result.unasked)
    return not result.outcome.is_decided or result.expectation == NODE_ALIVE


def read_texts(sources: Path, paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the lines of those source files that are there, by path; the tree is one that a build has kept."""
    files = {path: sources / path for path in paths}
    return {path: _lines_of(file) for path, file in files.items() if file.is_file()}


def _lines_of(file: Path) -> tuple[str, ...]:
    return tuple(_END_OF_LINE.split(file.read_text(encoding="utf-8", errors="replace")))


def in_tree(changed: ChangedLines, sources: Path) -> ChangedLines:
    """Return changed lines with the paths of the tree of sources, where it has the file."""
    return {_place(path, sources): lines for path, lines in changed.items()}


def _place(path: str, sources: Path) -> str:
    placed = f"{JAVA_SOURCES}/{path}"
    return placed if (sources / placed).is_file() else path
