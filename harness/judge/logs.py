"""What the logs weigh in the verdict: warnings and errors that a candidate adds beyond the noise; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from harness.model.findings import FindingKind, Significance
from harness.model.proof import Proof

WORSE = ("WARN", "ERROR", "FATAL")
_MOST = 5
_NO_COUNTS = (FindingKind.ORDER, FindingKind.SHIFT)  # they are about when a line comes, not about how many


class Difference(Protocol):
    """A finding, as the log diff has it or as a verdict has it."""

    @property
    def kind(self) -> FindingKind: ...  # noqa: D102

    @property
    def level(self) -> str: ...  # noqa: D102

    @property
    def logger(self) -> str: ...  # noqa: D102

    @property
    def template(self) -> str: ...  # noqa: D102

    @property
    def scenario(self) -> str: ...  # noqa: D102

    @property
    def base_excerpt(self) -> str: ...  # noqa: D102

    @property
    def candidate_excerpt(self) -> str: ...  # noqa: D102

    @property
    def significance(self) -> Significance: ...  # noqa: D102

    @property
    def base_runs(self) -> tuple[int, ...]: ...  # noqa: D102

    @property
    def candidate_runs(self) -> tuple[int, ...]: ...  # noqa: D102


class Differences(Protocol):
    """The findings between two arms."""

    @property
    def base(self) -> str: ...  # noqa: D102

    @property
    def candidate(self) -> str: ...  # noqa: D102

    @property
    def findings(self) -> Sequence[Difference]: ...  # noqa: D102


def blockers(base: str, flag: str, contrasts: Sequence[Differences], proof: Proof | None) -> tuple[str, ...]:
    """Return why the candidate's logs are worse than base's; many are cut to a few and their number.

    `base` is the base arm's name, `flag` the candidate's key. Counted are lines at WARN or worse that are new, more
    frequent or at a worse level than on base, beyond the noise (so never without repeats), and that no claim foretells.
    The same line in several places is told once.
    """
    patterns = {chain.claim: chain.evidence for chain in proof.chains if chain.evidence} if proof else {}
    against_base = [each for each in contrasts if each.base == base]
    told: dict[tuple[str, str], str] = {}
    for contrast in against_base:
        for finding in contrast.findings:
            if _is_worse(finding) and not foretold_by(finding.template, _lines(finding), patterns, flag):
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


def _is_worse(finding: Difference) -> bool:
    if finding.significance is not Significance.BEYOND or finding.level not in WORSE:
        return False
    if finding.kind is FindingKind.VALUE:  # the arms' own values are counted, so any of the candidate's are more
        return sum(finding.candidate_runs) > 0
    return finding.kind not in _NO_COUNTS and sum(finding.candidate_runs) > sum(finding.base_runs)


def _lines(finding: Difference) -> tuple[str, str]:
    return finding.base_excerpt, finding.candidate_excerpt


def _sentence(contrast: Differences, finding: Difference) -> str:
    runs = ", ".join(map(str, finding.candidate_runs)), ", ".join(map(str, finding.base_runs))
    return (
        f"{contrast.candidate} logs at {finding.level} in {finding.scenario} what no claim foretells, {runs[0]} times "
        f"in its runs against {runs[1]} of {contrast.base}: {' '.join(finding.template.split())[:200]}"
    )
