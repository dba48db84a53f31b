"""What a patch claims, and what each role must show for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.base.json_schema import Text
from harness.model.arms import Role
from harness.model.runs import Outcome


@dataclass(frozen=True, slots=True)
class Expected:
    """What a claim says of one role: PASSED, or FAILED with the name of the expectation."""

    outcome: Outcome
    expectation: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}({self.expectation})" if self.expectation else str(self.outcome)


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence (`text`) of the patch's description, and what it says each role shows in a scenario.

    `source` is where the sentence is implemented (`path: method`), as text. `limits` are figures of the candidate's
    runs of that scenario by name, with the most that each may be.
    """

    id: Text
    text: str
    scenario: str
    expected: Mapping[Role, Expected]
    source: str = ""
    limits: Mapping[str, float] = field(default_factory=dict)
