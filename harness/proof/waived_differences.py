"""Waived differences of a jar: those that somebody answers for, and waivers that are of no use; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from harness.model.proof import Difference, Severity
from harness.model.waivers import Waiver, WaiverKind

WAIVER_EXPIRED = "waiver-expired"
WAIVER_STALE = "waiver-stale"


def waive_differences(
    differences: Sequence[Difference], waivers: Sequence[Waiver], today: date
) -> tuple[Difference, ...]:
    """Return the differences, those that are covered marked so, and one for each waiver that is of no use.

    An expired waiver covers nothing; one that covers nothing although it has not expired is stale. Both fail: a list
    of waivers that nobody keeps says nothing. Waivers of outcomes and findings are left to the night.
    """
    of_rules = [each for each in waivers if each.kind is WaiverKind.RULE]
    valid = [each for each in of_rules if today <= each.expires]
    covered = tuple(_marked(difference, valid) for difference in differences)
    return (*_complaints(differences, of_rules, today), *covered)


def _covers(waiver: Waiver, difference: Difference) -> bool:
    same = difference.where == waiver.where or fnmatchcase(difference.where, waiver.where)
    return same and difference.rule == waiver.what


def _marked(difference: Difference, waivers: Sequence[Waiver]) -> Difference:
    waiver = next((each for each in waivers if _covers(each, difference)), None)
    if waiver is None:
        return difference
    return replace(difference, waived=f"{waiver.reason} ({waiver.owner}, until {waiver.expires.isoformat()})")


def _complaints(differences: Sequence[Difference], waivers: Sequence[Waiver], today: date) -> Iterator[Difference]:
    for waiver in waivers:
        named = f"the waiver of {waiver.what} at {waiver.where}, owned by {waiver.owner},"
        if waiver.expires < today:
            detail = f"{named} expired on {waiver.expires.isoformat()}"
            yield Difference(WAIVER_EXPIRED, Severity.FAIL, waiver.where, detail)
        elif not any(_covers(waiver, each) for each in differences):
            detail = f"{named} matches no difference: take it out"
            yield Difference(WAIVER_STALE, Severity.FAIL, waiver.where, detail)
