"""What the logs weigh in the verdict: warnings and errors that a candidate adds beyond the noise; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.model.findings import Contrast, Finding, FindingKind, Significance
from harness.model.proof import EXPECTED_LEVEL, Proof
from harness.model.runs import Verdict
from harness.model.verdict import CellName, Reason, ReasonSource

WORSE = ("WARN", "ERROR", "FATAL")
_LEVELS = ("TRACE", "DEBUG", "INFO", *WORSE)
_NO_COUNTS = (FindingKind.ORDER, FindingKind.SHIFT)  # they are about when a line comes, not about how many


def reasons_of_logs(
    compared: Sequence[tuple[str, str]],
    flag: str,
    contrasts: Sequence[Contrast],
    proof: Proof | None,
    not_compared: str = "",
) -> tuple[Reason, ...]:
    """Return why the candidate's logs are worse than base's, or `not_compared`: why nobody knows.

    `compared` are the names of a control and of the arm held against it, `flag` the candidate's key.
    Counted are lines at WARN or worse that are new, more frequent or at a worse level than on base, beyond the noise
    (so never without repeats), and that no claim expects. The same line in several places is named once.
    """
    chains = proof.chains if proof else ()
    expected = {chain.claim: ExpectedLine(chain.evidence, chain.level) for chain in chains if chain.evidence}
    found: dict[tuple[str, str], Reason] = {}
    for contrast in (each for each in contrasts if (each.base, each.candidate) in compared):
        for finding in contrast.findings:
            if _is_worse(finding) and not expected_by(finding, expected, flag):
                found.setdefault((finding.logger, finding.template), _reason(contrast, finding))
    gap = (Reason(ReasonSource.LOGS, Verdict.INCONCLUSIVE, None, not_compared),) if not_compared else ()
    return (*found.values(), *gap)


@dataclass(frozen=True, slots=True)
class ExpectedLine:
    """A log line that a claim expects: a regular expression, and the worst level at which it is expected."""

    pattern: str
    level: str = EXPECTED_LEVEL


def expected_by(finding: Finding, expected: Mapping[str, ExpectedLine], flag: str) -> str:
    """Return what expects a line: the id of a claim, or the flag whose own key it is; empty for neither.

    `expected` are the lines that claims expect, by claim. A line at a worse level than is expected of it is expected by
    nothing, and one with the flag's key only at INFO or less.
    """
    if flag and flag in finding.template and _severity(finding.level) <= _severity(EXPECTED_LEVEL):
        return "the flag's own key"
    shown = (finding.base_excerpt, finding.candidate_excerpt)
    return next(
        (
            claim
            for claim, wanted in expected.items()
            if _severity(finding.level) <= _severity(wanted.level)
            and any(re.search(wanted.pattern, line) for line in shown)
        ),
        "",
    )


def _severity(level: str) -> int:
    """Return how bad a level is; one that log4j does not know is worst."""
    return _LEVELS.index(level.upper()) if level.upper() in _LEVELS else len(_LEVELS)


def _is_worse(finding: Finding) -> bool:
    if finding.significance is not Significance.BEYOND or finding.level not in WORSE:
        return False
    if finding.kind is FindingKind.VALUE:  # the arms' own values are counted, so any of the candidate's are more
        return sum(finding.candidate_runs) > 0
    return finding.kind not in _NO_COUNTS and sum(finding.candidate_runs) > sum(finding.base_runs)


def _reason(contrast: Contrast, finding: Finding) -> Reason:
    runs = ", ".join(map(str, finding.candidate_runs)), ", ".join(map(str, finding.base_runs))
    sentence = (
        f"{finding.scenario}: {contrast.candidate} logs at {finding.level} what no claim expects, {runs[0]} times "
        f"in its runs against {runs[1]} on {contrast.base}: {' '.join(finding.template.split())[:200]}"
    )
    return Reason(ReasonSource.LOGS, Verdict.HOLD, CellName(finding.scenario, contrast.candidate), sentence)
