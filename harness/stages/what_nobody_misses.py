"""What changed of a jar and no other jar can miss, and what the JVM says of who was compiled against it; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.base.text import cut
from harness.model.proof import Difference, Severity
from harness.proof.descriptors import parameter_types
from harness.proof.dropin import rules
from harness.proof.dropin.named_elsewhere import is_internal

_BY_DESCRIPTOR = re.compile(r"(?P<owner>.+)\.(?P<name>[^.:(]+)(?:\((?P<parameters>[^)]*)\)\S+|: \S+)")
_BY_TYPES = re.compile(
    r"(?P<owner>.+)\.(?P<name>[^.()]+)(?:\((?P<types>[^()]*)\))?"
)  # how the rules of the API name it
# japicmp's words for an abstract method that a type got: who was compiled without it links, and lacks it.
_NEWLY_ABSTRACT = (": method added to interface", ": method abstract added to class")
_MOST_TYPES = 3


@dataclass(frozen=True, slots=True)
class Thing:
    """A class (then `name` is empty), or a member of one; `types` of a method's parameters, None of a field."""

    owner: str
    name: str = ""
    types: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """The thing as a person writes it: `LeaderState`, `LeaderState(Time, int)`, `LeaderState.epoch`."""
        owner = self.owner.rpartition(".")[2].replace("$", ".")
        title = owner if self.name in ("", "<init>") else f"{owner}.{self.name}"
        if self.types is None:
            return cut(title, 120)
        types = [each.rpartition(".")[2] for each in self.types]
        more = ["…"] if len(types) > _MOST_TYPES else []
        return cut(f"{title}({', '.join([*types[:_MOST_TYPES], *more])})", 120)

    def is_why(self, said: str) -> bool:
        """Whether the JVM said that a class was compiled against another thing of this name (Java 11 and later)."""
        return bool(re.search(self._words, said, re.MULTILINE))

    @property
    def _words(self) -> str:
        """The errors of linking (`LinkResolver`, in HotSpot), which name the very thing.

        Not ClassNotFoundException: a class that is looked for by a text the jar itself may have lost.
        """
        owner, name = re.escape(self.owner), re.escape(self.name)
        if not name:
            slashed = re.escape(self.owner.replace(".", "/"))
            return rf"NoClassDefFoundError: {slashed}$|IllegalAccessError: failed to access class {owner} from "
        if self.types is None:
            return (
                rf"NoSuchFieldError: (?:Class {owner} does not have member field '\S+ {name}'|{name}$)"
                rf"|IllegalAccessError: class \S+ tried to access (?:\w+ )?field {owner}\.{name} "
                rf"|IncompatibleClassChangeError: Expected (?:non-)?static field {owner}\.{name}$"
            )
        called = rf"{name}\({re.escape(', '.join(self.types))}\)'"
        return (
            rf"NoSuchMethodError: '\S+ {owner}\.{called}"
            rf"|IllegalAccessError: class \S+ tried to access (?:\w+ )?method '\S+ {owner}\.{called}"
            rf"|IncompatibleClassChangeError: Expect(?:ed|ing) (?:non-)?static method '\S+ {owner}\.{called}"
            rf"|AbstractMethodError: .+ method 'abstract \S+ {called} of (?:interface|abstract class) {owner}\.$"
        )


def missed_by_nobody(differences: Iterable[Difference]) -> tuple[Thing, ...]:
    """Return what is gone, less open, static or not, or newly abstract, and fails no rule: nobody else goes by it."""
    found = list(differences)
    lacked = {thing for each in found if each.rule == rules.LINKAGE_BROKEN.name for thing in _by_descriptor(each)}
    warned = (each for each in found if each.severity is Severity.WARNING)
    return tuple(dict.fromkeys(thing for each in warned for thing in _things(each) if thing not in lacked))


def _things(difference: Difference) -> Iterator[Thing]:
    match difference.rule:
        case rules.CLASS_MISSING.name:
            yield Thing(difference.where)
        case rules.MEMBER_REMOVED.name:
            yield from _by_descriptor(difference)
        case rules.API_BINARY.name:
            yield from _by_types(difference)
        case rules.API_SOURCE.name if difference.detail.endswith(_NEWLY_ABSTRACT):
            yield from (thing for thing in _by_types(difference) if is_internal(thing.owner))


def _by_descriptor(difference: Difference) -> Iterator[Thing]:
    found = _BY_DESCRIPTOR.fullmatch(difference.where)
    if found:
        parameters = found["parameters"]
        yield Thing(found["owner"], found["name"], None if parameters is None else parameter_types(parameters))


def _by_types(difference: Difference) -> Iterator[Thing]:
    """Yield what the comparison of APIs names: a method (`B.B()` constructs), or what may be a class or a field."""
    found = _BY_TYPES.fullmatch(difference.where)
    if not found:
        return
    owner, name, types = found["owner"], found["name"], found["types"]
    if types is None:
        yield from (Thing(difference.where), Thing(owner, name))
    else:
        is_constructor = name == re.split(r"[.$]", owner)[-1]
        yield Thing(owner, "<init>" if is_constructor else name, tuple(filter(None, types.split(", "))))
