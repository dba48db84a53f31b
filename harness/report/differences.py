"""Log differences as the report shows them: one for every family of lines, what is beyond the noise first; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.judge.logs import foretold_by
from harness.model import Evidence, Significance
from harness.report.document import ContrastDoc, Document, FindingDoc
from harness.report.links import Link, evidence_link
from harness.text import cut

_MOST_NOISE = 12  # of a contrast's findings within the noise: they are shown as examples


@dataclass(frozen=True, slots=True)
class FindingView:
    """A family of lines that differs, with its excerpts cut to size.

    `base` and `candidate` are counts, one per repeat. `also` are the other places where it differs alike. `told` says
    what is known of chance, `explained` which claim foretells it; both may be empty. `unknown` is true where repeats
    could not tell.
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
    says: str
    unknown: bool
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


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known beside the findings: whether an arm ran more than once, what is foretold, how places are linked.

    `foretold` are regular expressions of log lines by the claim that foretells them, `flag` the candidate's key.
    """

    repeated: bool
    link: Callable[[Evidence], Link] = evidence_link
    foretold: Mapping[str, str] = field(default_factory=dict)
    flag: str = ""


def beside(document: Document) -> Beside:
    """Return what a verdict tells beside its findings."""
    return Beside(
        document.repeats > 1,
        foretold={claim.id: claim.foretells for claim in document.claims if claim.foretells},
        flag=next((arm.flag_key for arm in document.arms if arm.flag_key), ""),
    )


def contrast_view(
    contrast: ContrastDoc,
    known: Beside,
    most: int,
    text: int,
    meaning: str = "",
    telling: Collection[tuple[str, str]] = (),
) -> ContrastView:
    """Return a contrast's differences; `telling` are the (scenario, phase) that scenarios are run for."""
    groups = _alike(telling_first(contrast.findings, telling))
    apart = [_finding(known, alike, text) for alike in groups if alike[0].significance is not Significance.WITHIN]
    within = [_finding(known, alike, text) for alike in groups if alike[0].significance is Significance.WITHIN]
    ordered = sorted(apart, key=lambda view: (view.unknown, bool(view.explained)))
    return ContrastView(
        contrast.base,
        contrast.candidate,
        meaning,
        _told(known.repeated, groups),
        tuple(ordered[:most]),
        max(len(ordered) - most, 0),
        len(within),
        tuple(within[:_MOST_NOISE]),
    )


def meaning_of(document: Document, contrast: ContrastDoc) -> str:
    """Return what a contrast is asked for, in words."""
    role = {arm.name: arm.role.value for arm in document.arms}
    pair = (role.get(contrast.base, ""), role.get(contrast.candidate, ""))
    meanings = {
        ("base", "off"): "is the flag inert?",
        ("off", "on"): "the effect of the flag",
        ("base", "on"): "what a rollout changes",
    }
    return meanings.get(pair, "")


def telling_first(findings: Iterable[FindingDoc], telling: Collection[tuple[str, str]]) -> tuple[FindingDoc, ...]:
    """Return what is beyond the noise first, of that what is in `telling`, and otherwise the same order."""

    def order(finding: FindingDoc) -> tuple[bool, bool]:
        return finding.significance is not Significance.BEYOND, (finding.scenario, finding.phase) not in telling

    return tuple(sorted(findings, key=order))


def _alike(findings: Iterable[FindingDoc]) -> list[list[FindingDoc]]:
    groups: dict[tuple[object, ...], list[FindingDoc]] = {}
    for each in findings:
        groups.setdefault((each.significance, each.kind, each.logger, each.template), []).append(each)
    return list(groups.values())


def _finding(known: Beside, alike: Sequence[FindingDoc], text: int) -> FindingView:
    first = alike[0]
    lines = (first.base_excerpt, first.candidate_excerpt)
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
        _chance(first, known.repeated),
        cut(first.says, text),
        first.significance is Significance.UNKNOWN and known.repeated,
        foretold_by(first.template, lines, known.foretold, known.flag),
        cut(first.base_excerpt, text),
        cut(first.candidate_excerpt, text),
        tuple(known.link(evidence) for evidence in first.evidence),
    )


def _where(finding: FindingDoc) -> str:
    return " · ".join(filter(None, (finding.scenario, finding.role, finding.phase)))


def _counts(runs: Sequence[int], whole: int) -> str:
    return " · ".join(map(str, runs)) if len(runs) > 1 else str(whole)


def _chance(finding: FindingDoc, repeated: bool) -> str:
    if finding.significance is Significance.UNKNOWN:
        return "cannot be told from noise" if repeated else ""
    return f"{finding.significance}" + ("" if finding.q is None else f", false discovery rate {finding.q:.2g}")


def _told(repeated: bool, groups: Sequence[Sequence[FindingDoc]]) -> str:
    if not groups:
        return "No line differs."
    if not repeated:
        return f"{_families(len(groups))}; each arm ran once, so that nobody can tell which of them are noise."
    counts = {each: sum(alike[0].significance is each for alike in groups) for each in Significance}
    return (
        f"{_families(counts[Significance.BEYOND])} beyond the noise, {counts[Significance.WITHIN]} within it, and "
        f"{counts[Significance.UNKNOWN]} that these repeats cannot tell from it."
    )


def _families(count: int) -> str:
    return "1 family of lines differs" if count == 1 else f"{count} families of lines differ"
