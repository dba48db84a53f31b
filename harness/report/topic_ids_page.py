"""topic-ids.html: what a check of topic ids found, on one page."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.text import cut
from harness.model.topic_ids import MEANS, Answer, Finding, IdState, TopicIdCheck
from harness.report.limits import Limits, beyond, within_budget
from harness.report.page import render_page
from harness.topicids.sentences import brokers, places, sentence, state_words

_LIMITS = Limits(rows=500, text=1000)
_TONES = {Answer.HEALTHY: "ship", Answer.MISMATCH: "hold", Answer.UNDECIDED: "inconclusive"}


@dataclass(frozen=True, slots=True)
class Row:
    """A finding as a row shows it."""

    topic: str
    expected: str
    found: str
    reason: str
    places: str


@dataclass(frozen=True, slots=True)
class StateView:
    """The findings of one state; `hidden` are rows that are cut."""

    id: str
    title: str
    means: str
    directories: int
    rows: tuple[Row, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class TopicIdsPage:
    """Everything that the page shows."""

    tone: str
    sentence: str
    source: str
    cluster_id: str
    brokers: str
    topics: int
    counts: tuple[tuple[str, int], ...]
    states: tuple[StateView, ...]
    gaps: tuple[str, ...]
    hidden_gaps: int
    passed_over: tuple[tuple[str, int], ...]
    left_off: int

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """What the page links to at its top, by id."""
        own = ((each.id, each.title) for each in self.states)
        gaps = (("gaps", "Not looked at"),) if self.gaps else ()
        return (("counts", "Directories"), *own, *gaps)


def render_topic_ids(check: TopicIdCheck) -> str:
    """Return the page. Equal input gives equal bytes."""
    return within_budget(lambda limits: render_page("topic-ids.html.j2", page=topic_ids_page(check, limits)), _LIMITS)


def topic_ids_page(check: TopicIdCheck, limits: Limits = _LIMITS) -> TopicIdsPage:
    """Return what the page shows."""
    return TopicIdsPage(
        _TONES[check.answer],
        sentence(check),
        check.source,
        check.cluster_id,
        brokers(check.brokers),
        check.topics,
        tuple((state_words(state, check), count) for state, count in check.counts.items()),
        tuple(view for state in IdState if (view := _state(state, check, limits)).rows),
        tuple(cut(gap, limits.text) for gap in check.gaps[: limits.rows]),
        beyond(check.gaps, limits.rows),
        tuple(check.passed_over.items()),
        check.hidden,
    )


def _state(state: IdState, check: TopicIdCheck, limits: Limits) -> StateView:
    findings = [each for each in check.findings if each.state is state]
    rows = tuple(_row(each, limits.text) for each in findings[: limits.rows])
    title = state_words(state, check)
    title = title[:1].upper() + title[1:]
    count = check.counts.get(state, 0)
    return StateView(state.name.lower(), title, MEANS[state], count, rows, beyond(findings, limits.rows))


def _row(finding: Finding, text: int) -> Row:
    return Row(
        finding.topic,
        finding.expected,
        finding.found,
        cut(finding.reason, text),
        cut(places(finding), text),
    )
