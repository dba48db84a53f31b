"""waivers.toml: what somebody accepts and answers for, with a reason and a last day; one file for proof and night.

`[[waiver]]` is about a difference of the jar, `[[outcome]]` about what a cell shows, `[[finding]]` about log lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.toml import document_of
from harness.model.outcome_names import now_called
from harness.model.verdict import CellState


class WaiverKind(StrEnum):
    """What a waiver is about, by the name of its tables."""

    RULE = "waiver"
    OUTCOME = "outcome"
    FINDING = "finding"


# The key of a table that says what is waived at its `where`.
_WHAT: Mapping[WaiverKind, str] = {
    WaiverKind.RULE: "rule",
    WaiverKind.OUTCOME: "shows",
    WaiverKind.FINDING: "contains",
}
_OUTCOME = re.compile(rf"({'|'.join(CellState)})|(FAILED|INCONCLUSIVE)\([^()]+\)")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver: `what` is accepted at the place `where` (exactly, or with * ? [ ]), and who answers until when.

    `what` is a rule; an outcome as the report writes it; or a part of a finding's template. It holds up to and
    including the day `expires`.
    """

    kind: WaiverKind
    where: str
    what: str
    reason: str
    owner: str
    expires: date

    def __str__(self) -> str:
        return f"{self.kind} {self.what} at {self.where} ({self.owner}, until {self.expires}: {self.reason})"


def load_waivers(path: Path, rules: Collection[str] | None = None) -> tuple[Waiver, ...]:
    """Read a waivers file; `rules` are the names that there are, where they are known.

    Raises HarnessError that names the file, the table and the key for what is not well-formed.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HarnessError(f"The waivers file {path} cannot be read: {error.strerror}.", "Name another one.") from error
    return parse_waivers(content, str(path), rules)


def parse_waivers(content: bytes, where: str, rules: Collection[str] | None = None) -> tuple[Waiver, ...]:
    """Return the waivers that a file's bytes hold; `where` names the file in errors, which are HarnessErrors."""
    try:
        return tuple(_waivers(document_of(content), rules))
    except ValueError as error:
        raise HarnessError(f"{where}: {error}.", "docs/drop-in.md and docs/nightly.md describe the file.") from error


def _waivers(document: Mapping[str, Any], rules: Collection[str] | None) -> Iterator[Waiver]:
    unknown = sorted(document.keys() - set(WaiverKind))
    if unknown:
        raise ValueError(f"it holds tables of the names {', '.join(WaiverKind)}, not {unknown[0]}")
    for kind in WaiverKind:
        for number, table in enumerate(_tables(document, kind), 1):
            waiver = _waiver(kind, table, f"{kind} {number}")
            if kind is WaiverKind.RULE and rules is not None and waiver.what not in rules:
                known = ", ".join(sorted(rules))
                raise ValueError(f"{kind} {number}: there is no rule {waiver.what!r}; rules are {known}")
            yield waiver


def _tables(document: Mapping[str, Any], kind: WaiverKind) -> list[Any]:
    tables = document.get(kind, [])
    if isinstance(tables, list):
        return tables
    raise ValueError(f"{kind}: each is a [[{kind}]] table")


def _waiver(kind: WaiverKind, table: Any, where: str) -> Waiver:
    texts = ("where", _WHAT[kind], "reason", "owner")
    if not isinstance(table, dict) or set(table) != {*texts, "expires"}:
        raise ValueError(f"{where}: it needs {', '.join(texts)}, expires, and nothing else")
    for key in texts:
        if not isinstance(table[key], str) or not table[key].strip():
            raise ValueError(f"{where}, {key}: it is a text that is not empty")
    place, what, reason, owner = (table[key] for key in texts)
    if kind is WaiverKind.OUTCOME:
        _check_outcome(what, f"{where}, shows")
    return Waiver(kind, place, what, reason, owner, _day(table["expires"], where))


def _check_outcome(text: str, where: str) -> None:
    if now_called(text) or not _OUTCOME.fullmatch(text):
        known = f"; outcomes are {', '.join(CellState)}, FAILED and INCONCLUSIVE with a name as in FAILED(node_alive)"
        raise ValueError(f"{where}: there is no outcome {text!r}{now_called(text) or known}")


def _day(value: Any, where: str) -> date:
    """Return a date written as text or as TOML's own date; a time of day says more than is meant."""
    if type(value) is date:
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}, expires: {value!r} is not a day like 2027-01-31") from None
