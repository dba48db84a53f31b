"""What threads share in base: fields that were volatile and methods that took a lock, and are and do not any more."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from harness.model.proof import Difference
from harness.proof.bytecode import Classes, ClassFacts, MethodFacts, Use
from harness.proof.dropin import rules
from harness.proof.dropin.call_graph import Method
from harness.proof.dropin.class_changes import nests

_VOLATILE, _FINAL = 0x40, 0x10
_PRIVATE, _SYNTHETIC = 0x2, 0x1000
_LOCKS = re.compile(
    r"java/util/concurrent/locks/[\w$]+\.(?:lock|tryLock|readLock|writeLock|try\w+Lock|tryOptimisticRead)"
    r"|.*\(.*Ljava/util/concurrent/locks/"  # given a lock, to hold it while it does something
)
_UNSYNCHRONIZED = "is not synchronized any more, and takes no lock itself"
_UNLOCKED = "takes no lock any more, as base's does"


def compare_guards(base: Classes, candidate: Classes) -> Iterator[Difference]:
    """Yield fields and methods of both jars that lost their guard: what one thread writes another may never see.

    They are warnings: one thread may be all that is left, or callers hold a lock, which bytecode does not tell.
    """
    for name in sorted(base.keys() & candidate.keys()):
        yield from _fields(base[name], candidate[name])
    old, new = nests(base), nests(candidate)
    for top in sorted(old.keys() & new.keys()):
        yield from _methods(Locking(old[top]), Locking(new[top]))


def _fields(base: ClassFacts, candidate: ClassFacts) -> Iterator[Difference]:
    kept = {(each.name, each.descriptor): each.access for each in candidate.fields}
    for each in base.fields:
        access = kept.get((each.name, each.descriptor), _FINAL)
        if each.access & _VOLATILE and not access & (_VOLATILE | _FINAL):
            where = f"{base.name.replace('/', '.')}.{each.name}"
            detail = f"{where} is not volatile any more: a thread may never see what another writes"
            yield rules.NO_LONGER_VOLATILE.broken(where, detail, "volatile")


class Locking:
    """Which methods of a class, with all that is nested in it, take a lock, and which lead to those."""

    def __init__(self, nest: Sequence[ClassFacts]) -> None:
        self.methods: Mapping[Method, MethodFacts] = {
            (facts.name, each.name, each.descriptor): each for facts in nest for each in facts.methods
        }
        self._callers: dict[Method, set[Method]] = defaultdict(set)
        for caller, facts in self.methods.items():
            for called in self._called(facts):
                self._callers[called].add(caller)

    def takers(self, method: Method, *, private: bool = False) -> Set[Method]:
        """Return what takes a lock of a method and what it leads to, or of what is `private` to it alone."""
        return {each for each in self.reached(method, private=private) if _locks(self.methods[each])}

    def reached(self, method: Method, *, private: bool = False) -> Set[Method]:
        """Return a method and what it calls in its nest, lambdas too; `private`: only through what is its own."""
        found, waiting = {method}, [method]
        while waiting:
            called = set(self._called(self.methods[waiting.pop()])) - found
            new = {each for each in called if not private or self.methods[each].access & (_PRIVATE | _SYNTHETIC)}
            found |= new
            waiting += new
        return found

    def is_held(self, method: Method) -> bool:
        """Whether only what takes a lock calls a method, or what makes the object, which no other thread knows yet."""
        found, waiting = {method}, [method]
        while waiting:
            each = waiting.pop()
            facts = self.methods[each]
            if _locks(facts) or facts.name == "<init>":
                continue
            if not facts.access & (_PRIVATE | _SYNTHETIC):
                return False
            new = self._callers[each] - found
            found |= new
            waiting += new
        return True

    def _called(self, facts: MethodFacts) -> Iterator[Method]:
        for use in facts.uses:
            called = use.owner, use.name, use.descriptor
            if use.kind == "call" and called in self.methods:
                yield called


def _methods(base: Locking, candidate: Locking) -> Iterator[Difference]:
    for method, facts in base.methods.items():
        if _is_shared(method, candidate) and _is_lost(method, base, candidate):
            where = f"{method[0].replace('/', '.')}.{facts.name}{facts.descriptor}"
            lost, was = (_UNSYNCHRONIZED, "synchronized") if facts.is_synchronized else (_UNLOCKED, "a lock")
            detail = f"{where} {lost}: two threads may be in it at once"
            yield rules.NO_LONGER_SYNCHRONIZED.broken(where, detail, was)


def _is_shared(method: Method, candidate: Locking) -> bool:
    """Whether the candidate has a method of the source with code, of an object that several threads may know."""
    facts = candidate.methods.get(method)
    return bool(facts and facts.code and not facts.access & _SYNTHETIC and not facts.name.startswith("<"))


def _is_lost(method: Method, base: Locking, candidate: Locking) -> bool:
    """Whether a method took a lock, itself or in what is private to it, and neither it nor who calls it does now.

    What it leads to may take it for it, unless that did so already while base's method held its own. Where a helper
    that is still there no longer takes it, the helper is named.
    """
    was = base.takers(method, private=True)
    was = {method} if method in was else was
    if not was or candidate.takers(method) - (base.takers(method) - was) or candidate.is_held(method):
        return False
    helpers = candidate.reached(method) & was - {method}
    return not any(_is_shared(each, candidate) for each in helpers)


def _locks(method: MethodFacts) -> bool:
    return method.is_synchronized or method.enters_monitor or any(map(_takes, method.uses))


def _takes(use: Use) -> bool:
    return use.name != "<init>" and _LOCKS.match(f"{use.owner}.{use.name}{use.descriptor}") is not None
