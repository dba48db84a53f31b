"""Jars that are wrong on purpose: what must notice each, and what did; frozen records, no I/O."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class Part(StrEnum):
    """What can be left out, to see what the rest would notice."""

    PROOF = "proof"  # the jar's differences and its source
    TESTS = "tests"  # JUnit


class Ground(StrEnum):
    """What a mutant is a patch of."""

    STOCK = "stock"  # the released raft module
    SERIES = "series"  # the shipped series


@dataclass(frozen=True, slots=True)
class Expected:
    """What must notice a mutant, written before it is run.

    `why` says it in a sentence; `by` are stages (`tests`, `costs`), or expectations and invariants by name.
    `scenario` is where live clusters must show it: it is run first. `unreachable` says why they alone cannot,
    `survives` why nothing can. All but the first two are mostly empty.
    """

    why: str = ""
    by: tuple[str, ...] = ()
    scenario: str = ""
    unreachable: str = ""
    survives: str = ""

    def excuse(self, without: Collection[Part]) -> str:
        """Return the reason why the mutant may survive when parts are left out; empty when it may not."""
        return self.survives or (self.unreachable if {*without} >= {*Part} else "")


@dataclass(frozen=True, slots=True)
class Caught:
    """What noticed a mutant: the stage, the first thing it said, and the scenario where that was seen, if any."""

    stage: str
    said: str
    scenario: str = ""


@dataclass(frozen=True, slots=True)
class DetectionKey:
    """What a detection is worth something for: the jar, and the rules by which runs are made and judged, as digests."""

    jar: str
    making: str
    judging: str
    scenarios: tuple[str, ...]
    without: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Detection:
    """What became of one mutant: `caught` in the order of the stages, `undecided` says why it could not be tested.

    `asked` are the words of a command line that chose its scenarios; none for what anybody's jar is asked.
    """

    name: str
    does: str
    expected: Expected = Expected()
    caught: tuple[Caught, ...] = ()
    undecided: str = ""
    without: tuple[Part, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def excuse(self) -> str:
        """Why it may survive; empty when it may not."""
        return self.expected.excuse(self.without)

    @property
    def settled(self) -> bool:
        """Whether it is caught, or survives for a written reason; one that nothing can catch must not be caught."""
        if self.undecided:
            return False
        return not self.expected.survives if self.caught else bool(self.excuse)

    @property
    def as_expected(self) -> bool:
        """Whether what caught it is among what was to."""
        named = self.expected.by
        return any(each.stage in named or any(word in each.said for word in named) for each in self.caught)
