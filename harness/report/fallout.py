"""Log differences that are only what an outcome looks like in the logs: they belong under that outcome; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.model.findings import WORSE, Contrast, Finding
from harness.model.verdict import CellState, VerdictRecord


@dataclass(frozen=True, slots=True)
class Cause:
    """A difference of outcomes between two arms, and the last phases of its scenario, where its fallout shows.

    `passed` is the arm that passed.
    """

    scenario: str
    phases: frozenset[str]
    passed: str
    sentence: str


def causes_of(record: VerdictRecord, contrast: Contrast, proving: Collection[tuple[str, str]]) -> tuple[Cause, ...]:
    """Return the scenarios whose outcomes differ between the arms of a contrast, one of them PASSED."""
    causes = []
    for scenario in record.scenarios:
        cells = {cell.arm: cell for cell in scenario.cells if cell.arm in (contrast.base, contrast.candidate)}
        passed = [arm for arm, cell in cells.items() if cell.state is CellState.PASSED]
        failed = [cell for cell in cells.values() if cell.state is CellState.FAILED]
        phases = frozenset(phase for name, phase in proving if name == scenario.name)
        if len(passed) == len(failed) == 1 and phases:
            sentence = f"{scenario.name}: {failed[0].arm} is {failed[0]}, {passed[0]} PASSED"
            causes.append(Cause(scenario.name, phases, passed[0], sentence))
    return tuple(causes)


def is_fallout(contrast: Contrast, alike: Sequence[Finding], cause: Cause) -> bool:
    """Return whether a difference is all in the last phase of a scenario that ended otherwise.

    A warning of which the arm that passed has more is none: it may be what that end was bought with.
    """
    if any(each.scenario != cause.scenario or each.phase not in cause.phases for each in alike):
        return False
    counts = {contrast.base: 0, contrast.candidate: 0}
    for each in alike:
        counts[contrast.base] += each.base_count
        counts[contrast.candidate] += each.candidate_count
    more_in_passed = counts[cause.passed] > sum(counts.values()) - counts[cause.passed]
    return not (more_in_passed and alike[0].level in WORSE)
