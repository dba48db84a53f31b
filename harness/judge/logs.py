"""What the logs weigh in the verdict: warnings and errors that a candidate adds beyond the noise; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from harness.judge.asked import Asked
from harness.model import Contrast, Finding, FindingKind, Role, Significance
from harness.proof.records import Proof

_WORSE = ("WARN", "ERROR", "FATAL")
_MOST = 5


def blockers(asked: Asked, contrasts: Sequence[Contrast], proof: Proof | None) -> tuple[str, ...]:
    """Return why the candidate's logs are worse than base's; many are cut to a few and their number.

    Counted are lines at WARN or worse that are new, more frequent or at a worse level than on base, beyond the noise
    (so never without repeats), and that no claim foretells. The same line in several places is told once.
    """
    base = asked.arm(Role.BASE)
    patterns = {chain.claim: chain.evidence for chain in proof.chains if chain.evidence} if proof else {}
    against_base = [each for each in contrasts if base is not None and each.base == base.name]
    told: dict[tuple[str, str], str] = {}
    for contrast in against_base:
        for finding in contrast.findings:
            if _is_worse(finding) and not foretold_by(finding.template, _lines(finding), patterns, asked.flag_key):
                told.setdefault((finding.logger, finding.template), _sentence(contrast, finding))
    sentences = list(told.values())
    more = len(sentences) - _MOST
    return (*sentences[:_MOST], *([f"{more} more such lines are in the logs' differences."] if more > 0 else []))


def foretold_by(template: str, lines: Iterable[str], patterns: Mapping[str, str], flag: str) -> str:
    """Return what foretells a line: the id of a claim, or the flag whose own key it is; empty for neither.

    `patterns` are the regular expressions of the lines that claims foretell, by claim.
    """
    if flag and flag in template:
        return "the flag's own key"
    shown = list(lines)
    return next((claim for claim, wanted in patterns.items() if any(re.search(wanted, line) for line in shown)), "")


def _is_worse(finding: Finding) -> bool:
    if finding.significance is not Significance.BEYOND or finding.level not in _WORSE:
        return False
    return finding.kind is not FindingKind.ORDER and sum(finding.candidate_runs) > sum(finding.base_runs)


def _lines(finding: Finding) -> tuple[str, str]:
    return finding.base_excerpt, finding.candidate_excerpt


def _sentence(contrast: Contrast, finding: Finding) -> str:
    runs = ", ".join(map(str, finding.candidate_runs)), ", ".join(map(str, finding.base_runs))
    return (
        f"{contrast.candidate} logs at {finding.level} in {finding.scenario} what no claim foretells, {runs[0]} times "
        f"in its runs against {runs[1]} of {contrast.base}: {' '.join(finding.template.split())[:200]}"
    )
