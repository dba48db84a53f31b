"""What happened in one run, node by node, read from its journal; pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.model.journals import ENDED, is_of_the_plan

Event = Mapping[str, Any]

# A no-op record is appended every 500 ms and the quorum is journaled once a second: an observer that has not
# moved for this long has missed several.
STALL_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasts; seconds since the run began."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Lane:
    """One node: its life (`starting ready stopping stopped killed died`), the epochs it led, its progress.

    `offsets` are (seconds, log end offset) as the voters saw them, for observers only; `stalls` are the spans
    in which such an observer's log did not grow although it should have.
    """

    node: int
    role: str
    life: tuple[Span, ...]
    leads: tuple[Span, ...]
    offsets: tuple[tuple[float, int], ...]
    stalls: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A step that ended: `kind` is `do guard expect bind background`, `status` its end; `line` in the journal.

    `name` is the expectation's. A moment without a processor is told as a step of the kind `host`.
    """

    kind: str
    text: str
    status: str
    start: float
    end: float
    line: int
    detail: str = ""
    name: str = ""

    @property
    def notable(self) -> bool:
        """Whether a reader of the timeline looks for it: what was done, asked, or did not succeed."""
        if self.status == "skipped":
            return False
        return self.kind in ("do", "expect", "background", "host") or self.status in ("unmet", "failed")


@dataclass(frozen=True, slots=True)
class Timeline:
    """One run from beginning to end, `seconds` long."""

    seconds: float
    phases: tuple[Span, ...]
    lanes: tuple[Lane, ...]
    steps: tuple[Step, ...]


def timeline_of(events: Sequence[Event]) -> Timeline:
    """Return the timeline that a journal tells, up to the end of its plan; an empty journal gives an empty one."""
    seconds = _plan_ended(events)
    events = [event for event in events if _time(event) <= seconds]
    return Timeline(
        seconds,
        _phases(events, seconds),
        tuple(_lane(node, role, events, seconds) for node, role in _nodes(events)),
        tuple(sorted((*_steps(events), *_starvations(events)), key=lambda step: step.start)),
    )


def _plan_ended(events: Sequence[Event]) -> float:
    """Return when the plan had nothing more to do or to look at; what follows is the harness tidying up."""
    asked = [_time(event) for event in events if is_of_the_plan(event)]
    return max(asked or map(_time, events), default=0.0)


def _time(event: Event) -> float:
    return float(event.get("t", 0.0))


def _of(events: Iterable[Event], kind: str) -> list[Event]:
    return [event for event in events if event.get("event") == kind]


def _phases(events: Sequence[Event], seconds: float) -> tuple[Span, ...]:
    return _until_next([(_time(e), str(e["name"])) for e in _of(events, "phase")], seconds)


def last_phase(events: Iterable[Event]) -> str:
    """Return the name of the phase in which a journal ends; empty when it has none."""
    return next((str(event["name"]) for event in reversed(_of(events, "phase"))), "")


def _until_next(marks: Sequence[tuple[float, str]], seconds: float) -> tuple[Span, ...]:
    """Return spans that each last until the next begins, the last until the end."""
    bounds = itertools.pairwise([*marks, (seconds, "")])
    return tuple(Span(name, at, end) for (at, name), (end, _) in bounds)


def _nodes(events: Sequence[Event]) -> list[tuple[int, str]]:
    """Return the nodes and whether each is a voter or an observer, as the voters' own answers tell."""
    quorums = _of(events, "quorum")
    voters = {int(node) for q in quorums for node in q.get("voters", {})}
    observers = {int(node) for q in quorums for node in q.get("observers", {})}
    seen = {int(e["node"]) for e in _of(events, "node")}
    # A restarting voter can be listed as an observer for a moment: having voted decides.
    role = {node: "voter" if node in voters else "observer" if node in observers else "" for node in seen}
    return sorted(role.items())


def _lane(node: int, role: str, events: Sequence[Event], seconds: float) -> Lane:
    life = _life(node, events, seconds)
    looks = _looks(node, events) if role == "observer" else []
    offsets = tuple((at, offset) for at, offset in looks if offset is not None)
    return Lane(node, role, life, _leads(node, events, seconds), offsets, _stalls(looks, life, seconds))


def _life(node: int, events: Sequence[Event], seconds: float) -> tuple[Span, ...]:
    return _until_next([(_time(e), str(e["state"])) for e in _of(events, "node") if int(e["node"]) == node], seconds)


def _leads(node: int, events: Sequence[Event], seconds: float) -> tuple[Span, ...]:
    """Return the epochs that a node was seen to lead, each until another answer or until the node ended."""
    changes = [next(group) for _, group in itertools.groupby(_answers(events), key=lambda answer: answer[1])]
    spans = _until_next([(at, f"{leader} {epoch}") for at, (leader, epoch) in changes], seconds)
    ends = [_time(e) for e in _of(events, "node") if int(e["node"]) == node and e["state"] in ENDED]
    mine = [span for span in spans if span.name.split()[0] == str(node)]
    return tuple(Span(s.name.split()[1], s.start, _first_within(ends, s)) for s in mine)


def _answers(events: Sequence[Event]) -> Iterator[tuple[float, tuple[int, int]]]:
    """Yield when the voters named which leader and epoch; silence between two equal answers is no election."""
    latest = -1
    for quorum in _of(events, "quorum"):
        leader, epoch = int(quorum["leader"]), int(quorum["epoch"])
        if leader >= 0 or epoch > latest:
            latest = max(latest, epoch)
            yield _time(quorum), (leader, epoch)


def _first_within(times: Iterable[float], span: Span) -> float:
    return next((at for at in times if span.start < at < span.end), span.end)


def _looks(node: int, events: Sequence[Event]) -> list[tuple[float, int | None]]:
    """Return what each answer of a leader said of a node's log end offset; None when it did not list the node."""
    answered = [q for q in _of(events, "quorum") if int(q["leader"]) >= 0]
    told = [(_time(q), q.get("observers", {}).get(str(node))) for q in answered]
    return [(at, None if offset is None or offset < 0 else int(offset)) for at, offset in told]


def _stalls(looks: Sequence[tuple[float, int | None]], life: Sequence[Span], seconds: float) -> tuple[Span, ...]:
    """Return when a running observer was seen, for longer than STALL_SECONDS, not to grow."""
    grown = _growth(looks)
    pauses = itertools.pairwise([*grown, seconds]) if grown else ()
    running = [span for span in life if span.name == "ready"]
    return tuple(
        Span("no progress", start, end)
        for start, end in ((_stood_still(looks, start, end), end) for start, end in pauses)
        if end - start > STALL_SECONDS and any(s.start <= start < s.end for s in running)
    )


def _stood_still(looks: Sequence[tuple[float, int | None]], grew: float, end: float) -> float:
    """Return since when the observer was seen standing still after it last grew; `end` if it never was.

    Voters that name no leader say nothing of the observer, so silence alone is no stall.
    """
    first = next((at for at, _ in looks if grew < at < end), end)
    return grew if first < end and first - grew <= STALL_SECONDS else first


def _growth(looks: Sequence[tuple[float, int | None]]) -> list[float]:
    """Return the times of the looks that showed a higher offset than all before."""
    highest, grown = -1, []
    for at, offset in looks:
        if offset is not None and offset > highest:
            highest = offset
            grown.append(at)
    return grown


def _steps(events: Sequence[Event]) -> tuple[Step, ...]:
    """Pair the begin of each step with its end; a step that never ended is `unfinished`."""
    steps: list[Step] = []
    open_step: Event | None = None
    for event in _of(events, "step"):
        if event["status"] == "begin":
            open_step = event
            continue
        steps.append(_step(open_step, event))
        open_step = None
    if open_step is not None:
        steps.append(_step(open_step, {**open_step, "status": "unfinished"}))
    return tuple(steps)


def _step(began: Event | None, ended: Event) -> Step:
    end = _time(ended)
    same = began is not None and began.get("text") == ended.get("text")
    start = _time(began) if began is not None and same else max(0.0, end - float(ended.get("seconds", 0.0)))
    detail = ended.get("detail") or ""
    return Step(
        kind=str(ended["kind"]),
        text=str(ended["text"]),
        status=str(ended["status"]),
        start=start,
        end=end,
        line=int(ended.get("seq", 0)),
        detail=str(detail),
        name=str(ended.get("name", "")),
    )


def _starvations(events: Sequence[Event]) -> tuple[Step, ...]:
    return tuple(_starvation(event) for event in _of(events, "stall"))


def _starvation(event: Event) -> Step:
    who = "the harness" if int(event["node"]) < 0 else f"node {event['node']}"
    end = _time(event)
    start = max(0.0, end - float(event["seconds"]))
    return Step("host", f"gave {who} no processor", "failed", start, end, int(event.get("seq", 0)))
