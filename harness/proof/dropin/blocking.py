"""Calls that block or end the JVM, which base does not make: on the thread that drives Raft, and elsewhere."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from harness.model.proof import Difference
from harness.proof.bytecode import Classes, Use
from harness.proof.dropin import rules
from harness.proof.dropin.blocking_calls import BLOCKS
from harness.proof.dropin.call_graph import CallGraph, Method
from harness.proof.dropin.class_changes import CompiledBaseline, top_level

_MOST_STEPS = 5  # of the way from the loop to a call
_LAMBDA = re.compile(r"lambda\$(\w+)\$\d+")
# A method and a line in it: compilers repeat what stands in `finally`. Where the candidate has no lines, how many
# instructions that use something are before it.
Place = tuple[Method, int]
Called = tuple[str, str]  # a top-level class, and what it calls


@dataclass(frozen=True, slots=True)
class _Sites:
    """Where a jar's classes call what blocks or ends the JVM: on the raft thread, and anywhere."""

    on_raft_thread: Mapping[Called, Set[Place]]
    anywhere: Mapping[Called, Set[Place]]


def compare_blocking(candidate: Classes, baselines: Sequence[CompiledBaseline]) -> Iterator[Difference]:
    """Yield the calls that no baseline makes at as many places, by top-level class: on the raft thread, and elsewhere.

    A call that only moved is not new. What calls a method of base's own that blocks, blocks.
    """
    graph, olds = CallGraph(candidate), [CallGraph(each.classes) for each in baselines]
    wrappers = frozenset(method for each in olds for method in _blocking_methods(each))
    has_lines = any(use.line for facts in graph.methods.values() for use in facts.uses)
    new, known = _sites(graph, wrappers, has_lines), [_sites(each, wrappers, has_lines) for each in olds]
    grave = _more(new.on_raft_thread, [each.on_raft_thread for each in known])
    other = _more(new.anywhere, [each.anywhere for each in known]) - grave
    for top, called in _by_class(grave):
        way = _way(graph.raft_thread, new.on_raft_thread[top, called[0]])
        detail = f"{_dotted(top)} newly calls {', '.join(called)} on the raft thread ({way})"
        yield rules.BLOCKS_OR_ENDS.broken(_dotted(top), detail, "", ", ".join(called))
    for top, called in _by_class(other):
        detail = f"{_dotted(top)} newly calls {', '.join(called)}, not on the raft thread"
        yield rules.BLOCKS_ELSEWHERE.broken(_dotted(top), detail, "", ", ".join(called))


def _sites(graph: CallGraph, wrappers: Set[Method], has_lines: bool) -> _Sites:
    on_raft_thread: dict[Called, set[Place]] = defaultdict(set)
    anywhere: dict[Called, set[Place]] = defaultdict(set)
    for method, facts in graph.methods.items():
        for at, use in enumerate(facts.uses):
            for name in _blocking(graph, use, wrappers):
                called, place = (top_level(method[0]), name), (method, use.line if has_lines else at)
                anywhere[called].add(place)
                if method in graph.raft_thread and not (use.made_into and graph.handed_over(facts.uses, at)):
                    on_raft_thread[called].add(place)
    return _Sites(on_raft_thread, anywhere)


def _blocking(graph: CallGraph, use: Use, wrappers: Set[Method] = frozenset()) -> Iterator[str]:
    """Yield by which names a call blocks or ends the JVM: those of other jars' methods, or of base's own."""
    if use.kind != "call":
        return
    outside = next(filter(BLOCKS.match, graph.declared_as(use)), "")
    if outside:
        yield _dotted(outside.partition("(")[0])
    elif wrappers and use.owner in graph.classes:
        yield from sorted({_dotted(f"{each[0]}.{each[1]}") for each in graph.targets(use) if each in wrappers})


def _blocking_methods(graph: CallGraph) -> Iterator[Method]:
    for method, facts in graph.methods.items():
        if any(any(_blocking(graph, use)) for use in facts.uses):
            yield method


def _more(new: Mapping[Called, Set[Place]], olds: Sequence[Mapping[Called, Set[Place]]]) -> Set[Called]:
    """Return what is called at more places in all than in any baseline, by the classes that have more of them."""
    known = [(_counts(old), old) for old in olds]
    found: set[Called] = set()
    for name, count in _counts(new).items():
        counts, most = max(known, key=lambda each: each[0][name])
        if count > counts[name]:
            found.update(each for each in new if each[1] == name and len(new[each]) > len(most.get(each, ())))
    return found


def _counts(sites: Mapping[Called, Set[Place]]) -> Counter[str]:
    """Return at how many places of all classes what is called."""
    counts = Counter[str]()
    for (_, name), places in sites.items():
        counts[name] += len(places)
    return counts


def _by_class(calls: Iterable[Called]) -> Iterator[tuple[str, list[str]]]:
    for top, group in groupby(sorted(calls), key=lambda called: called[0]):
        yield top, [name for _, name in group]


def _way(reached: Mapping[Method, Method | None], places: Set[Place]) -> str:
    """Return the shortest way from the loop to one of these places, by the methods that lie on it."""
    names = min((_steps(reached, method) for method, _ in sorted(places)), key=len)
    if len(names) > _MOST_STEPS:
        names = [*names[:2], "…", *names[2 - _MOST_STEPS :]]
    return " → ".join(names)


def _steps(reached: Mapping[Method, Method | None], method: Method | None) -> list[str]:
    names: list[str] = []
    while method:
        names.append(f"{method[0].rpartition('/')[2]}.{_written(method[1])}")
        method = reached.get(method)
    return [name for name, _ in groupby(reversed(names))]


def _written(method: str) -> str:
    """Return the method that a lambda stands in, or the method itself."""
    found = _LAMBDA.fullmatch(method)
    return found.group(1) if found else method


def _dotted(name: str) -> str:
    return name.replace("/", ".")
