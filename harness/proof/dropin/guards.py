"""What threads share in base: fields that were volatile and methods that were synchronized, and are not any more."""

from __future__ import annotations

import re
from collections.abc import Iterator

from harness.model.proof import Difference
from harness.proof.bytecode import Classes, ClassFacts, MethodFacts
from harness.proof.dropin import rules

_VOLATILE, _FINAL = 0x40, 0x10
_LOCKS = re.compile(r"java/util/concurrent/locks/[\w$]+\.(?:lock|tryLock|readLock|writeLock|tryOptimisticRead)")


def compare_guards(base: Classes, candidate: Classes) -> Iterator[Difference]:
    """Yield fields and methods of both jars that lost their guard: what one thread writes another may never see.

    They are warnings: one thread may be all that is left, or callers hold a lock, which bytecode does not tell.
    """
    for name in sorted(base.keys() & candidate.keys()):
        yield from _fields(base[name], candidate[name])
        yield from _methods(base[name], candidate[name])


def _fields(base: ClassFacts, candidate: ClassFacts) -> Iterator[Difference]:
    kept = {(each.name, each.descriptor): each.access for each in candidate.fields}
    for each in base.fields:
        access = kept.get((each.name, each.descriptor), _FINAL)
        if each.access & _VOLATILE and not access & (_VOLATILE | _FINAL):
            where = f"{base.name.replace('/', '.')}.{each.name}"
            detail = f"{where} is not volatile any more: a thread may never see what another writes"
            yield rules.NO_LONGER_VOLATILE.broken(where, detail, "volatile")


def _methods(base: ClassFacts, candidate: ClassFacts) -> Iterator[Difference]:
    kept = {(each.name, each.descriptor): each for each in candidate.methods}
    for each in base.methods:
        method = kept.get((each.name, each.descriptor))
        if not method or not method.code:  # it may be abstract now
            continue
        if each.is_synchronized and not any(map(_locks, _with_helpers(method, candidate))):
            where = f"{base.name.replace('/', '.')}.{each.name}{each.descriptor}"
            detail = f"{where} is not synchronized any more, and takes no lock itself: two threads may be in it at once"
            yield rules.NO_LONGER_SYNCHRONIZED.broken(where, detail, "synchronized")


def _with_helpers(method: MethodFacts, owner: ClassFacts) -> Iterator[MethodFacts]:
    """Yield a method and those of its class that it calls."""
    called = {(use.name, use.descriptor) for use in method.uses if use.owner == owner.name and use.kind == "call"}
    yield method
    yield from (each for each in owner.methods if (each.name, each.descriptor) in called)


def _locks(method: MethodFacts) -> bool:
    return (
        method.is_synchronized
        or method.enters_monitor
        or any(_LOCKS.match(f"{use.owner}.{use.name}") for use in method.uses)
    )
