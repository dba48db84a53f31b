"""What methods do in their source: lambdas and accessors unfolded, what a compiler wrote on its own left out; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.proof.bytecode import ClassFacts, MethodFacts, Use
from harness.proof.dropin.idioms import SWITCH_MAP, canonical, is_bridge, is_compilers_own, is_switch_table

Nest = Sequence[ClassFacts]
Member = tuple[str, str, str]  # class, name, descriptor

_SYNCHRONIZED, _SYNTHETIC = 0x20, 0x1000
_DEEPEST = 50  # lambdas in lambdas: no source has as many


class Reading(StrEnum):
    """How closely the methods of two jars can be compared.

    INSTRUCTIONS where one compiler made both. OPERATIONS (what is used, computed and compared, and with which
    constants) where the two compilers write these alike, as javac 8, 17 and 25 do in all 993 methods of the raft
    module. USES of members and classes alone where they do not: ecj turns conditions around.
    """

    INSTRUCTIONS = "instructions"
    OPERATIONS = "operations"
    USES = "uses"


@dataclass(frozen=True, slots=True)
class Body:
    """What a method does: how often it uses what, as text (`call a.B.size()I`), and how often it does what."""

    uses: Counter[str]
    operations: Counter[str]

    def __add__(self, other: Body) -> Body:
        return Body(self.uses + other.uses, self.operations + other.operations)


def bodies(nest: Nest, reading: Reading) -> dict[Member, object]:
    """Return what each method with code does: equal where the source can be the same."""
    read = _Reader(nest).read
    if reading is Reading.USES:
        return {member: (_locks(method), read(method).uses) for member, method in _written(nest)}
    cases = _cases_of_enums(nest)
    if reading is Reading.INSTRUCTIONS:  # a digest of these tells what a method's lambdas do too
        return {member: (_locks(method), method.code, cases(method)) for member, method in _written(nest)}
    return {member: (_locks(method), read(method), cases(method)) for member, method in _written(nest)}


def _cases_of_enums(nest: Nest) -> Callable[[MethodFacts], Sequence[Sequence[str]]]:
    """Return what says which constants a method's switches over enums have as cases, in the order of the source.

    In the method itself javac writes their numbers alone; whose these are stands in a table of a class of its own.
    """
    tables: dict[tuple[str, str], list[str]] = defaultdict(list)
    for each in (method for made in nest for method in made.methods if method.name == "<clinit>"):
        table = None
        for use in (use for use in each.uses if use.kind == "get"):
            if use.name.startswith(SWITCH_MAP):
                table = tables[use.owner, use.name]
            elif table is not None:
                table.append(use.name)
                table = None

    def cases(method: MethodFacts) -> Sequence[Sequence[str]]:
        read = (use for use in method.uses if use.kind == "get" and use.name.startswith(SWITCH_MAP))
        return [tables[use.owner, use.name] for use in read if method.name != "<clinit>"]

    return cases


def _locks(method: MethodFacts) -> bool:
    """Whether a method is synchronized, which no instruction of it says."""
    return bool(method.access & _SYNCHRONIZED)


def uses_in(nest: Nest) -> Counter[str]:
    """Return how often a top-level class and its nested ones use what, as text."""
    read = _Reader(nest).read
    return sum((read(method).uses for _, method in _written(nest)), Counter[str]())


def _written(nest: Nest) -> Iterator[tuple[Member, MethodFacts]]:
    """Yield the methods with code that stand in the source."""
    for each in nest:
        if not each.access & _SYNTHETIC:
            for method in each.methods:
                if method.code and not method.access & _SYNTHETIC:
                    yield (each.name, method.name, method.descriptor), method


class _Reader:
    """Reads methods of a nest, each that the compiler made (lambda, accessor, an enum's `$values`) once."""

    def __init__(self, nest: Nest) -> None:
        self._made = {
            (each.name, method.name, method.descriptor): method
            for each in nest
            for method in each.methods
            if method.access & _SYNTHETIC and not is_bridge(method)
        }
        self._known: dict[Member, Body] = {}

    def read(self, method: MethodFacts, depth: int = 0) -> Body:
        """Return what a method does, with what the compiler took out of it."""
        body = Body(Counter(), Counter(method.operations))
        for use in map(canonical, method.uses):
            member = (use.owner, use.name, use.descriptor)
            if member in self._made:
                body += self._read_made(member, depth + 1)
            elif not is_compilers_own(use):
                body.uses[_text(use)] += 1
        return body

    def _read_made(self, member: Member, depth: int) -> Body:
        if member not in self._known:
            self._known[member] = _NOTHING  # for one that leads to itself
            made = self._made[member]
            if depth < _DEEPEST and not is_switch_table(made):
                self._known[member] = self.read(made, depth)
        return self._known[member]


def _text(use: Use) -> str:
    member = use.name + (":" if use.kind in ("get", "put") else "") + use.descriptor
    return f"{use.kind} {use.owner.replace('/', '.')}.{member}".removesuffix(".")


_NOTHING = Body(Counter(), Counter())
