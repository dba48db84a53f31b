"""Log differences as the report shows them: one for every message type, what is beyond the noise first; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress

from harness.base.text import cut
from harness.judge.log_verdict import ExpectedLine, describe_rate, expected_by
from harness.model.arms import is_base_itself
from harness.model.findings import WORSE, Contrast, Finding, FindingKind, Significance
from harness.model.runs import Evidence
from harness.model.verdict import VerdictRecord
from harness.report.fallout import Cause, is_fallout
from harness.report.folded_differences import folded_sentences, informing, message_types, summary_of_two, warning_first
from harness.report.links import Link, evidence_link

_ROLLOUT, _EFFECT = "what a rollout changes", "the effect of the flag"
_OFF = "what the jar logs differently with its flag off"
_CHANCE = "the same jars, so what base logs by chance"
_ORDER = (_ROLLOUT, _OFF, _EFFECT)
_REST = {True: "cannot be separated from the noise", False: "only inform, or are what a claim expects"}
_MOST_NOISE = 12  # of a contrast's findings within the noise: they are shown as examples


@dataclass(frozen=True, slots=True)
class FindingView:
    """A message type that differs: one finding, its texts cut to size, for all that differ alike.

    `base` and `candidate` are counts, one per repeat. `also` are the other places where it differs alike, with their
    counts. `chance` is what is known of it, `lasting` which arm logs it to the end of its runs, `explained` which claim
    expects it; all three may be empty. `unknown` is true where repeats could not decide.
    """

    finding: Finding
    where: str
    also: tuple[str, ...]
    base: str
    candidate: str
    chance: str
    lasting: str
    unknown: bool
    explained: str
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class CauseView:
    """A difference of outcomes with its fallout, `hidden` of which is not shown."""

    sentence: str
    findings: tuple[FindingView, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class ContrastView:
    """What differs between two arms: `summary` in a sentence, `findings` worst first, `hidden` of them not shown.

    The first `telling` of them are beyond the noise, or where that is not known warn; `rest` says what the others are.
    `causes` are differences of outcomes with the findings that are their fallout. `noise` are examples of what is
    within the noise, `within` how many there are. `renamed` says what is the same in other words, `folded` what of two
    Kafkas only informs: in counts.
    """

    base: str
    candidate: str
    meaning: str
    summary: str
    causes: tuple[CauseView, ...]
    findings: tuple[FindingView, ...]
    noise_is_known: bool
    telling: int
    rest: str
    hidden: int
    within: int
    noise: tuple[FindingView, ...]
    renamed: tuple[str, ...]
    folded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingContext:
    """What is known beside the findings: whether an arm ran more than once or noise is known otherwise, and by which
    option it would be; what is expected; how places are linked.

    `expected` are log lines by the claim that expects them, `flag` the candidate's key.
    """

    repeated: bool
    more_runs: str = "--repeats 3"
    link: Callable[[Evidence], Link] = evidence_link
    expected: Mapping[str, ExpectedLine] = field(default_factory=dict)
    flag: str = ""


def known_of(record: VerdictRecord) -> FindingContext:
    """Return what a verdict says beside its findings."""
    return FindingContext(
        record.repeats > 1,
        expected={
            claim.id: ExpectedLine(claim.expected_log, claim.expected_level)
            for claim in record.claims
            if claim.expected_log
        },
        flag=next((arm.build.flag.key for arm in record.arms if arm.build.flag.key), ""),
    )


def contrast_view(
    contrast: Contrast,
    known: FindingContext,
    most: int,
    text: int,
    meaning: str = "",
    proving: Collection[tuple[str, str]] = (),
    causes: Sequence[Cause] = (),
) -> ContrastView:
    """Return a contrast's differences; `proving` are the (scenario, phase) that scenarios are run for."""
    known = replace(known, repeated=known.repeated or bool(known_noise([contrast])))
    groups = _alike(proving_phases_first(contrast.findings, proving))
    differing = [alike for alike in groups if alike[0].significance is not Significance.WITHIN]
    apart = warning_first(differing) if contrast.of_two_kafkas else differing
    fallout = {cause: [alike for alike in apart if is_fallout(contrast, alike, cause)] for cause in causes}
    rest = [alike for alike in apart if not any(is_fallout(contrast, alike, cause) for cause in causes)]
    views = (
        [_finding(known, alike, text) for alike in rest] if contrast.of_two_kafkas else _worst_first(known, rest, text)
    )
    telling = [contrast.of_two_kafkas or _is_telling(view, known.repeated) for view in views]
    views = [*compress(views, telling), *(view for view, tells in zip(views, telling, strict=True) if not tells)]
    within = [_finding(known, alike, text) for alike in groups if alike[0].significance is Significance.WITHIN]
    return ContrastView(
        contrast.base,
        contrast.candidate,
        meaning,
        summary_of_two(differing) if contrast.of_two_kafkas else _summary(known.repeated, known.more_runs, groups),
        tuple(_cause(known, cause, caused, most, text) for cause, caused in fallout.items() if caused)[: most + 1],
        tuple(views[:most]),
        known.repeated,
        min(sum(telling), most),
        _REST[known.repeated],
        max(len(views) - most, 0),
        len(within),
        tuple(within[:_MOST_NOISE]),
        tuple(cut(each, text) for each in contrast.renamed[:most]),
        tuple(folded_sentences(informing(differing))) if contrast.of_two_kafkas else (),
    )


def _is_telling(view: FindingView, noise_is_known: bool) -> bool:
    """Return whether a reader is shown a finding at once."""
    if noise_is_known:
        return not view.unknown
    return view.finding.level in WORSE and not view.explained


def known_noise(contrasts: Iterable[Contrast]) -> str:
    """Return in a sentence from how many runs it is known what base's jar logs by chance; empty where it is not."""
    findings = (finding for contrast in contrasts for finding in contrast.findings)
    runs = {finding.scenario: finding.stock.runs for finding in findings if finding.stock}
    each = ", ".join(f"{number} of {scenario}" for scenario, number in sorted(runs.items()))
    return (
        f"What base's jar logs by chance is known from its runs, including those of base here: {each}." if runs else ""
    )


def _worst_first(known: FindingContext, groups: Iterable[Sequence[Finding]], text: int) -> list[FindingView]:
    views = [_finding(known, alike, text) for alike in groups]
    return sorted(views, key=lambda view: (view.unknown, bool(view.explained)))


def _cause(known: FindingContext, cause: Cause, caused: Sequence[Sequence[Finding]], most: int, text: int) -> CauseView:
    views = _worst_first(known, caused, text)
    return CauseView(cause.sentence, tuple(views[:most]), max(len(views) - most, 0))


def meaning_of(record: VerdictRecord, contrast: Contrast) -> str:
    """Return in a sentence what a contrast is for."""
    role = {arm.name: arm.role.value for arm in record.arms}
    pair = (role.get(contrast.base, ""), role.get(contrast.candidate, ""))
    if pair == ("base", "on") and is_base_itself(record.arms):
        return _CHANCE
    meanings = {("base-off", "off"): _OFF, ("base", "off"): _OFF, ("off", "on"): _EFFECT, ("base", "on"): _ROLLOUT}
    return meanings.get(pair, "")


def rollout_first(contrasts: Iterable[ContrastView]) -> tuple[ContrastView, ...]:
    """Return contrasts with what a rollout changes before what its parts do."""
    return tuple(sorted(contrasts, key=lambda each: _ORDER.index(each.meaning) if each.meaning in _ORDER else 0))


def proving_phases_first(findings: Iterable[Finding], proving: Collection[tuple[str, str]]) -> tuple[Finding, ...]:
    """Return what is beyond the noise first, of that what is in `proving`, and otherwise the same order."""

    def order(finding: Finding) -> tuple[bool, bool]:
        return finding.significance is not Significance.BEYOND, (finding.scenario, finding.phase) not in proving

    return tuple(sorted(findings, key=order))


def _alike(findings: Iterable[Finding]) -> list[list[Finding]]:
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for each in findings:
        values = each.detail if each.kind is FindingKind.VALUE else ""
        more = each.candidate_count > each.base_count
        alike = (each.significance, each.kind, each.level, each.logger, each.template, values, more)
        groups.setdefault(alike, []).append(each)
    return list(groups.values())


def _finding(known: FindingContext, alike: Sequence[Finding], text: int) -> FindingView:
    first = alike[0]
    return FindingView(
        finding=replace(
            first,
            template=cut(first.template, text),
            detail=cut(first.detail, text),
            base_excerpt=cut(first.base_excerpt, text),
            candidate_excerpt=cut(first.candidate_excerpt, text),
        ),
        where=_where(first),
        also=tuple(map(_elsewhere, alike[1:])),
        base=_counts(first.base_runs, first.base_count),
        candidate=_counts(first.candidate_runs, first.candidate_count),
        chance=_chance(first, known.repeated),
        lasting=_lasting(first),
        unknown=first.significance is Significance.UNKNOWN and known.repeated,
        explained=expected_by(first, known.expected, known.flag),
        links=tuple(known.link(evidence) for evidence in first.evidence),
    )


def _where(finding: Finding) -> str:
    by = f"logged by {finding.logged_by}" if finding.logged_by not in ("", finding.node_kind) else ""
    return " · ".join(filter(None, (finding.scenario, finding.node_kind, finding.phase, by)))


def _elsewhere(finding: Finding) -> str:
    base, candidate = (
        _counts(finding.base_runs, finding.base_count),
        _counts(finding.candidate_runs, finding.candidate_count),
    )
    return f"{_where(finding)}: {base} → {candidate}"


def _counts(runs: Sequence[int], whole: int) -> str:
    return " · ".join(map(str, runs)) if len(runs) > 1 else str(whole)


def _chance(finding: Finding, repeated: bool) -> str:
    if finding.significance is not Significance.UNKNOWN:
        chance = f"{finding.significance}"
    else:
        chance = "cannot be separated from noise" if repeated else ""
    flood = "a flood" if finding.stock and finding.stock.flood else ""
    fdr = "" if finding.fdr is None else f"false discovery rate {finding.fdr:.2g}"
    return ", ".join(filter(None, (chance, flood, fdr, describe_rate(finding.stock) if finding.stock else "")))


def _lasting(finding: Finding) -> str:
    if finding.kind is FindingKind.VALUE:  # its counts are of lines with words that the other side lacks
        return ""
    match finding.base_lasting, finding.candidate_lasting:
        case True, True:
            return "still logged at the end by both"
        case True, False:
            return f"still logged at the end by base{' only' if finding.candidate_count else ''}"
        case False, True:
            return f"still logged at the end by the candidate{' only' if finding.base_count else ''}"
        case _:
            return ""


def _summary(repeated: bool, more_runs: str, groups: Sequence[Sequence[Finding]]) -> str:
    if not groups:
        return "No message type differs."
    if not repeated:
        return f"{message_types(len(groups))}. One run per arm, so noise cannot be separated; use {more_runs}."
    counts = {each: sum(alike[0].significance is each for alike in groups) for each in Significance}
    return (
        f"{message_types(counts[Significance.BEYOND])} beyond the noise, {counts[Significance.WITHIN]} within it; "
        f"{counts[Significance.UNKNOWN]} cannot be separated from it with this many repeats."
    )
