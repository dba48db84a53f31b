"""What Kafka as it is shows of a scenario: it passes, unless it is known to fail, by name and up to a release; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.kafka.versions import order_of

PASSED = "PASSED"
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RELEASE = re.compile(r"\d+(\.\d+)+")


@dataclass(frozen=True, slots=True)
class StockFailure:
    """An expectation that Kafka as it is does not meet; `known` is where that defect is described.

    Releases from `before` on meet it; empty where none does.
    """

    expectation: str
    known: str = ""
    before: str = ""

    @property
    def label(self) -> str:
        """The outcome as it is written."""
        return f"FAILED({self.expectation})"

    def is_of(self, version: str) -> bool:
        """Whether a Kafka of this version has the defect."""
        return not self.before or order_of(version) < order_of(self.before)


def fails(expectation: str, *, known: str = "", before: str = "") -> StockFailure:
    """Say that stock fails an expectation: as a ticket or a page of docs/ that is `known` says, and up to a release."""
    if not _NAME.fullmatch(expectation):
        raise ValueError(f"{expectation!r} is nothing that stock can fail: write the name of an expectation")
    if before and not _RELEASE.fullmatch(before):
        raise ValueError(f"{before!r} is no release: write the first one that does not fail, such as 4.2")
    return StockFailure(expectation, known, before)
