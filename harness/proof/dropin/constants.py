"""Compile-time constants with another value: compilers write the old one into the classes that use it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from harness.base.archives import contents, entry_names, is_class
from harness.model.proof import Difference, Severity
from harness.proof.bytecode import ClassFacts, FieldFacts, MethodFacts
from harness.proof.dropin import rules
from harness.proof.dropin.class_changes import is_for_others, members, visible
from harness.proof.dropin.entries import packages_of

_STATIC = 0x8
_STRING = "Ljava/lang/String;"


@dataclass(frozen=True, slots=True)
class _Changed:
    """A constant with its values in base and in the candidate, as facts have them; empty where it is none.

    It `is_shared` where other packages than its own can use it.
    """

    where: str
    package: str
    is_shared: bool
    is_text: bool
    before: str
    after: str

    @property
    def texts(self) -> frozenset[str]:
        """What other classes may hold of it: the old text without its quotes, nothing where there was none."""
        return frozenset([self.before[1:-1]] if self.is_text and self.before else [])


def compare_constants(
    base: Mapping[str, ClassFacts], candidate: Mapping[str, ClassFacts], others: Sequence[Path]
) -> Iterator[Difference]:
    """Yield constants with another value; one whose old value no class of the other jars can have is a note.

    That is what was no constant, a text that none of them holds, and what only a package can use in which they have no
    class. Of any other number nobody can tell whether a class has it from there.
    """
    changed = list(_changed(base, candidate))
    held = held_by(others, frozenset[str]().union(*(each.texts for each in changed)))
    elsewhere = packages_of(name for jar in others for name in entry_names(jar))
    for each in changed:
        rule, more = rules.CONSTANT_CHANGED, ""
        if not each.before:
            rule, more = rule.weighing(Severity.NOTE), "; no other jar can have an old one"
        elif each.is_text and not each.texts & held:
            rule, more = rule.weighing(Severity.NOTE), "; no other jar has the old one"
        elif not each.is_shared and each.package not in elsewhere:
            rule, more = (
                rule.weighing(Severity.NOTE),
                "; it is for its package alone, in which no other jar has a class",
            )
        detail = f"the constant {each.where} is {each.after or 'no constant'}, was {each.before or 'none'}{more}"
        yield rule.broken(each.where, detail, each.before, each.after)


def held_by(jars: Iterable[Path], texts: Set[str]) -> frozenset[str]:
    """Return the texts that stand in a class file of these jars, alone or within a longer one, as `"a" + B` does."""
    sought = {text: _in_class_file(text) for text in texts}
    found: set[str] = set()
    for content in (each for jar in jars if sought for each in contents(jar, is_class)):
        found.update(text for text, written in sought.items() if written in content)
    return frozenset(found)


def _changed(base: Mapping[str, ClassFacts], candidate: Mapping[str, ClassFacts]) -> Iterator[_Changed]:
    for name in sorted(visible(base).keys() & candidate.keys()):
        old, new = members(base[name]), members(candidate[name])
        for member in sorted(old.keys() & new.keys()):
            before, after = _constant(old[member]), _constant(new[member])
            if before != after:
                where, package = f"{name.replace('/', '.')}.{member}", name.rpartition("/")[0]
                yield _Changed(
                    where, package, is_for_others(old[member]), member.endswith(f": {_STRING}"), before, after
                )


def _constant(member: FieldFacts | MethodFacts) -> str:
    return member.constant if isinstance(member, FieldFacts) and member.access & _STATIC else ""


def _in_class_file(text: str) -> bytes:
    """Return a text as class files have it: UTF-8 of each half of a surrogate pair, and two bytes for a zero."""
    pairs = text.encode("utf-16-be", "surrogatepass")
    halves = "".join(chr(int.from_bytes(pairs[at : at + 2])) for at in range(0, len(pairs), 2))
    return halves.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
