"""Waivers (`waivers.toml`): differences that somebody answers for, each with a reason, an owner and an end."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.model.proof import Difference, Severity

WAIVER_EXPIRED = "waiver-expired"
WAIVER_STALE = "waiver-stale"
WAIVER_RULES = (WAIVER_EXPIRED, WAIVER_STALE)
_OURS = "waiver"
_OF_NIGHTS = ("outcome", "finding")  # waivers of what runs show, read by the nightly
_KEYS = ("rule", "where", "reason", "owner", "expires")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One waiver: the rule, the place (`where` of a difference, exactly or with * ? [ ]), and who answers until when.

    It holds up to and including the day `expires`.
    """

    rule: str
    where: str
    reason: str
    owner: str
    expires: date

    def covers(self, difference: Difference) -> bool:
        """Whether it is this difference that is waived."""
        same = difference.where == self.where or fnmatchcase(difference.where, self.where)
        return same and difference.rule == self.rule

    def __str__(self) -> str:
        return f"{self.reason} ({self.owner}, until {self.expires.isoformat()})"


def load_waivers(path: Path, rules: Iterable[str]) -> tuple[Waiver, ...]:
    """Read a waivers file; `rules` are the names that there are. Raises HarnessError for what is not well-formed."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise HarnessError(f"The waivers file {path} cannot be read: {error.strerror}.", "Name another one.") from error
    return parse_waivers(content, str(path), rules)


def parse_waivers(content: bytes, where: str, rules: Iterable[str]) -> tuple[Waiver, ...]:
    """Return the waivers that a file's bytes hold; `where` names the file in errors, which are HarnessErrors."""
    try:
        document = tomllib.loads(content.decode("utf-8"))
        return tuple(_waivers(document, frozenset(rules)))
    except ValueError as error:
        raise HarnessError(f"{where}: {error}.", "docs/drop-in.md describes the file.") from error


def apply_waivers(differences: Sequence[Difference], waivers: Sequence[Waiver], today: date) -> tuple[Difference, ...]:
    """Return the differences, those that are covered marked so, and one for each waiver that is of no use.

    An expired waiver covers nothing; one that covers nothing although it has not expired is stale. Both fail: a list
    of waivers that nobody keeps says nothing.
    """
    valid = [each for each in waivers if today <= each.expires]
    covered = tuple(_marked(difference, valid) for difference in differences)
    return (*_complaints(differences, waivers, today), *covered)


def _marked(difference: Difference, waivers: Sequence[Waiver]) -> Difference:
    waiver = next((each for each in waivers if each.covers(difference)), None)
    return replace(difference, waived=str(waiver)) if waiver else difference


def _complaints(differences: Sequence[Difference], waivers: Sequence[Waiver], today: date) -> Iterator[Difference]:
    for waiver in waivers:
        told = f"the waiver of {waiver.rule} at {waiver.where}, owned by {waiver.owner},"
        if waiver.expires < today:
            says = f"{told} expired on {waiver.expires.isoformat()}"
            yield Difference(WAIVER_EXPIRED, Severity.FAIL, waiver.where, says)
        elif not any(waiver.covers(each) for each in differences):
            says = f"{told} matches no difference: take it out"
            yield Difference(WAIVER_STALE, Severity.FAIL, waiver.where, says)


def _waivers(document: dict[str, Any], rules: frozenset[str]) -> Iterator[Waiver]:
    tables = document.get(_OURS, [])
    if document.keys() - {_OURS, *_OF_NIGHTS} or not isinstance(tables, list):
        raise ValueError(f"it holds tables of the names {', '.join((_OURS, *_OF_NIGHTS))}, and nothing else")
    for number, table in enumerate(tables, 1):
        yield _waiver(table, f"waiver {number}", rules)


def _waiver(table: Any, where: str, rules: frozenset[str]) -> Waiver:
    if not isinstance(table, dict) or table.keys() != set(_KEYS):
        raise ValueError(f"{where}: it needs {', '.join(_KEYS)}, and nothing else")
    for key in _KEYS[:-1]:
        if not isinstance(table[key], str) or not table[key].strip():
            raise ValueError(f"{where}, {key}: it is a text that is not empty")
    if table["rule"] not in rules:
        raise ValueError(f"{where}: there is no rule {table['rule']!r}; rules are {', '.join(sorted(rules))}")
    return Waiver(**{**table, "expires": day_of(table["expires"], where)})


def day_of(value: Any, where: str) -> date:
    """Return a date written as text or as TOML's own date; a time of day says more than is meant."""
    if type(value) is date:
        return value
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}, expires: {value!r} is not a day like 2027-01-31") from None
