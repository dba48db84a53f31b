"""Writes that base makes durable or atomic: whether each method that led to that still does, by the call graph."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from harness.base.text import listed
from harness.model.proof import Difference, Severity
from harness.proof.bytecode import Classes, Use
from harness.proof.dropin import rules
from harness.proof.dropin.call_graph import CallGraph, Method
from harness.proof.dropin.class_changes import top_level, visible
from harness.proof.dropin.idioms import canonical, is_compilers_own, is_lambda

_UTILS, _FILE, _CHANNELS = r"org/apache/kafka/common/utils/Utils\.", "java/nio/file/Standard", "java/nio/channels/"
_DOES = {
    "syncs a file": re.compile(
        rf"java/io/FileDescriptor\.sync\(|{_CHANNELS}\w*FileChannel\.force\(|java/nio/MappedByteBuffer\.force\("
        rf"|{_UTILS}flush(?!Dir)\w*\(|{_FILE}OpenOption\.D?SYNC"
    ),
    "syncs a folder": re.compile(rf"{_UTILS}(?:flushDir\w*\(|atomicMoveWithFallback\([^)Z]*\))"),
    "moves a file atomically": re.compile(rf"{_UTILS}atomicMove\w*\(|{_FILE}CopyOption\.ATOMIC_MOVE"),
    "flushes what it then syncs": re.compile(r"java/io/\w*(?:Writer|OutputStream)\.flush\("),
    "flushes the log": re.compile(r"org/apache/kafka/raft/(?:ReplicatedLog|RaftLog)\.flush\("),
}
"""What makes a write durable or atomic, each apart: one stands for no other. Matched as `owner.name(descriptor)`."""
_BESIDE = {"flushes what it then syncs": _DOES["syncs a file"]}  # elsewhere it makes nothing durable
# What is known to do none of it, but for what stands above: of the JDK only a file that is opened "rws" may.
_HARMLESS = re.compile(rf"(?:java|javax)/(?!io/RandomAccessFile\.<init>)|org/slf4j/|{_UTILS}")
_FOR_OTHERS, _SYNTHETIC = 0x1 | 0x4, 0x1000
_MOST_NAMED = 3
Edges = Mapping[Method, Set[Method]]


def compare_durability(base: Classes, candidate: Classes) -> Iterator[Difference]:
    """Yield the places in base that make a write durable or atomic to which methods no longer lead, by class.

    A method leads there by what it calls, so that a helper more or less makes no difference. What other methods of the
    jar do instead (a caller newly does so itself) is no difference for who is private to its package and a warning
    for others, and so is what another jar may do that the method newly calls.
    """
    old = _Jar.of(base)
    new = _Jar.of(candidate, old)
    for does, pattern in _DOES.items():
        known = _Ways.of(old, pattern, _BESIDE.get(does))
        found: dict[str, list[_Lost]] = defaultdict(list)
        for lost in _lost(known, _Ways.of(new, pattern), visible(base).keys()):
            found[top_level(known.place(lost.method)[0])].append(lost)
        for top, methods in sorted(found.items()):
            yield _described(does, top, known, methods)


@dataclass(frozen=True, slots=True)
class _Jar:
    """A jar's call graph: what each method calls in the jar for sure, and what it may call by way of other jars.

    `callers` are those for sure. `newly` is what is called for sure, and what may be called that might not in base.
    """

    graph: CallGraph
    sure: Edges
    callers: Edges
    possible: Edges
    newly: Edges

    @staticmethod
    def of(classes: Classes, base: _Jar | None = None) -> _Jar:
        graph = CallGraph(classes)
        sure = {method: frozenset(_surely_called(graph, method)) for method in graph.methods}
        possible = {method: frozenset(graph.called_by(method)) for method in graph.methods}
        newly = _newly(graph, possible, base) if base else {}
        return _Jar(graph, sure, _turned(sure), possible, {each: sure[each] | newly.get(each, set()) for each in sure})


@dataclass(frozen=True, slots=True)
class _Ways:
    """The methods of a jar that lead to what makes a write durable, each with the next on its way (None: it does so).

    `newly` are those that lead there if other jars call back what they could not in base; `uses` is by what a method
    does so itself.
    """

    jar: _Jar
    sure: Mapping[Method, Method | None]
    newly: Set[Method]
    uses: Mapping[Method, Sequence[Use]]

    @staticmethod
    def of(jar: _Jar, pattern: re.Pattern[str], beside: re.Pattern[str] | None = None) -> _Ways:
        """Return the ways to what uses a pattern itself; with `beside`, to what uses that too."""
        uses = {
            method: found
            for method in jar.graph.methods
            if (found := _uses(jar.graph, method, pattern)) and (beside is None or _uses(jar.graph, method, beside))
        }
        return _Ways(jar, _leading(jar.callers, uses), _leading(_turned(jar.newly), uses).keys(), uses)

    def way(self, method: Method) -> list[Method]:
        """Return the methods from this one to the one that makes the write durable, both included."""
        found, following = [method], self.sure[method]
        while following:
            found.append(following)
            following = self.sure[following]
        return found

    def place(self, method: Method) -> Method:
        """Return the method that makes the write durable to which a method leads."""
        return self.way(method)[-1]


@dataclass(frozen=True, slots=True)
class _Lost:
    """A method of both jars that led to what makes a write durable in base alone; `certain` where nothing may do it."""

    method: Method
    certain: bool


def _newly(graph: CallGraph, possible: Edges, base: _Jar) -> Edges:
    """Return what methods may call that they might not in base; lambdas of a class are one, whatever their numbers."""
    known: dict[Method, set[Method]] = defaultdict(set)
    for method, called in base.possible.items():
        known[_unnumbered(base.graph, method)].update(_unnumbered(base.graph, each) for each in called)
    return {
        method: {each for each in called if _unnumbered(graph, each) not in known[_unnumbered(graph, method)]}
        for method, called in possible.items()
    }


def _unnumbered(graph: CallGraph, method: Method) -> Method:
    return (method[0], "", "") if is_lambda(graph.methods[method]) else method


def _surely_called(graph: CallGraph, method: Method) -> Iterator[Method]:
    uses = graph.methods[method].uses
    for place, use in enumerate(uses):
        if use.kind == "call" and use.owner in graph.classes and not _is_handed_over(graph, uses, place):
            yield from graph.targets(use)


def _uses(graph: CallGraph, method: Method, pattern: re.Pattern[str]) -> list[Use]:
    """Return what a method itself makes a write durable with."""
    uses = graph.methods[method].uses
    return [
        use
        for place, use in enumerate(uses)
        if use.kind in ("call", "get") and pattern.match(_text(use)) and not _is_handed_over(graph, uses, place)
    ]


def _is_handed_over(graph: CallGraph, uses: Sequence[Use], place: int) -> bool:
    return bool(uses[place].made_into) and graph.handed_over(uses, place)


def _turned(edges: Edges) -> Edges:
    """Return the callers of each method."""
    callers: dict[Method, set[Method]] = {method: set() for method in edges}
    for caller, called in edges.items():
        for each in called:
            callers[each].add(caller)
    return callers


def _leading(callers: Edges, ends: Mapping[Method, object]) -> dict[Method, Method | None]:
    """Return every method that leads to one of these, with the next on its shortest way."""
    found: dict[Method, Method | None] = dict.fromkeys(sorted(ends))
    waiting = deque(found)
    while waiting:
        method = waiting.popleft()
        for caller in sorted(callers[method] - found.keys()):
            found[caller] = method
            waiting.append(caller)
    return found


def _lost(old: _Ways, new: _Ways, named: Set[str]) -> Iterator[_Lost]:
    for method in sorted(old.sure.keys() & new.jar.graph.methods.keys() - new.sure.keys()):
        # What the compiler numbers and what no source can name says nothing: its callers lead there.
        if method[0] not in named or old.jar.graph.methods[method].access & _SYNTHETIC:
            continue
        moved = _has_moved(method, old, new)
        if not moved or _is_for_others(method, new):
            elsewhere = moved or method in new.newly or _calls_the_unknown(method, old.jar, new.jar)
            yield _Lost(method, certain=not elsewhere and _is_torn(method, old, new))


def _is_torn(method: Method, old: _Ways, new: _Ways) -> bool:
    """Whether a method did so itself, or what it called for that is called by nobody any more.

    Who no longer calls what still does so for others may have nothing to write any more.
    """
    following = old.sure[method]
    if following is None:
        return True
    return following in new.sure and not new.jar.callers[following] and not _is_for_others(following, new)


def _is_for_others(method: Method, ways: _Ways) -> bool:
    return bool(ways.jar.graph.methods[method].access & _FOR_OTHERS)


def _has_moved(method: Method, old: _Ways, new: _Ways) -> bool:
    """Whether on each way to a method that lost what makes a write durable a caller does so instead."""
    seen, waiting = {method}, [method]
    while waiting:
        each = waiting.pop()
        callers = new.jar.callers[each] - {each}
        if not callers and _is_for_others(each, new):
            return False
        still = {caller for caller in callers - seen if not _does_instead(caller, each, old, new)}
        if still & new.sure.keys():
            return False
        seen |= still
        waiting += still
    return True


def _does_instead(caller: Method, method: Method, old: _Ways, new: _Ways) -> bool:
    """Whether a caller newly does, or newly calls what does, what a method that it calls no longer does."""
    more = len(new.uses.get(caller, ())) > len(old.uses.get(caller, ()))
    known = {_unnumbered(old.jar.graph, each) for each in old.jar.sure.get(caller, frozenset())}
    newly = {each for each in new.jar.sure[caller] - {method} if _unnumbered(new.jar.graph, each) not in known}
    return more or not newly.isdisjoint(new.sure)


def _calls_the_unknown(method: Method, old: _Jar, new: _Jar) -> bool:
    """Whether a method newly leads to another jar's method that might make a write durable."""
    return any(not _HARMLESS.match(each) for each in _outside(method, new) - _outside(method, old))


def _outside(method: Method, jar: _Jar) -> set[str]:
    """Return the methods of other jars that a method leads to."""
    seen, waiting, found = {method}, [method], set[str]()
    while waiting:
        each = waiting.pop()
        uses = jar.graph.methods[each].uses
        calls = (use for use in uses if use.kind == "call" and use.owner not in jar.graph.classes)
        found.update(_text(canonical(use)) for use in calls if not is_compilers_own(use))
        called = jar.sure[each] - seen
        seen |= called
        waiting += called
    return found


def _described(does: str, top: str, known: _Ways, lost: Sequence[_Lost]) -> Difference:
    nearest = sorted(lost, key=lambda each: (len(known.way(each.method)), each.method))
    place = known.place(nearest[0].method)
    by = " and ".join(sorted({f"{_short(use.owner)}.{use.name}" for use in known.uses[place]}))
    methods = listed(list(dict.fromkeys(_written(each.method) for each in nearest)), _MOST_NAMED)
    detail = f"{methods}: base {does} there ({by} in {_written(place)}), the candidate does not"
    certain = any(each.certain for each in lost)
    rule = rules.NO_LONGER_DURABLE if certain else rules.NO_LONGER_DURABLE.weighing(Severity.WARNING)
    return rule.broken(_dotted(top), detail if certain else f"{detail}; something else may do it now", by)


def _text(use: Use) -> str:
    return f"{use.owner}.{use.name}{use.descriptor}"


def _written(method: Method) -> str:
    owner, name, _ = method
    return f"the constructor of {_short(owner)}" if name == "<init>" else f"{_short(owner)}.{name}"


def _short(name: str) -> str:
    return name.rpartition("/")[2].replace("$", ".")


def _dotted(name: str) -> str:
    return name.replace("/", ".")
