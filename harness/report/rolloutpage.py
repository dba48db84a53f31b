"""report.html of a rollout: the answer, the rehearsals with turns and clients, log differences, the runbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.text import cut
from harness.logs.read.event_counts import OUTSIDE
from harness.model.events import CommandTried
from harness.model.features import FeaturePlan
from harness.model.findings import Contrast
from harness.model.rollout import Rehearsal, RolloutOutcome, RolloutVerdict, Turn
from harness.report.context import Limits, TimelineView
from harness.report.differences import ContrastView, FindingContext, contrast_view
from harness.report.drawing import draw
from harness.report.links import Quote, evidence_link, journal_link, quote_of
from harness.report.page import render_page
from harness.report.timeline import timeline_of
from harness.rollout.builds import BASE, CANDIDATE
from harness.rollout.nodes import in_words
from harness.rollout.rehearsals import FINALISED, FORWARD_AND_BACK, RESTART_FINALISED
from harness.rollout.rollout_verdict import outcome_of
from harness.rollout.runbook import Runbook, order_of, runbook
from harness.rundir.journal import Entry

_TEXT = 700
_CLIENTS = ("orders", "clicks", "balances", "payments", "group")


@dataclass(frozen=True, slots=True)
class RehearsalView:
    """A rehearsal as the page shows it; `outcome` is what it weighs, `shown` the outcome of its run."""

    found: Rehearsal
    outcome: str
    shown: str
    reason: str
    slowest: str
    checks: int
    quotes: tuple[Quote, ...]
    timeline: TimelineView


@dataclass(frozen=True, slots=True)
class SidesView:
    """What base and the candidate are called, and by the name of a build in a roll what a node then runs."""

    base: str
    candidate: str
    runs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FinishView:
    """What finalising the features changes and means, how it is done, and what the commands printed."""

    plan: FeaturePlan
    commands: tuple[CommandTried, ...]
    restarts: int


@dataclass(frozen=True, slots=True)
class RolloutPage:
    """Everything that the page shows; `finish` is None where only a raft jar is replaced."""

    found: RolloutVerdict
    sentence: str
    kafka_version: str
    command: str
    clients: tuple[str, ...]
    rehearsals: tuple[RehearsalView, ...]
    contrast: ContrastView | None
    runbook: Runbook
    warnings: tuple[str, ...]
    sides: SidesView
    order: str
    finish: FinishView | None


def render_rollout(
    found: RolloutVerdict,
    journals: Mapping[str, Sequence[Entry]],
    contrast: Contrast | None,
    argv: Sequence[str],
) -> str:
    """Return the page; `journals` are the events of each rehearsal by its name. Equal input gives equal bytes."""
    return render_page("rollout.html.j2", page=rollout_page(found, journals, contrast, argv))


def rollout_page(
    found: RolloutVerdict,
    journals: Mapping[str, Sequence[Entry]],
    contrast: Contrast | None,
    argv: Sequence[str],
) -> RolloutPage:
    """Return what the page shows."""
    book = runbook(found)
    return RolloutPage(
        found,
        cut(found.sentence, _TEXT),
        found.kafka_version,
        " ".join(("harness", *argv)),
        _CLIENTS,
        tuple(_rehearsal(each, journals.get(each.name, ())) for each in found.rehearsals),
        _contrast(contrast) if contrast else None,
        book,
        book.warnings,
        _sides(found),
        ", ".join(map(str, found.plan.order)) or in_words(order_of(book)),
        _finish(found),
    )


def _sides(found: RolloutVerdict) -> SidesView:
    """Return what both are called: the Kafkas where they are two, else whose jar it is."""
    base, candidate = found.base.build, found.candidate.build
    if candidate.kafka.is_same(base.kafka):
        return SidesView("base's jar", "the candidate's jar", {})
    names = base.kafka.label, candidate.kafka.label
    return SidesView(*names, {BASE: f"base, {names[0]}", CANDIDATE: f"the candidate, {names[1]}"})


def _finish(found: RolloutVerdict) -> FinishView | None:
    if found.features is None:
        return None
    rehearsed = next((each for each in found.rehearsals if each.name == FINALISED), None)
    tried = rehearsed.commands if rehearsed else ()
    commands = tuple(replace(each, command=each.command.format(brokers="$BROKERS")) for each in tried)
    restarts = sum(turn.phase == RESTART_FINALISED for turn in rehearsed.turns) if rehearsed else 0
    return FinishView(found.features, commands, restarts)


def _rehearsal(found: Rehearsal, entries: Sequence[Entry]) -> RehearsalView:
    result = found.result
    return RehearsalView(
        found,
        str(outcome_of(found)),
        result.label,
        cut(result.reason, _TEXT),
        _slowest(found.turns),
        sum(len(turn.before) + len(turn.after) for turn in found.turns),
        tuple(quote_of(each, _TEXT) for each in result.evidence[:6]),
        _timeline(found, entries),
    )


def _slowest(turns: Sequence[Turn]) -> str:
    slowest = max(turns, key=lambda turn: turn.seconds, default=None)
    return f"node {slowest.node}, {slowest.seconds:.0f} s" if slowest else "–"


def _timeline(found: Rehearsal, entries: Sequence[Entry]) -> TimelineView:
    timeline = timeline_of(entries)
    steps = tuple(step for step in timeline.steps if step.notable)
    most, result = Limits().steps, found.result
    summary = f"{found.name}: {result.outcome} after {timeline.seconds:.1f} s, {len(timeline.lanes)} nodes"
    return TimelineView(
        f"timeline-{found.name}",
        found.name,
        "a live cluster",
        1,
        str(result.outcome),
        outcome_of(found) is not RolloutOutcome.PASSED or found.name == FORWARD_AND_BACK,
        f"{summary}, {len(steps)} numbered steps listed below.",
        draw(timeline),
        steps[:most],
        max(len(steps) - most, 0),
        journal_link(result.key.folder),
    )


def _contrast(contrast: Contrast) -> ContrastView:
    """Return what differs while every node was stopped and started once; outside of that different things were done."""
    alike = tuple(each for each in contrast.findings if each.phase != OUTSIDE)
    return contrast_view(
        replace(contrast, findings=alike), FindingContext(False, link=evidence_link), Limits().findings, _TEXT
    )
