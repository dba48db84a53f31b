"""What happened in one run, node by node, read from its journal; pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.model.events import (
    ENDED,
    NO_NODE,
    Event,
    HostShort,
    HostStalled,
    NodeChanged,
    NodeProved,
    PhaseStarted,
    QuorumSeen,
    RoleChanged,
    StepChanged,
    is_of_the_plan,
)
from harness.rundir.journal import Entry

_E = TypeVar("_E", bound=Event)

# A no-op record is appended every 500 ms and the quorum is journaled once a second: an observer that has not
# moved for this long has missed several.
STALL_SECONDS = 3.0
BASE, CANDIDATE = "base", "candidate"  # whose jars a node runs
GOING = ("stopping", *ENDED)


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasts; seconds since the run began."""

    name: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class RoleSpan:
    """How long a node was in a state of Raft, by its own log; `leader` is whom it knew as leader, -1 for nobody."""

    role: str
    epoch: int
    leader: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Lane:
    """One node: its life (`starting ready stopping stopped killed died`), the epochs it led, its progress.

    `offsets` are (seconds, log end offset) as the voters saw them, for observers only; `stalls` are the spans
    in which such an observer's log did not grow although it should have. `runs` says whose jars it was seen to run
    (`base` or `candidate`); empty in a run in which every node ran the same. `roles` are its states of Raft.
    """

    node: int
    role: str
    life: tuple[Span, ...]
    leads: tuple[Span, ...]
    offsets: tuple[tuple[float, int], ...]
    stalls: tuple[Span, ...]
    runs: tuple[Span, ...] = ()
    roles: tuple[RoleSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A step that ended: `kind` is `do guard expect bind background`, `status` its end.

    `name` is the expectation's. A moment without a processor, or a resource that ran short, is a step of the kind
    `host`.
    """

    kind: str
    text: str
    status: str
    start: float
    end: float
    detail: str = ""
    name: str = ""

    @property
    def notable(self) -> bool:
        """Whether a reader of the timeline looks for it: what was done, expected, or did not succeed."""
        if self.status == "skipped":
            return False
        return self.kind in ("do", "expect", "background", "measure", "host") or self.status in ("unmet", "failed")


@dataclass(frozen=True, slots=True)
class Timeline:
    """One run from beginning to end, `seconds` long."""

    seconds: float
    phases: tuple[Span, ...]
    lanes: tuple[Lane, ...]
    steps: tuple[Step, ...]


def timeline_of(entries: Sequence[Entry]) -> Timeline:
    """Return the timeline of a journal, up to the end of its plan; an empty journal gives an empty one."""
    seconds = _plan_ended(entries)
    entries = [entry for entry in entries if entry.t <= seconds]
    return Timeline(
        seconds,
        _phases(entries, seconds),
        tuple(_lane(node, role, entries, seconds) for node, role in _nodes(entries)),
        tuple(sorted((*_steps(entries), *_starvations(entries)), key=lambda step: step.start)),
    )


def _plan_ended(entries: Sequence[Entry]) -> float:
    """Return when the plan had nothing more to do or to look at; what follows is the harness tidying up."""
    of_the_plan = [entry.t for entry in entries if is_of_the_plan(entry.event)]
    return max(of_the_plan or [entry.t for entry in entries], default=0.0)


def of_kind(entries: Iterable[Entry], kind: type[_E]) -> list[tuple[float, _E]]:
    """Return the events of a kind with their times."""
    return [(entry.t, entry.event) for entry in entries if isinstance(entry.event, kind)]


def _phases(entries: Sequence[Entry], seconds: float) -> tuple[Span, ...]:
    return _until_next([(at, phase.name) for at, phase in of_kind(entries, PhaseStarted)], seconds)


def last_phase(entries: Iterable[Entry]) -> str:
    """Return the name of the phase in which a journal ends; empty when it has none."""
    return next((phase.name for _, phase in reversed(of_kind(entries, PhaseStarted))), "")


def _until_next(marks: Sequence[tuple[float, str]], seconds: float) -> tuple[Span, ...]:
    """Return spans that each last until the next begins, the last until the end."""
    bounds = itertools.pairwise([*marks, (seconds, "")])
    return tuple(Span(name, at, end) for (at, name), (end, _) in bounds)


def _nodes(entries: Sequence[Entry]) -> list[tuple[int, str]]:
    """Return the nodes and whether each is a voter or an observer, as the voters' own answers say."""
    quorums = [quorum for _, quorum in of_kind(entries, QuorumSeen)]
    voters = {node for quorum in quorums for node in quorum.voters}
    observers = {node for quorum in quorums for node in quorum.observers}
    seen = {change.node for _, change in of_kind(entries, NodeChanged)}
    # A restarting voter can be listed as an observer for a moment: having voted decides.
    role = {node: "voter" if node in voters else "observer" if node in observers else "" for node in seen}
    return sorted(role.items())


def _lane(node: int, role: str, entries: Sequence[Entry], seconds: float) -> Lane:
    life = _life(node, entries, seconds)
    looks = _looks(node, entries) if role == "observer" else []
    offsets = tuple((at, offset) for at, offset in looks if offset is not None)
    runs = _runs(node, entries, seconds) if _is_mixed(entries) else ()
    stalls, roles = _stalls(looks, life, seconds), _roles(node, entries, seconds)
    return Lane(node, role, life, _leads(node, entries, seconds), offsets, stalls, runs, roles)


def _life(node: int, entries: Sequence[Entry], seconds: float) -> tuple[Span, ...]:
    changes = of_kind(entries, NodeChanged)
    return _until_next([(at, change.state) for at, change in changes if change.node == node], seconds)


def _is_mixed(entries: Sequence[Entry]) -> bool:
    """Whether some nodes were seen to run jars that base does not have, and others not."""
    return len({bool(proved.differing) for _, proved in of_kind(entries, NodeProved) if proved.jars}) > 1


def _runs(node: int, entries: Sequence[Entry], seconds: float) -> tuple[Span, ...]:
    """Return whose jars a node was seen to run, each from its proof until it ended."""
    proofs = [(at, proved) for at, proved in of_kind(entries, NodeProved) if proved.node == node and proved.jars]
    spans = _until_next([(at, CANDIDATE if proved.differing else BASE) for at, proved in proofs], seconds)
    ends = [at for at, change in of_kind(entries, NodeChanged) if change.node == node and change.state in GOING]
    return tuple(Span(span.name, span.start, _first_within(ends, span)) for span in spans)


def _roles(node: int, entries: Sequence[Entry], seconds: float) -> tuple[RoleSpan, ...]:
    """Return a node's states, each until the next one or until the node ended; they were read a little later."""
    changes = [(max(at - each.ago, 0.0), each) for at, each in of_kind(entries, RoleChanged) if each.node == node]
    ends = [at for at, change in of_kind(entries, NodeChanged) if change.node == node and change.state in ENDED]
    spans = itertools.pairwise([*changes, (seconds, None)])
    return tuple(
        RoleSpan(each.role, each.epoch, each.leader, at, _first_within(ends, Span("", at, end)))
        for (at, each), (end, _) in spans
        if each is not None and at <= end
    )


def _leads(node: int, entries: Sequence[Entry], seconds: float) -> tuple[Span, ...]:
    """Return the epochs that a node was seen to lead, each until another answer or until the node ended."""
    changes = [next(group) for _, group in itertools.groupby(_answers(entries), key=lambda answer: answer[1])]
    spans = _until_next([(at, f"{leader} {epoch}") for at, (leader, epoch) in changes], seconds)
    ends = [at for at, change in of_kind(entries, NodeChanged) if change.node == node and change.state in ENDED]
    mine = [span for span in spans if span.name.split()[0] == str(node)]
    return tuple(Span(s.name.split()[1], s.start, _first_within(ends, s)) for s in mine)


def _answers(entries: Sequence[Entry]) -> Iterator[tuple[float, tuple[int, int]]]:
    """Yield when the voters named which leader and epoch; silence between two equal answers is no election."""
    latest = -1
    for at, quorum in of_kind(entries, QuorumSeen):
        if quorum.leader >= 0 or quorum.epoch > latest:
            latest = max(latest, quorum.epoch)
            yield at, (quorum.leader, quorum.epoch)


def _first_within(times: Iterable[float], span: Span) -> float:
    return next((at for at in times if span.start < at < span.end), span.end)


def _looks(node: int, entries: Sequence[Entry]) -> list[tuple[float, int | None]]:
    """Return what each answer of a leader said of a node's log end offset; None when it did not list the node."""
    answered = [(at, quorum) for at, quorum in of_kind(entries, QuorumSeen) if quorum.leader >= 0]
    offsets = [(at, quorum.observers.get(node)) for at, quorum in answered]
    return [(at, None if offset is None or offset < 0 else offset) for at, offset in offsets]


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


def _steps(entries: Sequence[Entry]) -> tuple[Step, ...]:
    """Pair the begin of each step with its end; a step that never ended is `unfinished`."""
    steps: list[Step] = []
    begun: tuple[Entry, StepChanged] | None = None
    for entry in entries:
        if not isinstance(entry.event, StepChanged):
            continue
        if entry.event.status == "begin":
            begun = (entry, entry.event)
            continue
        steps.append(_step(begun, entry, entry.event))
        begun = None
    if begun is not None:
        entry, step = begun
        steps.append(Step(step.step, step.text, "unfinished", entry.t, entry.t, name=step.name))
    return tuple(steps)


def _step(begun: tuple[Entry, StepChanged] | None, entry: Entry, step: StepChanged) -> Step:
    same = begun is not None and begun[1].text == step.text
    start = begun[0].t if begun is not None and same else max(0.0, entry.t - step.seconds)
    return Step(step.step, step.text, step.status, start, entry.t, step.detail, step.name)


def _starvations(entries: Sequence[Entry]) -> tuple[Step, ...]:
    return tuple(itertools.chain.from_iterable(map(_starvation, entries)))


def _starvation(entry: Entry) -> Iterator[Step]:
    match entry.event:
        case HostStalled(node=node) as stall if node == NO_NODE:
            yield Step("host", stall.sentence, "failed", entry.t, entry.t)
        case HostStalled() as stall:
            start = max(0.0, entry.t - stall.seconds)
            yield Step("host", f"gave {stall.who} no processor", "failed", start, entry.t)
        case HostShort(reason=reason):
            yield Step("host", f"slowed the run down: {reason}", "failed", entry.t, entry.t)
