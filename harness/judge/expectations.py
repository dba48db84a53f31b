"""Whether Kafka as it is shows what the scenarios say of it: what a verification without a candidate reports; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from harness.model.declaration import Declaration, DeclaredScenario
from harness.model.runs import Verdict
from harness.model.verdict import CellOutcome, CellState, VerdictRecord

_DECIDED = (CellState.PASSED, CellState.FAILED, CellState.UNSTABLE)


class Met(StrEnum):
    """How a cell compares with what its scenario expects of stock."""

    EXPECTED = "EXPECTED"
    UNEXPECTED = "UNEXPECTED"
    UNDECIDED = "UNDECIDED"  # nobody could tell


_EXIT = {Met.EXPECTED: Verdict.SHIP, Met.UNEXPECTED: Verdict.HOLD, Met.UNDECIDED: Verdict.INCONCLUSIVE}


@dataclass(frozen=True, slots=True)
class MetCell:
    """A cell with what was expected of it; `known` is where the defect is described that is expected to show."""

    scenario: str
    arm: str
    expected: str
    shown: str
    met: Met
    known: str = ""

    @property
    def wanted(self) -> str:
        """What was expected, and where it is described."""
        return f"{self.expected}, known: {self.known}" if self.known else self.expected

    def __str__(self) -> str:
        wanted = f", not {self.wanted}" if self.met is not Met.EXPECTED else ""
        known = f" (known: {self.known})" if self.known and self.met is Met.EXPECTED else ""
        return f"{self.scenario} on {self.arm}: {self.shown}{known}{wanted}: {self.met}"


def met_by(expected: str, cell: CellOutcome) -> Met:
    """Return how a cell compares with an outcome as it is written (`PASSED`, `FAILED(nothing_lost)`)."""
    if str(cell) == expected:
        return Met.EXPECTED
    return Met.UNEXPECTED if cell.state in _DECIDED else Met.UNDECIDED


def met_cells(declaration: Declaration, record: VerdictRecord) -> tuple[MetCell, ...]:
    """Return every cell of a verification without a candidate; none where there is one."""
    if declaration.candidate:
        return ()
    declared = {scenario.name: scenario for scenario in declaration.scenarios}
    return tuple(
        _met_cell(declared[scenario.name], cell.arm, cell)
        for scenario in record.scenarios
        for cell in scenario.cells
        if any(arm.name == cell.arm for arm in declaration.arms)
    )


def _met_cell(declared: DeclaredScenario, arm: str, cell: CellOutcome) -> MetCell:
    met = met_by(declared.expected, cell)
    return MetCell(declared.name, arm, declared.expected, str(cell), met, declared.known)


def all_met(cells: Iterable[MetCell]) -> Met:
    """Return the answer over all cells: one that is unexpected outweighs one that is undecided."""
    found = {cell.met for cell in cells} or {Met.UNDECIDED}
    return next(met for met in (Met.UNEXPECTED, Met.UNDECIDED, Met.EXPECTED) if met in found)


def exit_code(met: Met) -> int:
    """Return a process's exit code, as a verdict of the same weight has it."""
    return _EXIT[met].exit_code
