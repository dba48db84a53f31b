"""Pure: how a finding is shown, with a real line of each arm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.base.text import visible
from harness.logs.compare.counts import Count
from harness.logs.compare.pairs import Pair, levels_of
from harness.logs.compare.tables import Assessment
from harness.logs.read.excerpts import excerpt
from harness.model.findings import Finding, FindingKind, severity
from harness.model.runs import Evidence


def plain_finding(
    pair: Pair, kind: FindingKind, phase: str, assessment: Assessment, runs: tuple[tuple[int, ...], ...]
) -> Finding:
    """Return a finding of a pair of families; `runs` are the counts of each run of base and of the candidate."""
    base, candidate = (_of_level(counts, pair.level) for counts in (pair.base, pair.candidate))
    shown = [_example(counts, phase) for counts in (base, candidate)]
    evidence = [Evidence(c.file, c.line, excerpt(c.excerpt)) for c in shown if c is not None]
    return Finding(
        kind=kind,
        template=excerpt(pair.family),
        scenario=pair.scenario,
        node_kind=pair.node_role,
        phase=visible(phase),
        level=pair.level or max(levels_of((*pair.base, *pair.candidate)), key=severity),
        logger=visible(pair.logger),
        base_count=sum(count.count for count in pair.base),
        candidate_count=sum(count.count for count in pair.candidate),
        base_excerpt=excerpt(shown[0].excerpt) if shown[0] else "",
        candidate_excerpt=excerpt(shown[1].excerpt) if shown[1] else "",
        evidence=tuple(evidence),
        statement=visible(next((c.statement for c in reversed(shown) if c is not None and c.statement), "")),
        significance=assessment.significance,
        fdr=assessment.q,
        base_runs=runs[0],
        candidate_runs=runs[1],
        base_lasting=_lasting(base, runs[0]),
        candidate_lasting=_lasting(candidate, runs[1]),
        logged_by=_logged_by(pair, phase),
    )


def _of_level(counts: Sequence[Count], level: str) -> Sequence[Count]:
    """Return what was logged at a level; of an arm that logs nothing at it, or where it is not asked, all."""
    return [count for count in counts if count.level == level] or counts


def _logged_by(pair: Pair, phase: str) -> str:
    """Say what the nodes were that logged it in a phase: of both arms at once if that is the same."""
    of_base, of_candidate = (
        " and ".join(sorted({count.role for count in counts if count.where.phase == phase and count.role}))
        for counts in (pair.base, pair.candidate)
    )
    if of_base and of_candidate and of_base != of_candidate:
        return f"{of_base} in base, {of_candidate} in the candidate"
    return of_candidate or of_base


def _example(counts: Sequence[Count], phase: str) -> Count | None:
    """Return the event to show: the first in the phase, or the first at all; by file and line, so always the same."""
    if not counts:
        return None
    return min(counts, key=lambda count: (count.where.phase != phase, count.file, count.line))


def _lasting(counts: Iterable[Count], runs: Sequence[int]) -> bool:
    """Say whether in every run of an arm it was logged before and still in the run's last stretch."""
    seen = list(counts)
    before = {count.where.repeat for count in seen if count.before_end}
    still = {count.where.repeat for count in seen if count.at_end}
    return len(before & still) == max(len(runs), 1)
