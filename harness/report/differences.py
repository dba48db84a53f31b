"""Log differences as the report shows them: one for every family of lines, what is beyond the noise first; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from harness.model import Significance
from harness.report.document import ClaimDoc, ContrastDoc, Document, FindingDoc
from harness.report.links import Link, evidence_link
from harness.text import cut

_MOST_NOISE = 12  # of a contrast's findings within the noise: they are shown as examples


@dataclass(frozen=True, slots=True)
class FindingView:
    """A family of lines that differs, with its excerpts cut to size.

    `base` and `candidate` are counts, one per repeat. `also` are the other places where it differs alike. `told` says
    what is known of chance, `explained` which claim foretells it; both may be empty.
    """

    kind: str
    template: str
    where: str
    also: tuple[str, ...]
    level: str
    logger: str
    statement: str
    base: str
    candidate: str
    told: str
    explained: str
    base_excerpt: str
    candidate_excerpt: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class ContrastView:
    """What differs between two arms: `told` in a sentence, `findings` worst first, `hidden` of them not shown.

    `noise` are examples of what is within the noise, `within` how many there are.
    """

    base: str
    candidate: str
    meaning: str
    told: str
    findings: tuple[FindingView, ...]
    hidden: int
    within: int
    noise: tuple[FindingView, ...]


def contrast_view(
    document: Document, contrast: ContrastDoc, telling: Collection[tuple[str, str]], most: int, text: int
) -> ContrastView:
    """Return a contrast's differences; `telling` are the (scenario, phase) that scenarios are run for."""
    apart = [finding for finding in contrast.findings if finding.significance is not Significance.WITHIN]
    within = [finding for finding in contrast.findings if finding.significance is Significance.WITHIN]
    views = [_finding(document, alike, text) for alike in _alike(telling_first(apart, telling))]
    ordered = sorted(views, key=lambda view: bool(view.explained))
    noise = [_finding(document, alike, text) for alike in _alike(within)]
    return ContrastView(
        contrast.base,
        contrast.candidate,
        _meaning(document, contrast),
        _told(document, contrast),
        tuple(ordered[:most]),
        max(len(ordered) - most, 0),
        len(noise),
        tuple(noise[:_MOST_NOISE]),
    )


def telling_first(findings: Iterable[FindingDoc], telling: Collection[tuple[str, str]]) -> tuple[FindingDoc, ...]:
    """Return what is beyond the noise first, of that what is in `telling`, and otherwise the same order."""

    def order(finding: FindingDoc) -> tuple[bool, bool]:
        return finding.significance is not Significance.BEYOND, (finding.scenario, finding.phase) not in telling

    return tuple(sorted(findings, key=order))


def foretold_by(finding: FindingDoc, claims: Iterable[ClaimDoc], flag: str) -> str:
    """Return what foretells a difference: a claim's id, or the flag whose own line it is; empty for neither."""
    if flag and flag in finding.template:
        return "the flag's own key"
    lines = (finding.base_excerpt, finding.candidate_excerpt)
    named = (c.id for c in claims if c.foretells and any(re.search(c.foretells, line) for line in lines))
    return next(named, "")


def _alike(findings: Iterable[FindingDoc]) -> list[list[FindingDoc]]:
    groups: dict[tuple[object, ...], list[FindingDoc]] = {}
    for each in findings:
        groups.setdefault((each.significance, each.kind, each.logger, each.template), []).append(each)
    return list(groups.values())


def _finding(document: Document, alike: Sequence[FindingDoc], text: int) -> FindingView:
    first = alike[0]
    flag = next((arm.flag_key for arm in document.arms if arm.flag_key), "")
    return FindingView(
        first.kind.value,
        cut(first.template, text),
        _where(first),
        tuple(_where(each) for each in alike[1:]),
        first.level,
        first.logger,
        first.statement,
        _counts(first.base_runs, first.base_count),
        _counts(first.candidate_runs, first.candidate_count),
        _chance(first),
        foretold_by(first, document.claims, flag),
        cut(first.base_excerpt, text),
        cut(first.candidate_excerpt, text),
        tuple(evidence_link(evidence) for evidence in first.evidence),
    )


def _where(finding: FindingDoc) -> str:
    return " · ".join(filter(None, (finding.scenario, finding.role, finding.phase)))


def _counts(runs: Sequence[int], whole: int) -> str:
    return " · ".join(map(str, runs)) if len(runs) > 1 else str(whole)


def _chance(finding: FindingDoc) -> str:
    rate = "" if finding.q is None else f", false discovery rate {finding.q:.2g}"
    return "" if finding.significance is Significance.UNKNOWN else f"{finding.significance}{rate}"


def _told(document: Document, contrast: ContrastDoc) -> str:
    if not contrast.findings:
        return "No template differs."
    counts = {
        significance: sum(f.significance is significance for f in contrast.findings) for significance in Significance
    }
    if document.repeats == 1:
        return f"{len(contrast.findings)} differences; each arm ran once, so that nobody can tell which are noise."
    return (
        f"{counts[Significance.BEYOND]} differences beyond the noise, {counts[Significance.WITHIN]} within it, "
        f"{counts[Significance.UNKNOWN]} of which {document.repeats} repeats cannot tell."
    )


def _meaning(document: Document, contrast: ContrastDoc) -> str:
    role = {arm.name: arm.role.value for arm in document.arms}
    pair = (role.get(contrast.base, ""), role.get(contrast.candidate, ""))
    meanings = {
        ("base", "off"): "is the flag inert?",
        ("off", "on"): "the effect of the flag",
        ("base", "on"): "what a rollout changes",
    }
    return meanings.get(pair, "")
