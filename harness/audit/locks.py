"""Which lock guards a field: the one that is held wherever it is read or written; pure."""

from __future__ import annotations

from collections.abc import Iterator

from harness.audit.code import Access, Deferred, Locked, Step
from harness.audit.flow import parts
from harness.audit.graph import Graph, split_member

_NONE: frozenset[str] = frozenset()


def guard_of(field: str, graph: Graph) -> str:
    """Return the lock that is held at every read and write of a field outside of constructors; empty for none.

    That is the object that has the field (`Class.this`), or what a final field of its class holds (`Class.name`).
    """
    held = [locks for method in graph.acts for locks in _held_at(field, method.body, _NONE)]
    common = frozenset.intersection(*held) if held else _NONE
    return min((lock for lock in common if _is_always_one(lock, split_member(field)[0], graph)), default="")


def _held_at(field: str, step: Step, locks: frozenset[str]) -> Iterator[frozenset[str]]:
    """Yield the locks that are held at each access in a step; what a lambda does it may do later, without them."""
    match step:
        case Access(owner, name):
            if f"{owner}.{name}" == field:
                yield locks if step.own else _NONE
        case Locked(body, lock):
            yield from _held_at(field, body, locks | {lock})
        case Deferred(body):
            yield from _held_at(field, body, _NONE)
        case _:
            for part in parts(step):
                yield from _held_at(field, part, locks)


def _is_always_one(lock: str, owner: str, graph: Graph) -> bool:
    of, name = split_member(lock)
    fields = graph.code.classes[owner].fields
    return of == owner and (name == "this" or (name in fields and "final" in fields[name].modifiers))
