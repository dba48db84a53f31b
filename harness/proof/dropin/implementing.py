"""Abstract methods: whether each class that is one of the jar's types still has all of them.

A class that was compiled before its type got another abstract method loads and links. A call of that method fails.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.model.proof import Difference
from harness.proof.bytecode import BytecodeTools, Classes, Kin, Reference, read_kin
from harness.proof.dropin import rules
from harness.proof.dropin.loading import ask_probe, complaints_in
from harness.toolbox.java import JavaRuntime

References = Mapping[Path, Sequence[Reference]]
Lacking = tuple[str, str]  # a class, and the abstract method that it lacks

_INTERFACE, _ABSTRACT = 0x200, 0x400


@dataclass(frozen=True, slots=True)
class Loader:
    """What loads classes among the jars of a distribution: the Java, the compiled probe, and those jars."""

    java: JavaRuntime
    probe: Path
    others: Sequence[Path]


@dataclass(frozen=True, slots=True)
class _Broken:
    """Abstract methods that classes lack, and the classes that do not load, with the reason: beside one jar."""

    lacking: frozenset[Lacking]
    unloadable: Mapping[str, str]

    def without(self, other: _Broken) -> _Broken:
        """Return what is broken here and not there."""
        here = {name: why for name, why in self.unloadable.items() if name not in other.unloadable}
        return _Broken(self.lacking - other.lacking, here)


def check_implementing(
    loader: Loader, bytecode: BytecodeTools, base: Path, candidate: Path, classes: Classes, references: References
) -> tuple[Difference, ...]:
    """Return what classes of one of the jar's types lack beside the candidate, and not beside base.

    That is an abstract method, and to classes of another jar that they load at all: a type that is sealed now, or that
    such a class may not extend any more, links nobody. `classes` are the candidate's, `references` those of the other
    jars to it. Raises HarnessError when no JVM answers.
    """
    inheriting = [jar for jar, found in references.items() if any(_inherits(each, classes) for each in found)]
    kin = {jar.name: found for jar, found in zip(inheriting, read_kin(bytecode, inheriting), strict=True)}
    of_others = heirs(classes, kin)
    asked = {**of_others, **dict.fromkeys(_whole(_own_kin(classes)), "this jar")}
    found = _ask(loader, candidate, sorted(asked), sorted(of_others))
    if found.lacking or found.unloadable:
        before = _ask(loader, base, sorted({name for name, _ in found.lacking}), sorted(found.unloadable))
        found = found.without(before)
    return (*describe_lacking(found.lacking, asked), *_describe_unloadable(found.unloadable, asked))


def heirs(classes: Classes, kin: Mapping[str, Mapping[str, Kin]]) -> dict[str, str]:
    """Return the classes that can be made objects of and are of a type of these classes, each with its jar's name.

    `kin` is what the classes of other jars extend and implement, by the jar's name.
    """
    every = {name: each for found in kin.values() for name, each in found.items()}
    known: dict[str, bool] = dict.fromkeys(classes, True)

    def is_heir(name: str) -> bool:
        if name not in known:
            known[name] = False  # for one that extends itself
            each = every.get(name)
            known[name] = each is not None and any(map(is_heir, (each.superclass, *each.interfaces)))
        return known[name]

    return {name: jar for jar, found in kin.items() for name in _whole(found) if name not in classes and is_heir(name)}


def describe_lacking(lacking: Collection[Lacking], jars: Mapping[str, str]) -> Iterator[Difference]:
    """Yield one difference for each abstract method, with a class that lacks it; `jars` are by class."""
    by_method: dict[str, list[str]] = defaultdict(list)
    for name, method in sorted(lacking):
        by_method[method].append(name)
    for method, (first, *more) in by_method.items():
        too = f", nor have {len(more)} more" if more else ""
        detail = f"{first.replace('/', '.')} of {jars[first]} has no {method}{too}: it is abstract, and a call fails"
        yield rules.LINKAGE_BROKEN.broken(method, detail)


def _inherits(reference: Reference, classes: Classes) -> bool:
    return reference.kind in ("extends", "implements") and reference.owner in classes


def _whole(kin: Mapping[str, Kin]) -> Iterator[str]:
    """Yield the classes that are neither abstract nor interfaces, and whose names cannot forge a question."""
    for name, each in kin.items():
        if not each.access & (_INTERFACE | _ABSTRACT) and name.isprintable():
            yield name


def _own_kin(classes: Classes) -> dict[str, Kin]:
    return {name: Kin(each.access, each.superclass, each.interfaces) for name, each in classes.items()}


def _describe_unloadable(unloadable: Mapping[str, str], jars: Mapping[str, str]) -> Iterator[Difference]:
    for name, why in sorted(unloadable.items()):
        dotted = name.replace("/", ".")
        yield rules.LINKAGE_BROKEN.broken(dotted, f"{dotted} of {jars[name]} does not load any more: {why}")


def _ask(loader: Loader, jar: Path, whole: Sequence[str], loaded: Sequence[str]) -> _Broken:
    """Return which of some classes lack a method, and which of others do not load, beside a jar."""
    lines = [
        f"{what}\t{name.replace('/', '.')}" for what, names in (("whole", whole), ("class", loaded)) for name in names
    ]
    complaints = complaints_in(ask_probe(loader.java, loader.probe, jar, loader.others, lines), jar)
    lacking = {(whole[at], method) for at, said in complaints if at < len(whole) for method in said.split("\t")}
    return _Broken(frozenset(lacking), {loaded[at - len(whole)]: said for at, said in complaints if at >= len(whole)})
