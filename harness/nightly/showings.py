"""What a night showed, cell by cell and finding by finding, in a form that nights can be compared by; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.base.text import cut
from harness.judge.cells import CellState
from harness.judge.checks import Check
from harness.model.findings import Significance
from harness.model.proof import Proof, Severity
from harness.report.document import CellDoc, Document, FindingDoc, ScenarioDoc
from harness.report.matrix import told_state

PROOF = "proof"  # where findings of the proof stand instead of a scenario
_TEMPLATE = 200


class Standing(StrEnum):
    """How a cell compares with what is claimed of its arm."""

    AS_CLAIMED = "as claimed"
    NOT_AS_CLAIMED = "not as claimed"
    UNDECIDED = "undecided"  # INCONCLUSIVE, BROKEN or MISSING: says nothing of the build
    NOT_ASKED = "not asked"  # this host does not support it


@dataclass(frozen=True, slots=True)
class Shown:
    """One cell of one verification: what it showed; `jars` stands for the jars that were compared."""

    verification: str
    scenario: str
    arm: str
    shown: str
    standing: Standing
    unstable: bool
    jars: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What is the same cell in every night."""
        return (self.verification, self.scenario, self.arm)

    @property
    def decided(self) -> bool:
        """Whether it says something of the build."""
        return self.standing in (Standing.AS_CLAIMED, Standing.NOT_AS_CLAIMED)


@dataclass(frozen=True, slots=True)
class Found:
    """One finding of one verification; its `template` is cut. Of the proof, `scenario` is `proof`, `kind` the rule."""

    verification: str
    scenario: str
    base: str
    candidate: str
    node_role: str
    kind: str
    template: str
    id: str

    @property
    def contrast(self) -> tuple[str, str, str, str]:
        """The two cells that it lies between."""
        return (self.verification, self.scenario, self.base, self.candidate)


def cells_of(verification: str, document: Document) -> tuple[Shown, ...]:
    """Return what every cell showed, in the order of the report."""
    jars = _digest(*(arm.jar_sha256 for arm in document.arms))
    return tuple(
        Shown(
            verification,
            scenario.name,
            cell.arm,
            told_state(cell),
            standing_of(document, scenario, cell),
            cell.state is CellState.UNSTABLE,
            jars,
        )
        for scenario in document.scenarios
        for cell in scenario.cells
    )


def standing_of(document: Document, scenario: ScenarioDoc, cell: CellDoc) -> Standing:
    """Return how a cell stands: one repeat that is not as claimed counts, and so does one that was not asked."""
    checks = {run.check for run in document.runs if (run.scenario, run.arm) == (scenario.name, cell.arm)}
    if Check.FAILED in checks:
        return Standing.NOT_AS_CLAIMED
    if Check.ERROR in checks or not checks or cell.state is CellState.MISSING:
        return Standing.UNDECIDED
    return Standing.NOT_ASKED if checks == {Check.SKIPPED} else Standing.AS_CLAIMED


def findings_of(verification: str, document: Document) -> tuple[Found, ...]:
    """Return the log findings beyond the noise (or where it is not known), then those of the proof, each once."""
    of_logs = (
        _found(verification, contrast.base, contrast.candidate, finding)
        for contrast in document.contrasts
        for finding in contrast.findings
        if finding.significance is not Significance.WITHIN
    )
    of_proof = _of_proof(verification, document.proof) if document.proof else ()
    return tuple({found.id: found for found in (*of_logs, *of_proof)}.values())


def compared(cells: Mapping[tuple[str, str, str], Shown], found: Found) -> bool:
    """Whether a night asked for what this finding would have shown; `cells` are those of the night, by key."""
    if found.scenario == PROOF:
        return any(key[0] == found.verification for key in cells)
    ends = ((found.verification, found.scenario, found.base), (found.verification, found.scenario, found.candidate))
    return all(end in cells and cells[end].decided for end in ends)


def _found(verification: str, base: str, candidate: str, finding: FindingDoc) -> Found:
    identity = (verification, finding.scenario, base, candidate, finding.role, finding.kind.value)
    template = " ".join(finding.template.split())
    return Found(*identity, cut(template, _TEMPLATE), _digest(*identity, template))


def _of_proof(verification: str, proof: Proof) -> Iterator[Found]:
    for each in proof.differences:
        if each.severity is not Severity.NOTE and not each.waived:
            identity = (verification, PROOF, "", proof.build, "", each.rule)
            yield Found(*identity, cut(each.where, _TEMPLATE), _digest(*identity, each.where))


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:16]
