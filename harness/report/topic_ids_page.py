"""topic-ids.html: what a check of topic ids found, on one page."""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.text import cut
from harness.model.topic_ids import MEANS, Answer, Finding, IdState, TopicIdCheck
from harness.report.page import render_page
from harness.topicids.sentences import brokers, places, sentence, state_words

_MOST_ROWS = 500
_TEXT = 1000
_TONES = {Answer.HEALTHY: "ship", Answer.MISMATCH: "hold", Answer.UNDECIDED: "inconclusive"}


@dataclass(frozen=True, slots=True)
class Row:
    """A finding as a row shows it."""

    topic: str
    expected: str
    found: str
    reason: str
    places: str
    directories: int


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
    passed_over: tuple[tuple[str, int], ...]
    left_off: int

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """What the page links to at its top, by id."""
        own = ((each.id, each.title) for each in self.states)
        return (("counts", "Directories"), *own, ("gaps", "Not looked at"))


def render_topic_ids(check: TopicIdCheck) -> str:
    """Return the page. Equal input gives equal bytes."""
    return render_page("topic-ids.html.j2", page=topic_ids_page(check))


def topic_ids_page(check: TopicIdCheck) -> TopicIdsPage:
    """Return what the page shows."""
    return TopicIdsPage(
        _TONES[check.answer],
        sentence(check),
        check.source,
        check.cluster_id,
        brokers(check.brokers),
        check.topics,
        tuple((state_words(state, check), count) for state, count in check.counts.items()),
        tuple(view for state in IdState if (view := _state(state, check)).rows),
        check.gaps,
        tuple(check.passed_over.items()),
        check.hidden,
    )


def _state(state: IdState, check: TopicIdCheck) -> StateView:
    findings = [each for each in check.findings if each.state is state]
    rows = tuple(map(_row, findings[:_MOST_ROWS]))
    title = state_words(state, check)
    title = title[:1].upper() + title[1:]
    count = check.counts.get(state, 0)
    return StateView(state.name.lower(), title, MEANS[state], count, rows, max(len(findings) - _MOST_ROWS, 0))


def _row(finding: Finding) -> Row:
    return Row(
        finding.topic,
        finding.expected,
        finding.found,
        cut(finding.reason, _TEXT),
        cut(places(finding), _TEXT),
        finding.directories,
    )
