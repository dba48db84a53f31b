"""What a night showed, cell by cell and finding by finding, in a form that nights can be compared by; pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from harness.base.text import cut
from harness.model.arms import kafkas_compared
from harness.model.findings import Finding, Significance
from harness.model.proof import Proof, Severity
from harness.model.runs import Verdict
from harness.model.verdict import CellState, ReasonSource, Standing, VerdictRecord

PROOF = "proof"  # where findings of the proof stand instead of a scenario
_TEMPLATE = 200


@dataclass(frozen=True, slots=True)
class NightCell:
    """One cell of one verification: what it showed; `jars` stands for the jars that were compared.

    `logs_compared` is whether the logs of the verification were.
    """

    verification: str
    scenario: str
    arm: str
    outcome: str
    standing: Standing
    unstable: bool
    jars: str
    logs_compared: bool = True

    @property
    def key(self) -> tuple[str, str, str]:
        """What is the same cell in every night."""
        return (self.verification, self.scenario, self.arm)

    @property
    def decided(self) -> bool:
        """Whether it says something of the build."""
        return self.standing in (Standing.AS_CLAIMED, Standing.NOT_AS_CLAIMED)

    @property
    def shows_findings(self) -> bool:
        """Whether log findings would have shown in it."""
        return self.decided and self.logs_compared


@dataclass(frozen=True, slots=True)
class NightFinding:
    """One finding of one verification; its `template` is cut. Of the proof, `scenario` is `proof`, `kind` the rule."""

    verification: str
    scenario: str
    base: str
    candidate: str
    node_kind: str
    kind: str
    template: str
    id: str

    @property
    def contrast(self) -> tuple[str, str, str, str]:
        """The two cells that it lies between."""
        return (self.verification, self.scenario, self.base, self.candidate)


def cells_of(verification: str, record: VerdictRecord) -> tuple[NightCell, ...]:
    """Return what every cell showed, in the order of the report."""
    beside = (digest for kafka in kafkas_compared(record.arms) or () for digest in kafka.others.values())
    jars = _digest(*(arm.build.jar_sha256 for arm in record.arms), *beside)
    not_compared = any(
        each.source is ReasonSource.LOGS and each.weight is Verdict.INCONCLUSIVE for each in record.reasons
    )
    return tuple(
        NightCell(
            verification,
            scenario.name,
            cell.arm,
            cell.label,
            cell.standing,
            cell.state is CellState.UNSTABLE,
            jars,
            not not_compared,
        )
        for scenario in record.scenarios
        for cell in scenario.cells
    )


def findings_of(verification: str, record: VerdictRecord) -> tuple[NightFinding, ...]:
    """Return the log findings beyond the noise (or where it is not known), then those of the proof, each once."""
    apart = (Significance.BEYOND, Significance.UNKNOWN)
    found = (*log_findings(verification, record, apart), *proof_findings(verification, record))
    return tuple({each.id: each for each in found}.values())


def log_findings(
    verification: str, record: VerdictRecord, significances: Collection[Significance]
) -> Iterator[NightFinding]:
    """Yield the log findings of these significances."""
    for contrast in record.contrasts:
        for finding in contrast.findings:
            if finding.significance in significances:
                yield _found(verification, contrast.base, contrast.candidate, finding)


def proof_findings(verification: str, record: VerdictRecord) -> Iterator[NightFinding]:
    """Yield the differences of the proof that weigh and are not waived."""
    if record.proof:
        yield from _of_proof(verification, record.proof)


def compared(cells: Mapping[tuple[str, str, str], NightCell], found: NightFinding) -> bool:
    """Whether a night ran what this finding would have shown in; `cells` are those of the night, by key."""
    if found.scenario == PROOF:
        return any(key[0] == found.verification for key in cells)
    ends = ((found.verification, found.scenario, found.base), (found.verification, found.scenario, found.candidate))
    return all(end in cells and cells[end].shows_findings for end in ends)


def _found(verification: str, base: str, candidate: str, finding: Finding) -> NightFinding:
    identity = (verification, finding.scenario, base, candidate, finding.node_kind, finding.kind.value)
    template = " ".join(finding.template.split())
    return NightFinding(*identity, cut(template, _TEMPLATE), _digest(*identity, template))


def _of_proof(verification: str, proof: Proof) -> Iterator[NightFinding]:
    for each in proof.differences:
        if each.severity is not Severity.NOTE and not each.waived:
            identity = (verification, PROOF, "", proof.build, "", each.rule)
            yield NightFinding(*identity, cut(each.where, _TEMPLATE), _digest(*identity, each.where))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]
