"""What a verification without a candidate comes to: whether Kafka as it is shows what the scenarios say of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Met(StrEnum):
    """How a cell, or all together, compares with what scenarios expect of stock."""

    EXPECTED = "EXPECTED"
    UNEXPECTED = "UNEXPECTED"
    UNDECIDED = "UNDECIDED"  # nobody could tell

    @property
    def exit_code(self) -> int:
        """Process exit code, as a verdict of the same weight has it."""
        return {Met.EXPECTED: 0, Met.UNEXPECTED: 1, Met.UNDECIDED: 3}[self]


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


@dataclass(frozen=True, slots=True)
class Expectations:
    """Every cell, and the answer over all: one that is unexpected outweighs one that is undecided."""

    answer: Met
    cells: tuple[MetCell, ...]

    @property
    def met(self) -> int:
        """How many cells show what is expected."""
        return sum(cell.met is Met.EXPECTED for cell in self.cells)

    def cell(self, scenario: str, arm: str) -> MetCell | None:
        """Return the cell of a scenario and an arm, if there is one."""
        return next((each for each in self.cells if (each.scenario, each.arm) == (scenario, arm)), None)
