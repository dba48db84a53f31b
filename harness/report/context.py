"""Everything the report shows, worked out from verdict.json and the journals; pure, and tested by goldens."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from harness.base.text import counted, cut
from harness.judge.reasons import rests_on
from harness.model.arms import Arm, is_base_itself, kafkas_compared
from harness.model.candidate_kind import CandidateKind
from harness.model.operator_changes import OperatorChanges
from harness.model.runs import Evidence
from harness.model.spares import is_asked_again
from harness.model.sparklines import Sparklines
from harness.model.time_book import TimeBook
from harness.model.verdict import Check, FileDigest, JudgedClaim, JudgedRun, VerdictRecord
from harness.report import result_matrix
from harness.report.cost_multiples import CostOverview, cost_overview
from harness.report.costs import CostView, cost_views
from harness.report.differences import ContrastView, contrast_view, known_noise, known_of, meaning_of, rollout_first
from harness.report.fallout import causes_of
from harness.report.gantt import Gantt, gantt
from harness.report.kafkas import KafkaView, kafka_views
from harness.report.left_open import LeftOpen, left_open
from harness.report.limits import Limits, beyond, kept
from harness.report.links import Link, evidence_link
from harness.report.measures import Measures, measures_of
from harness.report.noticed import noticed
from harness.report.proof_section import (
    ClaimView,
    DifferenceView,
    ProofView,
    ReachView,
    claim_views,
    proof_view,
    reach_view,
    waived_view,
)
from harness.report.result_matrix import InertnessView, MatrixRow
from harness.report.run_pictures import PictureGroup, picture_groups
from harness.report.timeline import last_phase
from harness.report.upgrade_page import UpgradeSummary, upgrade_summary
from harness.rundir.journal import Entry


@dataclass(frozen=True, slots=True)
class EvidenceView:
    """A file that was judged."""

    link: Link
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StageTime:
    """Wall seconds of a stage and its share of all in percent, and its CPU seconds where they were measured."""

    stage: str
    seconds: float
    share: float
    cpu: float | None


@dataclass(frozen=True, slots=True)
class Hidden:
    """How many are not shown of what the page lists."""

    reasons: int = 0
    gaps: int = 0
    failures: int = 0
    rows: int = 0
    claims: int = 0
    costs: int = 0
    history: int = 0
    waived: int = 0


@dataclass(frozen=True, slots=True)
class ReportContext:
    """What report.html and summary.md show; `times` is the only part that differs between equal runs."""

    verdict: str
    sentence: str
    against: str
    reasons: tuple[str, ...]
    product: str
    kafka_version: str
    question: str
    claims_summary: str
    evidence_of: str
    runs_summary: str
    arms: tuple[Arm, ...]
    kafkas: tuple[KafkaView, ...]
    claims: tuple[ClaimView, ...]
    rows: tuple[MatrixRow, ...]
    contrasts: tuple[ContrastView, ...]
    repeated: bool
    known_noise: str
    proof: ProofView | None
    reach: ReachView | None
    inertness: tuple[InertnessView, ...]
    history: Sparklines | None
    waived: tuple[DifferenceView, ...]
    evidence: tuple[EvidenceView, ...]
    hidden_evidence: int
    evidence_summary: str
    timelines: tuple[PictureGroup, ...]
    hidden_timelines: int
    noticed: tuple[str, ...]
    cost_overview: CostOverview | None
    costs: tuple[CostView, ...]
    measures: Measures
    not_tested: tuple[str, ...]
    failures: tuple[str, ...]
    started_at: str
    command: str
    host: Mapping[str, str]
    times: tuple[StageTime, ...]
    upgrade: UpgradeSummary | None = None
    has_candidate: bool = True
    reused: tuple[str, ...] = ()
    gantt: Gantt | None = None
    remarks: tuple[str, ...] = ()
    not_fixed: LeftOpen | None = None
    hidden: Hidden = Hidden()

    @property
    def is_said(self) -> bool:
        """Whether the only reason is what the sentence says."""
        return len(self.reasons) == 1 and self.reasons[0].rstrip(".") == self.sentence.rstrip(".")

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """What the page links to at its top, by id: what it has of it."""
        every = (
            ("reasons", "Why", self.reasons and not self.is_said),
            ("gaps", "Not tested", True),
            ("matrix", "Outcomes", True),
            ("claims", "Claims", self.claims),
            ("operator", "Operator", self.upgrade),
            ("timelines", "Timelines", self.timelines),
            ("costs", "Costs", self.costs),
            ("findings", "Logs", self.contrasts),
            ("proof", "Proof", self.has_candidate),
            ("history", "History", self.history),
            ("again", "Run again", True),
        )
        return tuple((id, name) for id, name, there in every if there)


def report_context(
    record: VerdictRecord,
    journals: Mapping[str, Sequence[Entry]],
    limits: Limits | None = None,
    history: Sparklines | None = None,
    upgrade: OperatorChanges | None = None,
    times: TimeBook | None = None,
) -> ReportContext:
    """Return what the report shows; `journals` are the events of each run by its folder."""
    limits = limits or Limits()
    chosen = _chosen_runs(record, journals, limits.timelines)
    reasons = rests_on(record.verdict, record.reasons)
    failures, waived = list(_failures(record.runs, limits.text)), waived_view(record, limits.text)
    proving, kafkas = _proving_phases(record, journals), kafkas_compared(record.arms)
    return ReportContext(
        verdict=record.answer.value,
        sentence=cut(record.sentence, limits.text),
        against=cut(record.against, limits.text),
        reasons=tuple(cut(reason, limits.text) for reason in reasons[: limits.rows]),
        product=_product(record),
        kafka_version=" → ".join(kafka.version for kafka in kafkas) if kafkas else record.kafka_version,
        question=_question(record),
        claims_summary=_claims_summary(record.claims),
        evidence_of=_evidence_of(record),
        runs_summary=_runs_summary(record),
        arms=record.arms,
        kafkas=kafka_views(record, journals),
        claims=claim_views(record, limits.text, limits.rows),
        rows=result_matrix.rows(record, limits.text, limits.rows),
        contrasts=rollout_first(
            contrast_view(
                each,
                known_of(record),
                limits.findings,
                limits.text,
                meaning_of(record, each),
                proving,
                causes_of(record, each, proving),
            )
            for each in record.contrasts
        ),
        repeated=record.repeats > 1,
        known_noise=known_noise(record.contrasts),
        proof=proof_view(record, limits.findings, limits.text),
        reach=reach_view(record, limits.steps * 4, limits.text),
        inertness=result_matrix.inertness(record),
        history=_history(history, limits.rows) if history else None,
        waived=waived[: limits.rows],
        evidence=tuple(_evidence(file) for file in record.evidence[: limits.evidence]),
        hidden_evidence=max(len(record.evidence) - limits.evidence, 0),
        evidence_summary=_evidence_summary(record.evidence),
        timelines=picture_groups(record, journals, chosen, limits.steps),
        hidden_timelines=len(record.runs) - len(chosen),
        noticed=noticed(record, limits.text),
        cost_overview=cost_overview(record),
        costs=cost_views(record, journals, limits.timelines),
        measures=measures_of(record, _in_order(record), limits.rows),
        not_tested=tuple(cut(gap, limits.text) for gap in record.not_tested[: limits.rows]),
        failures=tuple(failures[: limits.rows]),
        started_at=record.started_at,
        command=shlex.join(("harness", *_without_out(record.argv))),
        host=record.host,
        times=_times(record),
        upgrade=upgrade_summary(upgrade) if upgrade else None,
        reused=tuple(cut(each, limits.text) for each in record.reused),
        remarks=tuple(cut(each, limits.text) for each in record.remarks),
        not_fixed=left_open(record, limits.rows, limits.text),
        gantt=gantt(times, limits.rows) if times else None,
        hidden=Hidden(
            reasons=beyond(reasons, limits.rows),
            gaps=beyond(record.not_tested, limits.rows),
            failures=beyond(failures, limits.rows),
            rows=beyond(record.scenarios, limits.rows),
            claims=beyond(record.claims, limits.rows),
            costs=beyond({(cost.scenario, cost.arm) for cost in record.costs}, limits.timelines),
            history=beyond(history.cells, limits.rows) if history else 0,
            waived=beyond(waived, limits.rows),
        ),
        has_candidate=record.expectations is None,
    )


def _without_out(argv: Sequence[str]) -> Iterator[str]:
    """Yield a command's words but for the folder that it was told to write into: that is not empty any more."""
    words = iter(argv)
    for word in words:
        if word == "--out":
            next(words, "")
        elif not word.startswith("--out="):
            yield word


def _product(record: VerdictRecord) -> str:
    if record.expectations:
        return "Kafka as it is"
    return "Build verification" if kafkas_compared(record.arms) else "Patch verification"


def _question(record: VerdictRecord) -> str:
    """Return what was asked of Kafka as it is, or of the candidate, which depends on what it is known to be."""
    if record.expectations:
        return "Does Kafka show what the scenarios expect of it?"
    kafkas = kafkas_compared(record.arms)
    match record.kind:
        case CandidateKind.UNKNOWN if kafkas:
            return f"Is anything worse on {kafkas[1].label} than on {kafkas[0].label}? Nothing is claimed."
        case CandidateKind.UNKNOWN if is_base_itself(record.arms):
            return "Is anything worse? The candidate is base, byte for byte, so every difference below is chance."
        case CandidateKind.UNKNOWN:
            return "Is anything worse? The jar matches no known series and comes without claims."
        case _ if not record.claims:
            return "Is anything worse? Nothing is claimed."
        case CandidateKind.SERIES:
            return "Does the series do what it claims, and is anything worse?"
        case CandidateKind.CLAIMED:
            return "Does the jar do what its claims file says, and is anything worse?"
        case _:
            assert_never(record.kind)


def _claims_summary(claims: Sequence[JudgedClaim]) -> str:
    if not claims:
        return "none declared"
    counts = {status: sum(c.status == status for c in claims) for status in ("held", "refuted", "untested")}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def _evidence_of(record: VerdictRecord) -> str:
    return f"{len(record.proving)} of {counted(len(record.scenarios), 'scenario')}"


def _history(history: Sparklines, most: int) -> Sparklines:
    """Return the history of so many cells, of those before others of which something is new."""
    return replace(history, cells=kept(history.cells, most, lambda cell: bool(cell.trend)))


def _runs_summary(record: VerdictRecord) -> str:
    scenarios, arms = len(record.scenarios), len(record.arms)
    spares = sum(run.repeat > record.repeats for run in record.runs)
    made = f"{counted(scenarios, 'scenario')} × {counted(arms, 'arm')} × {record.repeats}"
    return f"{len(record.runs)} ({made}{f', and {spares} extra' if spares else ''})"


def _proving_phases(record: VerdictRecord, journals: Mapping[str, Sequence[Entry]]) -> frozenset[tuple[str, str]]:
    """Return (scenario, phase) of the last phases of scenarios that discriminate: what they are run for shows there.

    A run that did not come to an answer may have ended in an earlier phase, so it does not count.
    """
    proving = {scenario.name for scenario in record.scenarios if scenario.discriminates}
    answered = [r for r in record.runs if r.scenario in proving and r.outcome.is_decided]
    return frozenset((run.scenario, last_phase(journals.get(run.key.folder, ()))) for run in answered)


def _chosen_runs(record: VerdictRecord, journals: Mapping[str, Sequence[Entry]], most: int) -> list[JudgedRun]:
    """Return the runs whose timelines are shown: all, or first those that did not pass."""
    with_journal = [run for run in record.runs if journals.get(run.key.folder)]
    chosen = {run.key for run in kept(with_journal, most, lambda run: not run.check.is_fine)}
    return [run for run in _in_order(record) if run.key in chosen]


def _in_order(record: VerdictRecord) -> list[JudgedRun]:
    """Return the runs as the matrix has them: by scenario, then arm, then repeat."""
    scenarios = [scenario.name for scenario in record.scenarios]
    arms = [arm.name for arm in record.arms]
    return sorted(record.runs, key=lambda run: (scenarios.index(run.scenario), arms.index(run.arm), run.repeat))


def _failures(runs: Sequence[JudgedRun], text: int) -> list[str]:
    """Return the runs that were spoiled, with why; of one that a spare stands for, the remarks tell."""
    spoiled = [r for r in runs if r.check in (Check.ERROR, Check.SKIPPED) and not _has_a_remark(r)]
    return [f"{r.scenario} · {r.arm} · {r.repeat}: {r.outcome}. {cut(r.reason, text)}".strip() for r in spoiled]


def _has_a_remark(run: JudgedRun) -> bool:
    return run.check is Check.SKIPPED and is_asked_again(run)


def _evidence(file: FileDigest) -> EvidenceView:
    link = evidence_link(Evidence(file.path))
    return EvidenceView(Link(link.href, file.path), file.bytes, file.sha256)


def _evidence_summary(files: Sequence[FileDigest]) -> str:
    return f"{len(files)} files, {sum(file.bytes for file in files) / 1e6:.1f} MB,"


def _times(record: VerdictRecord) -> tuple[StageTime, ...]:
    timings = record.timings
    whole = sum(timings.values()) or 1.0
    return tuple(
        StageTime(stage, round(seconds, 1), round(100 * seconds / whole, 1), record.cpu_seconds.get(stage))
        for stage, seconds in sorted(timings.items(), key=lambda item: (-item[1], item[0]))
    )
