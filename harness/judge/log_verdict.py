"""What the logs weigh in the verdict: warnings and errors that a candidate adds beyond the noise; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from harness.model.findings import Contrast, Finding, FindingKind, Significance
from harness.model.proof import Proof
from harness.model.runs import Verdict
from harness.model.verdict import CellName, Reason, ReasonSource

WORSE = ("WARN", "ERROR", "FATAL")
_NO_COUNTS = (FindingKind.ORDER, FindingKind.SHIFT)  # they are about when a line comes, not about how many


def reasons_of_logs(
    compared: Sequence[tuple[str, str]], flag: str, contrasts: Sequence[Contrast], proof: Proof | None
) -> tuple[Reason, ...]:
    """Return why the candidate's logs are worse than base's.

    `compared` are the names of a control and of the arm held against it, `flag` the candidate's key.
    Counted are lines at WARN or worse that are new, more frequent or at a worse level than on base, beyond the noise
    (so never without repeats), and that no claim expects. The same line in several places is named once.
    """
    patterns = {chain.claim: chain.evidence for chain in proof.chains if chain.evidence} if proof else {}
    found: dict[tuple[str, str], Reason] = {}
    for contrast in (each for each in contrasts if (each.base, each.candidate) in compared):
        for finding in contrast.findings:
            if _is_worse(finding) and not expected_by(finding.template, _lines(finding), patterns, flag):
                found.setdefault((finding.logger, finding.template), _reason(contrast, finding))
    return tuple(found.values())


def expected_by(template: str, lines: Iterable[str], patterns: Mapping[str, str], flag: str) -> str:
    """Return what expects a line: the id of a claim, or the flag whose own key it is; empty for neither.

    `patterns` are the regular expressions of the lines that claims expect, by claim.
    """
    if flag and flag in template:
        return "the flag's own key"
    shown = list(lines)
    return next((claim for claim, wanted in patterns.items() if any(re.search(wanted, line) for line in shown)), "")


def _is_worse(finding: Finding) -> bool:
    if finding.significance is not Significance.BEYOND or finding.level not in WORSE:
        return False
    if finding.kind is FindingKind.VALUE:  # the arms' own values are counted, so any of the candidate's are more
        return sum(finding.candidate_runs) > 0
    return finding.kind not in _NO_COUNTS and sum(finding.candidate_runs) > sum(finding.base_runs)


def _lines(finding: Finding) -> tuple[str, str]:
    return finding.base_excerpt, finding.candidate_excerpt


def _reason(contrast: Contrast, finding: Finding) -> Reason:
    runs = ", ".join(map(str, finding.candidate_runs)), ", ".join(map(str, finding.base_runs))
    sentence = (
        f"{finding.scenario}: {contrast.candidate} logs at {finding.level} what no claim expects, {runs[0]} times "
        f"in its runs against {runs[1]} on {contrast.base}: {' '.join(finding.template.split())[:200]}"
    )
    return Reason(ReasonSource.LOGS, Verdict.HOLD, CellName(finding.scenario, contrast.candidate), sentence)
