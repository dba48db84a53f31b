"""What a night's waivers cover: known outcomes and findings, and waivers that are at fault; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from harness.model.verdict import Standing
from harness.model.waivers import Waiver, WaiverKind
from harness.nightly.cell_history import NightCell, NightFinding


@dataclass(frozen=True, slots=True)
class Waived:
    """What waivers cover tonight, by the key of a cell and the id of a finding, and what is wrong with them."""

    cells: Mapping[tuple[str, str, str], Waiver]
    findings: Mapping[str, Waiver]
    faults: tuple[str, ...]


def apply_waivers(
    waivers: Sequence[Waiver],
    cells: Sequence[NightCell],
    findings: Sequence[NightFinding],
    today: date,
    *,
    complete: bool,
) -> Waived:
    """Return what is covered today. A waiver that has expired covers nothing and is a fault; so is a stale one.

    Stale is one that nothing tonight needs, which is known only of a `complete` night, in which every verification
    came to a verdict and every cell that the waiver is about showed what it could. Waivers of rules are left to the
    proof.
    """
    ours = [each for each in waivers if each.kind is not WaiverKind.RULE]
    valid = [each for each in ours if each.expires >= today]
    by_cell = {cell.key: each for cell in cells for each in valid if _covers_cell(each, cell)}
    by_finding = {found.id: each for found in findings for each in valid if _covers_finding(each, found)}
    used = {*by_cell.values(), *by_finding.values()}
    undecided = {each for each in valid for cell in cells if _is_about(each, cell) and not _showed(each, cell)}
    expired = [f"A waiver has expired: {each}" for each in ours if each not in valid]
    stale = [f"A waiver is stale, nothing needs it: {each}" for each in valid if each not in used | undecided]
    return Waived(by_cell, by_finding, (*expired, *(stale if complete else ())))


def _is_about(waiver: Waiver, cell: NightCell) -> bool:
    of_finding = waiver.kind is WaiverKind.FINDING
    return fnmatchcase(f"{cell.verification}/{cell.scenario}" if of_finding else "/".join(cell.key), waiver.where)


def _showed(waiver: Waiver, cell: NightCell) -> bool:
    return cell.shows_findings if waiver.kind is WaiverKind.FINDING else cell.decided


def _covers_cell(waiver: Waiver, cell: NightCell) -> bool:
    not_as_claimed = cell.standing is Standing.NOT_AS_CLAIMED
    of_outcome = waiver.kind is WaiverKind.OUTCOME
    return of_outcome and _is_about(waiver, cell) and cell.outcome == waiver.what and not_as_claimed


def _covers_finding(waiver: Waiver, found: NightFinding) -> bool:
    place = f"{found.verification}/{found.scenario}"
    is_about = waiver.kind is WaiverKind.FINDING and fnmatchcase(place, waiver.where)
    return is_about and waiver.what in found.template
