"""report.html of a rollout: the answer, every rehearsal with its steps and accounts, log differences, the runbook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.base.paths import data_root
from harness.base.text import cut
from harness.logs.read.events import OUTSIDE
from harness.model.findings import Contrast
from harness.report.context import Limits, TimelineView
from harness.report.differences import Beside, ContrastView, contrast_view
from harness.report.document import ContrastDoc
from harness.report.drawing import draw
from harness.report.html import own_file, policy_hash, template_environment
from harness.report.links import Quote, evidence_link, journal_link, quote_of
from harness.report.timeline import Event, timeline_of
from harness.report.verdict import finding_doc
from harness.rollout.records import FORWARD_AND_BACK, Ending, RehearsalResult, Rollout, StepSeen
from harness.rollout.runbook import Runbook, runbook

_SENTENCES = {
    Ending.PASSED: "All that was rehearsed held, and nothing that was promised was lost.",
    Ending.STOPPED: "The roll was stopped, or something that was promised is gone.",
    Ending.INCONCLUSIVE: "Too little could be asked.",
}
_TEXT = 700
_CLIENTS = ("orders", "clicks", "balances", "payments", "group")


@dataclass(frozen=True, slots=True)
class RehearsalView:
    """A rehearsal as the page shows it; its steps' pauses are in the order of `clients`."""

    result: RehearsalResult
    reason: str
    slowest: str
    checks: int
    quotes: tuple[Quote, ...]
    timeline: TimelineView


@dataclass(frozen=True, slots=True)
class RolloutPage:
    """Everything that the page shows."""

    found: Rollout
    sentence: str
    kafka_version: str
    command: str
    clients: tuple[str, ...]
    rehearsals: tuple[RehearsalView, ...]
    contrast: ContrastView | None
    runbook: Runbook
    warnings: tuple[str, ...]


def render_rollout(
    found: Rollout,
    journals: Mapping[str, Sequence[Event]],
    contrast: Contrast | None,
    kafka_version: str,
    argv: Sequence[str],
) -> str:
    """Return the page; `journals` are the events of each rehearsal by its name. Equal input gives equal bytes."""
    reports = data_root() / "reports"
    style, script = own_file(reports / "styles" / "report.css"), own_file(reports / "scripts" / "filter.js")
    template = template_environment(reports / "templates").get_template("rollout.html.j2")
    hashes = {"style_hash": policy_hash(style), "script_hash": policy_hash(script)}
    page = rollout_page(found, journals, contrast, kafka_version, argv)
    return template.render(page=page, style=style, script=script, **hashes)


def rollout_page(
    found: Rollout,
    journals: Mapping[str, Sequence[Event]],
    contrast: Contrast | None,
    kafka_version: str,
    argv: Sequence[str],
) -> RolloutPage:
    """Return what the page shows."""
    book = runbook(found)
    return RolloutPage(
        found,
        _SENTENCES[found.ending],
        kafka_version,
        " ".join(("harness", *argv)),
        _CLIENTS,
        tuple(_rehearsal(each, journals.get(each.name, ())) for each in found.rehearsals),
        _contrast(contrast) if contrast else None,
        book,
        book.warnings,
    )


def _rehearsal(result: RehearsalResult, events: Sequence[Event]) -> RehearsalView:
    return RehearsalView(
        result,
        cut(result.reason, _TEXT),
        _slowest(result.steps),
        sum(len(step.before) + len(step.after) for step in result.steps),
        tuple(quote_of(each, _TEXT) for each in result.evidence[:6]),
        _timeline(result, events),
    )


def _slowest(steps: Sequence[StepSeen]) -> str:
    slowest = max(steps, key=lambda step: step.seconds, default=None)
    return f"node {slowest.node}, {slowest.seconds:.0f} s" if slowest else "–"


def _timeline(result: RehearsalResult, events: Sequence[Event]) -> TimelineView:
    timeline = timeline_of(events)
    steps = tuple(step for step in timeline.steps if step.notable)
    most = Limits().steps
    told = f"{result.name}: {result.ending} after {timeline.seconds:.1f} s, {len(timeline.lanes)} nodes"
    return TimelineView(
        f"timeline-{result.name}",
        result.name,
        "a live cluster",
        1,
        str(result.ending),
        result.ending is not Ending.PASSED or result.name == FORWARD_AND_BACK,
        f"{told}, {len(steps)} numbered steps listed below.",
        draw(timeline),
        steps[:most],
        max(len(steps) - most, 0),
        journal_link(f"rehearsals/{result.name}"),
    )


def _contrast(contrast: Contrast) -> ContrastView:
    """Return what differs while every node was stopped and started once; outside of that different things were done."""
    alike = [finding_doc(each) for each in contrast.findings if each.phase != OUTSIDE]
    doc = ContrastDoc(contrast.base, contrast.candidate, tuple(alike))
    return contrast_view(doc, Beside(False, link=evidence_link), Limits().findings, _TEXT)
