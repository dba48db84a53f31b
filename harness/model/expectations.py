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
    """A cell with what was expected of it."""

    scenario: str
    arm: str
    expected: str
    shown: str
    met: Met

    def __str__(self) -> str:
        wanted = f", not {self.expected}" if self.met is not Met.EXPECTED else ""
        return f"{self.scenario} on {self.arm}: {self.shown}{wanted}: {self.met}"


@dataclass(frozen=True, slots=True)
class Expectations:
    """Every cell, and the answer over all: one that is unexpected outweighs one that is undecided."""

    answer: Met
    cells: tuple[MetCell, ...]

    @property
    def met(self) -> int:
        """How many cells show what is expected."""
        return sum(cell.met is Met.EXPECTED for cell in self.cells)
