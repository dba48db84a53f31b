"""A night in records: what is declared and how each verification ended (night.json); no I/O.

A *verification* is one combination of the matrix: one `harness verify`, in its own run directory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from harness.model.options import record_of
from harness.model.request import Request

SCHEMA = 2
VERIFICATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}")  # a folder's name on any machine, no way out of it


class VerificationStatus(StrEnum):
    """How a verification ended: its verdict, or that there is none."""

    SHIP = "SHIP"
    HOLD = "HOLD"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"  # the harness could not do its work; exit code 2
    MISSING = "MISSING"  # declared, and nobody ran it


@dataclass(frozen=True, slots=True)
class PlannedVerification:
    """A verification of the matrix: the arguments of `harness verify`, and who runs it.

    `id` names its run directory below the night; `shard` counts from 1; `seconds` is how long it is expected to take.
    """

    id: str
    arguments: tuple[str, ...]
    shard: int
    seconds: float

    @property
    def request(self) -> Request:
        """The request of these arguments. Raises HarnessError for arguments that no harness wrote."""
        return record_of(Request, self.arguments)


@dataclass(frozen=True, slots=True)
class EndedVerification:
    """A verification that was run; `seconds` is wall time, `error` a sentence when the outcome is ERROR."""

    id: str
    outcome: VerificationStatus
    seconds: float
    error: str = ""

    @property
    def has_verdict(self) -> bool:
        """Whether it ended with a verdict, whichever."""
        return self.outcome not in (VerificationStatus.ERROR, VerificationStatus.MISSING)


@dataclass(frozen=True, slots=True)
class NightOptions:
    """The content of options.json: with what `harness nightly` was called, so that it can go on; paths are absolute."""

    matrix: Path
    history: Path
    jobs: int
    offline: bool


@dataclass(frozen=True, slots=True)
class Night:
    """The content of night.json: everything the matrix declares, and what has ended in this folder so far.

    `name` is the user's (a CI's build number) or empty; `matrix` is the SHA-256 of the matrix file. `shard` is the
    part that this folder is, of `shards`; 0 for a folder that was merged.
    """

    schema: int
    name: str
    started_at: str
    matrix: str
    shard: int
    shards: int
    planned: tuple[PlannedVerification, ...]
    ended: tuple[EndedVerification, ...] = ()

    @property
    def label(self) -> str:
        """What the night is called in reports and in the history."""
        return self.name or self.started_at

    @property
    def mine(self) -> tuple[PlannedVerification, ...]:
        """The verifications that this folder is to hold."""
        return tuple(each for each in self.planned if self.shard in (0, each.shard))

    @property
    def missing(self) -> tuple[PlannedVerification, ...]:
        """The verifications that this folder is to hold and that have not ended."""
        done = {each.id for each in self.ended}
        return tuple(each for each in self.mine if each.id not in done)

    @property
    def unanswered(self) -> tuple[PlannedVerification, ...]:
        """The verifications that this folder is to hold and that have come to no verdict."""
        decided = {each.id for each in self.ended if each.has_verdict}
        return tuple(each for each in self.mine if each.id not in decided)

    @property
    def whole(self) -> bool:
        """Whether everything that the matrix declares has ended here."""
        return {each.id for each in self.planned} == {each.id for each in self.ended}
