"""In which methods of a jar something is used; pure.

What compilers make of their own (lambdas, bridges to private members, anonymous classes) stands for the methods that it
was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harness.audit.graph import split_member
from harness.audit.uses import spelled
from harness.proof.bytecode import ClassFacts, MethodFacts, Use

_BRIDGE, _SYNTHETIC = 0x0040, 0x1000
_INITS = ("<init>", "<clinit>")


@dataclass(frozen=True, slots=True)
class UseSite:
    """An instruction that uses a member: the class and the methods (`Class.method`) in whose source it stands."""

    owner: ClassFacts
    homes: frozenset[str]
    line: int


def use_sites(member: str, classes: Mapping[str, ClassFacts]) -> list[UseSite]:
    """Return every use of a member, but for constants: compilers put their values where they are used."""
    homes = _Homes(classes)
    matches = _use_of(member, classes)
    return [
        UseSite(each, frozenset(homes.of(each, method)), use.line)
        for each in classes.values()
        for method in each.methods
        for use in method.uses
        if matches(use)
    ]


def _use_of(member: str, classes: Mapping[str, ClassFacts]) -> Callable[[Use], bool]:
    """Return the predicate for uses of a member: by its class, by one that inherits it, by what it implements."""
    owner, name = split_member(member)
    wanted = "<init>" if name == "new" else name
    of = {each for each in classes if simple_name(each) == owner}

    def is_related(other: str) -> bool:
        above = any(other in _above(each, classes) for each in of)
        below = any(each in of for each in _above(other, classes)) and not _declares(classes[other], wanted)
        return above or below

    def matches(use: Use) -> bool:
        if use.name != wanted:
            return False
        return simple_name(use.owner) == owner or (wanted not in _INITS and is_related(use.owner))

    return matches


def _declares(each: ClassFacts, name: str) -> bool:
    return name in {method.name for method in each.methods} | {field.name for field in each.fields}


def _above(name: str, classes: Mapping[str, ClassFacts]) -> Iterator[str]:
    """Give the classes and interfaces above one, as far as the jar has them."""
    todo, passed = [name], set[str]()
    while todo:
        each = classes.get(todo.pop())
        above = {each.superclass, *each.interfaces} - passed if each else set()
        passed |= above
        todo += above
        yield from above


def simple_name(name: str) -> str:
    """Return the last part of a class's name."""
    return name.rpartition("/")[2].rpartition("$")[2]


class _Homes:
    """Where in the source the instructions of a method stand."""

    def __init__(self, classes: Mapping[str, ClassFacts]) -> None:
        self._callers: dict[tuple[str, str, str], list[tuple[ClassFacts, MethodFacts]]] = {}
        self._makers: dict[str, list[tuple[ClassFacts, MethodFacts]]] = {}
        for each in classes.values():
            for method in each.methods:
                for use in method.uses:
                    self._callers.setdefault((use.owner, use.name, use.descriptor), []).append((each, method))
                    if use.kind == "new":
                        self._makers.setdefault(use.owner, []).append((each, method))

    def of(self, owner: ClassFacts, method: MethodFacts) -> set[str]:
        """Return the methods that a programmer wrote the instructions of a method in; itself where none is known."""
        todo, passed, found = [(owner, method)], set[tuple[str, str, str]](), set[str]()
        while todo:
            each, at = todo.pop()
            passed.add((each.name, at.name, at.descriptor))
            written_in = self._written_in(each, at)
            if not written_in:
                found.add(spelled(simple_name(each.name), at.name))
            todo += [(c, m) for c, m in written_in if (c.name, m.name, m.descriptor) not in passed]
        return found or {spelled(simple_name(owner.name), method.name)}

    def _written_in(self, owner: ClassFacts, method: MethodFacts) -> list[tuple[ClassFacts, MethodFacts]]:
        if method.access & _SYNTHETIC and not method.access & _BRIDGE and method.name not in _INITS:
            return self._callers.get((owner.name, method.name, method.descriptor), [])
        return self._makers.get(owner.name, []) if owner.is_numbered else []
