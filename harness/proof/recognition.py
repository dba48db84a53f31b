"""Is a jar of a patch series? It is when it declares everything that the series adds to the release; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.proof.bytecode import ClassFacts, FieldFacts, MethodFacts

Classes = Mapping[str, ClassFacts]
_SYNTHETIC = 0x1000


@dataclass(frozen=True, slots=True, order=True)
class Declared:
    """A class (then `member` is empty), or one of its fields or methods, told apart by its descriptor."""

    owner: str
    member: str = ""
    descriptor: str = ""

    def __str__(self) -> str:
        owner = self.owner.rpartition("/")[2].replace("$", ".")
        if not self.member:
            return owner
        call = "()" if self.descriptor.startswith("(") else ""
        return f"{owner}.{self.member}{call}" if self.member != "<init>" else f"a constructor of {owner}"


def added_by_series(released: Classes, series: Classes) -> frozenset[Declared]:
    """Return the classes, fields and methods that a build of a series declares and the release does not.

    Compared is what stands in the source, so that different compilers may have made the two.
    """
    return frozenset(_declared(series)) - frozenset(_declared(released))


def lacking(added: frozenset[Declared], jar: Classes) -> tuple[Declared, ...]:
    """Return what of a series' additions a jar lacks, classes before their members."""
    return tuple(sorted(added - frozenset(_declared(jar))))


def _declared(classes: Classes) -> Iterator[Declared]:
    for facts in classes.values():
        if facts.access & _SYNTHETIC or facts.is_numbered:
            continue
        yield Declared(facts.name)
        members: list[FieldFacts | MethodFacts] = [*facts.fields, *facts.methods]
        for each in members:
            if not each.access & _SYNTHETIC and each.name != "<clinit>":
                yield Declared(facts.name, each.name, each.descriptor)
