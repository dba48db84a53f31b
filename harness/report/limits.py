"""How much a page shows of what grows without bound, and how it is kept within its size.

What is not shown is counted, and the page says where the rest is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

BUDGET_BYTES = 2_000_000  # of a page


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is shown: log findings of a contrast, runs with pictures and scenarios with a table of costs, steps
    of a run, characters of a text, files of evidence, and rows of any other list or table.
    """

    findings: int = 40
    timelines: int = 24
    steps: int = 80
    text: int = 700
    evidence: int = 400
    rows: int = 200

    def halved(self) -> Limits:
        """Return limits that make a smaller page; of the smallest the same."""
        half = (self.findings // 2, self.timelines // 2, self.steps // 2)
        return Limits(*half, max(self.text // 2, 80), self.evidence // 2, max(self.rows // 2, 5))


def within_budget(render: Callable[[Limits], str], limits: Limits = Limits(), budget: int = BUDGET_BYTES) -> str:
    """Return a page of no more than `budget` bytes: as it is within `limits`, or within the largest halves that fit."""
    while len((page := render(limits)).encode()) > budget and limits.halved() != limits:
        limits = limits.halved()
    return page


def beyond(items: Sized, most: int) -> int:
    """Return how many of so many are not shown."""
    return max(len(items) - most, 0)


def kept(items: Sequence[T], most: int, is_odd: Callable[[T], bool]) -> tuple[T, ...]:
    """Return so many items in the order that they have; those that are odd are kept before others."""
    chosen = sorted(range(len(items)), key=lambda at: not is_odd(items[at]))[:most]
    return tuple(items[at] for at in sorted(chosen))
