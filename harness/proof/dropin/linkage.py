"""Linkage: every reference from another jar into the replaced one, resolved in base and in the candidate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.model.proof import Difference
from harness.proof.bytecode import Classes, ClassFacts, FieldFacts, MethodFacts, Reference
from harness.proof.dropin import rules

_OF_EVERY_OBJECT = ("toString()Ljava/lang/String;", "hashCode()I", "equals(Ljava/lang/Object;)Z")
_OF_METHODS = ("call", "lambda")
_PUBLIC, _PRIVATE, _PROTECTED, _STATIC, _FINAL, _INTERFACE, _ABSTRACT = 0x1, 0x2, 0x4, 0x8, 0x10, 0x200, 0x400


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a reference finds: `access` of the member (of the class itself, where a class is referred to).

    `outside` are the classes of other jars in which a member may be found that none of this jar declares.
    """

    found: bool
    access: int = 0
    interface: bool = False
    owner_access: int = 0
    outside: frozenset[str] = frozenset()


def compare_linkage(
    base: Classes, candidate: Classes, references: Mapping[str, Iterable[Reference]]
) -> Iterator[Difference]:
    """Yield the references that base's jar satisfies and the candidate's does not; `references` are by jar name."""
    for jar in sorted(references):
        found: dict[str, Difference] = {}
        for reference in sorted(references[jar]):
            old = resolve(base, reference)
            problem = why_broken(old, resolve(candidate, reference), reference) if old.found or old.outside else ""
            if problem:
                # A class that is missing is reported once a jar, not once a member.
                target = _target(reference) if reference.owner in candidate else reference.owner.replace("/", ".")
                detail = f"{reference.user.replace('/', '.')} of {jar} uses {target}: {problem}"
                found.setdefault(target, rules.LINKAGE_BROKEN.broken(target, detail))
        yield from found.values()


def compare_lambdas(
    base: Classes, candidate: Classes, references: Mapping[str, Iterable[Reference]]
) -> Iterator[Difference]:
    """Yield the abstract methods that interfaces got of which another jar makes lambdas: these have one method."""
    for jar in sorted(references):
        for made in sorted(each for each in references[jar] if each.kind == "lambda" and each.owner in base):
            had = {f"{made.name}{made.descriptor}", *_abstract_methods(base, made.owner)}
            for method, owner in sorted(_abstract_methods(candidate, made.owner).items()):
                if method not in had:
                    where = f"{owner.replace('/', '.')}.{method}"
                    detail = f"a lambda of {made.user.replace('/', '.')} of {jar} has no {where}"
                    yield rules.LINKAGE_BROKEN.broken(where, f"{detail}: it is abstract, and a call fails")


def _abstract_methods(classes: Classes, name: str) -> dict[str, str]:
    """Return the methods that whoever implements an interface must have, each with the interface that declares it."""
    kin = list(_ancestors(classes, classes[name], set())) if name in classes else []
    every = {
        f"{each.name}{each.descriptor}": (each.access & _ABSTRACT, facts.name)
        for facts in reversed(kin)
        for each in facts.methods
    }
    return {
        method: owner
        for method, (is_abstract, owner) in every.items()
        if is_abstract and method not in _OF_EVERY_OBJECT
    }


def resolve(classes: Classes, reference: Reference) -> Resolved:
    """Return what a reference finds, looking up the superclasses and interfaces as the JVM does."""
    owner = classes.get(reference.owner)
    if owner is None:
        return Resolved(False)
    interface = bool(owner.access & _INTERFACE)
    if not reference.name:
        return Resolved(True, owner.access, interface, owner.access)
    outside: set[str] = set()
    for facts in _ancestors(classes, owner, outside):
        member = _member(facts, reference)
        if member and not (facts is not owner and _is_of_its_interface(facts, member)):
            return Resolved(True, member.access, interface, owner.access)
        if reference.name == "<init>":  # constructors are not inherited
            return Resolved(False, interface=interface)
    return Resolved(False, 0, interface, owner.access, frozenset(outside))


def _is_of_its_interface(facts: ClassFacts, member: FieldFacts | MethodFacts) -> bool:
    """Whether a method is an interface's alone: static and private ones are not inherited (JVMS 5.4.3.3)."""
    is_method = isinstance(member, MethodFacts) and facts.access & _INTERFACE
    return bool(is_method and member.access & (_STATIC | _PRIVATE))


def is_inherited(classes: Classes, owner: str, member: FieldFacts | MethodFacts) -> bool:
    """Whether a class has a member from what it extends or implements, as open as it was: what uses it still links."""
    kind = "call" if isinstance(member, MethodFacts) else "get"
    reference = Reference("", kind, owner, member.name, member.descriptor)
    found = resolve(classes, reference)
    if not found.found:
        return _is_of_every_object(reference)
    return _openness(found.access) >= _openness(member.access) and not (found.access ^ member.access) & _STATIC


def _is_of_every_object(reference: Reference) -> bool:
    return reference.kind == "call" and f"{reference.name}{reference.descriptor}" in _OF_EVERY_OBJECT


def why_broken(old: Resolved, new: Resolved, reference: Reference) -> str:
    """Return why a reference that links against base fails against the candidate, or an empty string."""
    if old.found and not new.found:
        return "" if _is_of_every_object(reference) else "it is not there"
    if not old.found:
        return "" if old.outside <= new.outside else "it is no longer inherited"
    if old.interface != new.interface:
        return "its owner is a class in one jar and an interface in the other"
    if _openness(new.access) < _openness(old.access) or _openness(new.owner_access) < _openness(old.owner_access):
        return "it is less accessible"
    if reference.name and (new.access ^ old.access) & _STATIC:
        return "it is static in one jar and not in the other"
    # A method that became final breaks only who overrides it, which the comparison of APIs shows.
    if reference.kind in ("put", "extends") and new.access & _FINAL and not old.access & _FINAL:
        return "it has become final"
    return ""


def _ancestors(classes: Classes, owner: ClassFacts, outside: set[str]) -> Iterator[ClassFacts]:
    """Yield a class, its superclasses, then all interfaces; names that this jar does not have go to `outside`."""
    waiting, seen = [owner.name], set()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        facts = classes.get(name)
        if facts is None:
            outside.add(name)
            continue
        yield facts
        waiting = [*filter(None, [facts.superclass]), *waiting, *facts.interfaces]


def _member(facts: ClassFacts, reference: Reference) -> FieldFacts | MethodFacts | None:
    among: tuple[FieldFacts | MethodFacts, ...] = facts.methods if reference.kind in _OF_METHODS else facts.fields
    wanted = (reference.name, reference.descriptor)
    return next((each for each in among if (each.name, each.descriptor) == wanted), None)


def _openness(access: int) -> int:
    if access & _PUBLIC:
        return 3
    return 2 if access & _PROTECTED else 0 if access & _PRIVATE else 1


def _target(reference: Reference) -> str:
    member = f".{reference.name}{':' if reference.kind in ('get', 'put') else ''}{reference.descriptor}"
    return reference.owner.replace("/", ".") + (member if reference.name else "")
