"""The same questions answered from a jar without sources; pure.

From what it declares, its configuration and its log statements, and from the order of instructions.

Bytecode as it was read shows the order of calls but not the branches between them. What order alone cannot show is
UNTESTED.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from harness.audit.graph import split_member
from harness.audit.jar_uses import simple_name, use_sites
from harness.audit.questions import (
    Default,
    FollowedBy,
    GuardedByFlag,
    KeepsConstructor,
    LoggedAt,
    OneThread,
    OnlyWhenChanged,
    Question,
    ReadOnce,
    SetOnce,
    UsedIn,
)
from harness.audit.replies import Reply, answered, holds_or_not, untested
from harness.audit.source_answers import rank_of, subjects
from harness.audit.uses import is_value
from harness.model.proof import Answer, AuditAnswer
from harness.model.runs import Evidence
from harness.proof.bytecode import ClassFacts, LogStatement, MethodFacts, Use
from harness.proof.descriptors import parameter_types

NO_SOURCES = "There are no sources, and the order of instructions does not show it."
_PUBLIC, _STATIC, _FINAL, _VOLATILE = 0x0001, 0x0008, 0x0010, 0x0040
# What changes a collection, or what java.util.concurrent.atomic has.
_CHANGES = re.compile(
    r"(?:add|put|remove|replace|retain)(?:All|If|IfAbsent)?|clear|set|offer|push|poll|pop|compareAndSet|lazySet"
    r"|(?:get|update|accumulate|increment|decrement)And\w+"
)
_BEGINS = ("<init>", "<clinit>")


@dataclass(frozen=True, slots=True, eq=False)
class _Method:
    """A method with its class, by its simple name and as it was read."""

    owner: str
    facts: MethodFacts
    holder: ClassFacts

    @property
    def title(self) -> str:
        return f"{self.owner}.{self.facts.name}"


@dataclass(frozen=True, slots=True)
class JarContent:
    """What was read of a jar: its classes by name, its log statements, and its configuration's defaults by key.

    `defaults` is None where the configuration was not read.
    """

    classes: Mapping[str, ClassFacts]
    statements: frozenset[LogStatement] = frozenset()
    defaults: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class _Jar:
    content: JarContent
    classes: Mapping[str, ClassFacts]
    methods: tuple[_Method, ...]

    def using(self, matches: Callable[[Use], bool]) -> list[tuple[_Method, int]]:
        """Return every instruction that `matches`, as its method and its index there."""
        return [(m, index) for m in self.methods for index, use in enumerate(m.facts.uses) if matches(use)]

    def callers(self, titles: Iterable[str]) -> list[tuple[_Method, int]]:
        """Return every call of a method by its title."""
        return self.using(_calls(titles))

    def reaching(self, titles: Iterable[str]) -> frozenset[str]:
        """Return the titles, and those of all methods that call one of them, however far away."""
        reached = frozenset(titles)
        while more := {method.title for method, _ in self.callers(reached)} - reached:
            reached |= more
        return reached


def answer_from_jar(question: Question, content: JarContent) -> AuditAnswer:
    """Answer a question from bytecode where that is possible."""
    by_name = _by_simple_name(content.classes.values())
    lacking = [name for name in subjects(question.ask) if name not in by_name]
    if lacking:
        return answered(question, untested(f"The jar has no class {lacking[0]}, or several."))
    # All of them: one that shares its simple name, as numbered ones do, does what it does all the same.
    everything = content.classes.values()
    methods = (
        _Method(simple_name(each.name), m, each) for each in everything for m in each.methods if m.name not in _BEGINS
    )
    return answered(question, _reply(question, _Jar(content, by_name, tuple(methods))))


def _reply(question: Question, jar: _Jar) -> Reply:
    match question.ask:
        case FollowedBy() as ask:
            return _followed_by(ask, jar)
        case ReadOnce() as ask:
            return _read_once(ask, jar)
        case GuardedByFlag() as ask:
            return _guarded_by_flag(ask, jar)
        case KeepsConstructor() as ask:
            return _keeps_constructor(ask, jar)
        case LoggedAt() as ask:
            return _logged_at(ask, jar)
        case Default() as ask:
            return _default(ask, jar.content.defaults)
        case SetOnce() as ask:
            return _set_once(ask, jar)
        case UsedIn() as ask:
            return _used_in(ask, jar)
        case OnlyWhenChanged() | OneThread():
            return untested(NO_SOURCES)
        case _:
            assert_never(question.ask)


def _followed_by(ask: FollowedBy, jar: _Jar) -> Reply:
    sites = [(m, i) for m, i in jar.callers(ask.calls) if not ask.within or m.title in ask.within]
    silent = [title for title in ask.within if not any(method.title == title for method, _ in sites)]
    called = " or ".join(ask.calls)
    if silent or not sites:
        return untested(f"{silent[0] if silent else 'Nothing'} calls {called}{' no more' if silent else ''}.")
    setters = {method.title for method, _ in jar.using(_field("put", ask.then))}
    if not setters and _changes_within(ask.then, jar):
        return untested(f"Only constructors are seen to write {ask.then}, and what it holds is changed in itself.")
    writes = _field("put", ask.then)
    near = _any_of(writes, _calls({*setters, *(method.title for method, _ in jar.callers(setters))}))
    far = _any_of(writes, _calls(jar.reaching(setters)))
    without = [(m, i) for m, i in sites if not any(map(near, m.facts.uses[i + 1 :]))]
    never = [(m, i) for m, i in without if not any(map(far, m.facts.uses[i + 1 :]))]
    if without and not never:
        detail = (
            f"After {called} a write of {ask.then} may follow by a detour, or not: {_places(without)}. {NO_SOURCES}"
        )
        return Reply(Answer.UNTESTED, detail, _evidence(without))
    shown = never or sites
    verb = f"{len(never)} of {len(sites)} calls of {called} is not" if never else f"Every call of {called} is"
    detail = f"{verb} followed by a write of {ask.then}, in the order of instructions: {_places(shown)}."
    return holds_or_not(not never, detail, _evidence(shown))


def _changes_within(field: str, jar: _Jar) -> bool:
    """Whether a method reads a field and then calls something that changes a collection or an atomic."""
    return any(
        use.kind == "call" and _CHANGES.fullmatch(use.name)
        for method, at in jar.using(_field("get", field))
        for use in method.facts.uses[at + 1 :]
    )


def _read_once(ask: ReadOnce, jar: _Jar) -> Reply:
    owner, name = split_member(ask.field)
    field = next((each for each in jar.classes[owner].fields if each.name == name), None)
    if field is None:
        return untested(f"{owner} has no field {name}.")
    if not field.access & (_FINAL | _VOLATILE):
        return _locked(ask, jar)
    sites = jar.using(_field("get", ask.field))
    getters = {m.title for m, _ in sites if m.owner == owner and len(m.facts.uses) == 1}
    reads = _any_of(_field("get", ask.field), _calls(getters))
    again = [(m, i) for m, i in jar.using(reads) if _lines(m, reads) > 1]
    if again and not field.access & _FINAL:
        detail = f"{ask.field} is read more than once in one method: {_places(again)}."
        if not all(m.facts.uses[i].line for m, i in again):  # of one line it may be what stands in `finally`, twice
            return Reply(Answer.UNTESTED, f"{detail} {NO_SOURCES}", _evidence(again))
        return holds_or_not(False, detail, _evidence(again))
    kind = "final" if field.access & _FINAL else "volatile, and no method has two instructions that read it"
    return holds_or_not(True, f"{ask.field} is {kind}: {_places(sites)}.", _evidence(sites))


def _locked(ask: ReadOnce, jar: _Jar) -> Reply:
    """Answer for a field that only a lock can guard; of a block it does not show which lock, nor what is within."""
    uses = [*jar.using(_field("get", ask.field)), *jar.using(_field("put", ask.field))]
    owner = split_member(ask.field)[0]
    inside = [m.owner == owner and m.facts.is_synchronized and not m.facts.access & _STATIC for m, _ in uses]
    if uses and all(inside):
        detail = f"{ask.field} is used in synchronized methods alone: {_places(uses)}."
        return holds_or_not(True, detail, _evidence(uses))
    bare = [(m, i) for (m, i), is_inside in zip(uses, inside, strict=True) if not (is_inside or m.facts.enters_monitor)]
    if uses and not bare:
        return untested(f"{ask.field} may be used under one lock alone, or not: {_places(uses)}. {NO_SOURCES}")
    return holds_or_not(False, f"{ask.field} is replaced and not volatile: others may never see it.")


def _guarded_by_flag(ask: GuardedByFlag, jar: _Jar) -> Reply:
    inner = split_member(ask.field)[0]
    setters = {method.title for method, _ in jar.using(_field("put", ask.field))}
    sites = [(method, index) for method, index in jar.callers(setters) if method.owner != inner]
    if not sites:
        return untested(f"Nothing outside of {inner} brings about a write of {ask.field}.")
    asked = _calls((ask.flag,))
    begun = (method for each in jar.content.classes.values() for method in each.methods if method.name in _BEGINS)
    if any(asked(use) for method in begun for use in method.uses):
        return untested(f"A constructor asks {ask.flag}: what it keeps may be asked in its place. {NO_SOURCES}")
    unchecked = [
        site for site in sites if not _checked_before(site, ask.flag) and not _callers_check(site[0], ask.flag, jar)
    ]
    shown = unchecked or sites
    verb = "is not" if unchecked else "is"
    detail = f"{ask.flag} {verb} asked before {ask.field} is written, in the order of instructions: {_places(shown)}."
    return holds_or_not(not unchecked, detail, _evidence(shown))


def _checked_before(site: tuple[_Method, int], flag: str) -> bool:
    method, index = site
    return any(map(_calls((flag,)), method.facts.uses[:index]))


def _callers_check(method: _Method, flag: str, jar: _Jar) -> bool:
    sites = jar.callers((method.title,))
    return bool(sites) and all(_checked_before(site, flag) for site in sites)


def _set_once(ask: SetOnce, jar: _Jar) -> Reply:
    owner, name = split_member(ask.field)
    field = next((each for each in jar.classes[owner].fields if each.name == name), None)
    if field is None:
        return untested(f"{owner} has no field {name}.")
    constructors = ("<clinit>",) if field.access & _STATIC else _BEGINS
    later = [
        (_Method(simple_name(each.name), method, each), index)
        for each in jar.content.classes.values()
        for method in each.methods
        for index, use in enumerate(method.uses)
        if _field("put", ask.field)(use) and not (each is jar.classes[owner] and method.name in constructors)
    ]
    if later:
        return holds_or_not(False, f"{ask.field} is written after its construction: {_places(later)}.")
    when = f"{ask.field} is written at construction alone."
    if is_value(parameters_of(f"({field.descriptor})V")[0]):
        return holds_or_not(True, f"{when} Nobody can change what it holds.", (_place(jar.classes[owner], 0, owner),))
    return untested(f"{when} Whether what it holds is changed is not known. {NO_SOURCES}")


def _used_in(ask: UsedIn, jar: _Jar) -> Reply:
    found = {member: use_sites(member, jar.content.classes) for member in ask.members}
    unused = [member for member, sites in found.items() if not sites]
    if unused:
        return untested(f"Nothing in the jar is seen to use {unused[0]}; of a constant that would not show.")
    sites = [(home, each) for one in found.values() for each in one for home in sorted(each.homes)]
    foreign = [(home, each) for home, each in sites if home not in ask.methods]
    named = " or ".join(ask.members)
    listed = ", ".join(dict.fromkeys(home for home, _ in foreign or sites))
    detail = f"{named} is used in {listed} as well." if foreign else f"{named} is used nowhere but in {listed}."
    return holds_or_not(not foreign, detail, (_place(each.owner, each.line, home) for home, each in foreign or sites))


def _keeps_constructor(ask: KeepsConstructor, jar: _Jar) -> Reply:
    owner = ask.constructor.partition("(")[0]
    made = [each for each in jar.classes[owner].methods if each.name == "<init>" and each.access & _PUBLIC]
    found = [f"{owner}({', '.join(parameters_of(each.descriptor))})" for each in made]
    wanted = ask.constructor.replace(" ", "").replace(",", ", ")
    is_there = "is there" if wanted in found else "is not there: what calls it does not link any more"
    detail = f"The public constructor {wanted} {is_there}; {owner} has {' and '.join(found) or 'none'}."
    return holds_or_not(wanted in found, detail, (_place(jar.classes[owner], 0, owner),))


def _logged_at(ask: LoggedAt, jar: _Jar) -> Reply:
    found = sorted(each for each in jar.content.statements if ask.log in each.text)
    if not found:
        return untested(f"No statement of the jar is seen to log {ask.log!r}.")
    louder = [each for each in found if rank_of(each.level.lower()) > rank_of(ask.most)]
    levels = " and ".join(dict.fromkeys(each.level for each in found))
    owners = ", ".join(dict.fromkeys(simple_name(each.owner) for each in louder or found))
    detail = f"{ask.log!r} is logged at {levels}, and {ask.most.upper()} is the most: {owners}."
    return holds_or_not(not louder, detail)


def _default(ask: Default, defaults: Mapping[str, str] | None) -> Reply:
    if defaults is None:
        return untested("There are no sources, and the jar's configuration was not read.")
    if ask.key not in defaults:
        return holds_or_not(False, f"Nothing defines the key {ask.key}.")
    found = defaults[ask.key]
    return holds_or_not(
        found == ask.default, f"The jar defines the key {ask.key} with the default {found or '(none)'}."
    )


def parameters_of(descriptor: str) -> tuple[str, ...]:
    """Return the simple types of a method descriptor's parameters: `int, String[]` for `(I[Ljava/lang/String;)V`."""
    return tuple(simple_name(each.replace(".", "/")) for each in parameter_types(descriptor))


def _by_simple_name(classes: Iterable[ClassFacts]) -> dict[str, ClassFacts]:
    """Return classes by simple name, but for names that several share: they mean none."""
    found: dict[str, list[ClassFacts]] = {}
    for each in classes:
        found.setdefault(simple_name(each.name), []).append(each)
    return {name: same[0] for name, same in found.items() if len(same) == 1}


def _calls(titles: Iterable[str]) -> Callable[[Use], bool]:
    wanted = frozenset(titles)
    return lambda use: use.kind == "call" and f"{simple_name(use.owner)}.{use.name}" in wanted


def _field(kind: str, field: str) -> Callable[[Use], bool]:
    return lambda use: use.kind == kind and f"{simple_name(use.owner)}.{use.name}" == field


def _any_of(*matches: Callable[[Use], bool]) -> Callable[[Use], bool]:
    return lambda use: any(each(use) for each in matches)


def _lines(method: _Method, matches: Callable[[Use], bool]) -> int:
    """Return on how many lines of a method something is used; compilers repeat what stands in `finally`."""
    lines = [use.line for use in method.facts.uses if matches(use)]
    return len({*lines}) if all(lines) else len(lines)


def _places(sites: Sequence[tuple[_Method, int]]) -> str:
    shown = [f"{method.title} (line {method.facts.uses[index].line})" for method, index in sites[:6]]
    return ", ".join(shown) + (f" and {len(sites) - 6} more" if len(sites) > 6 else "") or "nowhere"


def _evidence(sites: Iterable[tuple[_Method, int]]) -> tuple[Evidence, ...]:
    return tuple(_place(m.holder, m.facts.uses[index].line, m.title) for m, index in sites)


def _place(owner: ClassFacts, line: int, title: str) -> Evidence:
    return Evidence(owner.entry or f"{owner.name}.class", line, title)
