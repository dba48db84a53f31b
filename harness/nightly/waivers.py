"""Waivers of a night: known outcomes and findings, each with a reason, an owner and a day on which it ends; pure.

They stand in the same waivers.toml as those of the jar's proof, as `[[outcome]]` and `[[finding]]` tables.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.model.verdict import Standing
from harness.nightly.cell_history import NightCell, NightFinding
from harness.proof.waivers import day_of

_OF_PROOFS = "waiver"  # harness.proof.waivers reads those
_KINDS: Mapping[str, str] = {"outcome": "shows", "finding": "contains"}


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver: `where` is a pattern of `verification/scenario/arm`, or for a finding of `verification/scenario`.

    `what` is the outcome as the report writes it, or a part of the finding's template. It covers up to the end of
    the day `expires`.
    """

    kind: str
    where: str
    what: str
    reason: str
    owner: str
    expires: date

    def __str__(self) -> str:
        return f"{self.kind} {self.what} at {self.where} ({self.owner}, until {self.expires}: {self.reason})"

    def matches(self, cell: NightCell) -> bool:
        """Whether it is about this cell."""
        return self.kind == "outcome" and fnmatchcase("/".join(cell.key), self.where)

    def covers(self, cell: NightCell) -> bool:
        """Whether it waives what this cell shows."""
        return self.matches(cell) and cell.outcome == self.what and cell.standing is Standing.NOT_AS_CLAIMED

    def covers_finding(self, found: NightFinding) -> bool:
        """Whether it waives this finding."""
        place = f"{found.verification}/{found.scenario}"
        return self.kind == "finding" and fnmatchcase(place, self.where) and self.what in found.template


@dataclass(frozen=True, slots=True)
class Waived:
    """What waivers cover tonight, by the key of a cell and the id of a finding, and what is wrong with them."""

    cells: Mapping[tuple[str, str, str], Waiver]
    findings: Mapping[str, Waiver]
    faults: tuple[str, ...]


NOTHING = Waived({}, {}, ())


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """Read the waivers of outcomes and findings. Raises HarnessError that names the file, the table and the key."""
    try:
        return _waivers(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise HarnessError(f"The waivers {path} cannot be read: {error.strerror}.", "Name another file.") from error
    except ValueError as error:
        raise HarnessError(f"{path}: {error}.", "docs/operators.md describes the file.") from error


def apply_waivers(
    waivers: Sequence[Waiver],
    cells: Sequence[NightCell],
    findings: Sequence[NightFinding],
    today: date,
    *,
    complete: bool,
) -> Waived:
    """Return what is covered today. A waiver that has expired covers nothing and is a fault; so is a stale one.

    Stale is one that nothing tonight needs, which can be told only of a `complete` night, in which every
    verification came to a verdict and every cell that the waiver is about was decided.
    """
    valid = [each for each in waivers if each.expires >= today]
    by_cell = {cell.key: each for cell in cells for each in valid if each.covers(cell)}
    by_finding = {found.id: each for found in findings for each in valid if each.covers_finding(found)}
    used = {*by_cell.values(), *by_finding.values()}
    undecided = {each for each in valid for cell in cells if each.matches(cell) and cell.standing is Standing.UNDECIDED}
    expired = [f"A waiver has expired: {each}" for each in waivers if each not in valid]
    stale = [f"A waiver is stale, nothing needs it: {each}" for each in valid if each not in used | undecided]
    return Waived(by_cell, by_finding, (*expired, *(stale if complete else ())))


def _waivers(document: Mapping[str, Any]) -> tuple[Waiver, ...]:
    unknown = sorted(document.keys() - {_OF_PROOFS, *_KINDS})
    if unknown:
        raise ValueError(f"it holds tables of the names {', '.join((_OF_PROOFS, *_KINDS))}, not {unknown[0]}")
    return tuple(_waiver(kind, table) for kind in _KINDS for table in document.get(kind, []))


def _waiver(kind: str, table: Any) -> Waiver:
    keys = ("where", _KINDS[kind], "reason", "owner", "expires")
    if not isinstance(table, dict) or set(table) != set(keys):
        raise ValueError(f"{kind}: each is an [[{kind}]] table with {', '.join(keys)} and nothing else")
    where, what, reason, owner, expires = (table[key] for key in keys)
    if not all(isinstance(text, str) and text.strip() for text in (where, what, reason, owner)):
        raise ValueError(f"{kind}: {', '.join(keys[:-1])} are texts that are not empty")
    return Waiver(kind, where, what, reason, owner, day_of(expires, kind))
