"""Classes of two jars compared: what is missing or new, what declares, calls or does something else."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from harness.model.proof import ChangedMethod, Difference, Severity
from harness.proof.bytecode import Classes, ClassFacts, FieldFacts, MethodFacts
from harness.proof.dropin import rules
from harness.proof.dropin.class_diff import UNCERTAIN, describe_change
from harness.proof.dropin.idioms import LAMBDA, is_lambda
from harness.proof.dropin.linkage import is_inherited
from harness.proof.dropin.source_methods import Member, Nest, Reading, bodies, uses_in

Named = frozenset[str] | None  # the top-level classes that may change; None where nothing says which

_PRIVATE, _SYNTHETIC = 0x2, 0x1000
_FOR_OTHERS = 0x1 | 0x4  # public or protected
_MODIFIERS = {
    0x1: "public",
    0x4: "protected",
    0x8: "static",
    0x10: "final",
    0x200: "interface",
    0x400: "abstract",
}
JAVA_8 = 52  # the version of its class files
# Of the methods that do the same, those with the same instructions: all by one compiler, 98.4 % at most by two javacs.
_SAME_COMPILER = 0.995
# Of the methods that use the same, those with the same operations: all by javac 8, 17 and 25, 92 % by ecj and javac.
_SAME_KIND = 0.98


@dataclass(frozen=True, slots=True)
class CompiledBaseline:
    """Classes of the sources that base was made from, compiled by `label`; base's own are one of them."""

    label: str
    classes: Classes


def compare_presence(base: Classes, candidate: Classes, named: Named) -> Iterator[Difference]:
    """Yield classes that are missing or new; numbered ones are the compiler's affair and part of their outer class."""
    old, new = visible(base), visible(candidate)
    for name in sorted(old.keys() - candidate.keys()):
        rule = rules.CLASS_MISSING
        if not old[name].access & _FOR_OTHERS:  # linkage sees whether another jar misses it
            rule = rule.weighing(Severity.WARNING)
        yield rule.broken(_dotted(name), f"the class {_dotted(name)} is missing")
    for name in sorted(new.keys() - base.keys()):
        rule = _weighed(rules.NAMED_CLASS_ADDED, rules.UNNAMED_CLASS_ADDED, top_level(name), named)
        yield rule.broken(_dotted(name), f"the class {_dotted(name)} is new")


def compare_members(base: Classes, candidate: Classes) -> Iterator[Difference]:
    """Yield members of base that are missing, in any class; what is for its package alone only its package can miss.

    One that moved up to what the class extends or implements is there for whoever asks the class for it.
    """
    for name in sorted(visible(base).keys() & candidate.keys()):
        old, new = members(base[name]), members(candidate[name])
        for member in sorted(old.keys() - new.keys()):
            if is_inherited(candidate, name, old[member]):
                continue
            rule = rules.MEMBER_REMOVED
            if not is_for_others(old[member]):
                rule = rule.weighing(Severity.WARNING)
            yield rule.broken(f"{_dotted(name)}.{member}", f"{_dotted(name)} no longer has {member}", member)


def compare_nests(base: Classes, found: Comparison, named: Named) -> Iterator[Difference]:
    """Yield, for each top-level class with all that is nested in it, what it declares, calls and does differently.

    The API is held against base. Instructions and calls are held against every baseline: all of them are the same
    sources, so a class that equals one of them is unchanged, whichever compiler made it.
    """
    old = nests(base)
    calls = [{top: uses_in(nest) for top, nest in nests(each.classes).items()} for each in found.baselines]
    for change in found.changes:
        top = change.top
        if top not in old:  # a new class, of which compare_presence speaks
            continue
        same_api = api_of(old[top]) == api_of(change.after)
        same_calls = change.calls[1] in [each.get(top) for each in calls]
        words = describe_change(change.before, change.after, change.calls, change.edited)
        certain = bool(change.edited) or (change.compiler_known and words != UNCERTAIN)
        rule = _rule_of(is_generated(top), same_api, same_calls, certain)
        if not is_generated(top) or top in (named or ()):
            rule = _weighed(rules.NAMED_CLASS_CHANGED, rule, top, named)
        yield rule.broken(_dotted(top), f"{_dotted(top)}: {words}")


def changed_methods(found: Comparison) -> tuple[ChangedMethod, ...]:
    """Return the candidate's methods that do what no baseline's do, or are new; a lambda is part of what holds it."""
    return tuple(ChangedMethod(*method) for change in found.changes for method in change.edited)


@dataclass(frozen=True, slots=True)
class Change:
    """A top-level class with all that is nested in it, beside the same of the baseline that it is most like.

    `calls` are what the two use, `edited` the methods that do something else, or are new.
    """

    top: str
    before: Nest
    after: Nest
    calls: tuple[Counter[str], Counter[str]]
    edited: tuple[Member, ...]
    compiler_known: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A candidate's classes beside all baselines: how closely they could be read, and what is in no baseline."""

    baselines: Sequence[CompiledBaseline]
    reading: Reading
    changes: tuple[Change, ...]


def compared(candidate: Classes, baselines: Sequence[CompiledBaseline]) -> Comparison:
    """Compare a candidate with all baselines: the same sources, each as another compiler writes them."""
    reading = _reading_of(candidate, baselines)
    return Comparison(baselines, reading, tuple(_changes(candidate, baselines, reading)))


def _changes(candidate: Classes, baselines: Sequence[CompiledBaseline], reading: Reading) -> Iterator[Change]:
    """Yield the top-level classes of the candidate that equal none of a baseline, by name."""
    new, known = nests(candidate), reading is Reading.INSTRUCTIONS
    made = [nests(each.classes) for each in ([closest(candidate, baselines)[0]] if known else baselines)]
    for top in sorted(new.keys() & _changed_nests(candidate, baselines)):
        calls = uses_in(new[top])
        olds = [(each.get(top, ()), uses_in(each.get(top, ()))) for each in made]
        before, called = min(olds, key=_unlike(calls))
        edited = _edited([nest for nest, _ in olds], new[top], reading)
        yield Change(top, before, new[top], (called, calls), edited, known)


def _edited(olds: Sequence[Nest], new: Nest, reading: Reading) -> tuple[Member, ...]:
    """Return the methods that do in none of the baselines the same, or are new."""
    before = [bodies(each, reading) for each in olds]
    now = bodies(new, reading)
    return tuple(sorted(member for member in now if all(each.get(member) != now[member] for each in before)))


def _reading_of(candidate: Classes, baselines: Sequence[CompiledBaseline]) -> Reading:
    """Return how closely a candidate's methods can be compared with those of the baselines."""
    nearest, _ = closest(candidate, baselines)
    if _agreement(candidate, nearest.classes, Reading.OPERATIONS, Reading.INSTRUCTIONS) >= _SAME_COMPILER:
        return Reading.INSTRUCTIONS
    shares = (_agreement(candidate, each.classes, Reading.USES, Reading.OPERATIONS) for each in baselines)
    return Reading.OPERATIONS if max(shares) >= _SAME_KIND else Reading.USES


def _agreement(candidate: Classes, baseline: Classes, coarse: Reading, fine: Reading) -> float:
    """Return which share of the methods that are the same by a coarse reading is so by a finer one: what compilers do.

    Methods that an edit changes are mostly not among them, so that a large patch does not look like another compiler.
    """
    (old, new), (old_fine, new_fine) = (
        [_all_bodies(classes, reading) for classes in (baseline, candidate)] for reading in (coarse, fine)
    )
    same = [member for member in new if old.get(member) == new[member]]
    return sum(old_fine[member] == new_fine[member] for member in same) / len(same) if same else 0.0


def _all_bodies(classes: Classes, reading: Reading) -> dict[Member, object]:
    return {member: body for nest in nests(classes).values() for member, body in bodies(nest, reading).items()}


def _changed_nests(candidate: Classes, baselines: Sequence[CompiledBaseline]) -> frozenset[str]:
    """Return the top-level classes that are the same, with all that is nested in them, in no baseline."""
    made = [nests(each.classes) for each in baselines]
    new = nests(candidate)
    every = new.keys() | {top for each in made for top in each}
    return frozenset(top for top in every if not any(_same(new.get(top, ()), each.get(top, ())) for each in made))


def compare_levels(base: Classes, candidate: Classes) -> Iterator[Difference]:
    """Yield one difference for each Java that classes are newly compiled for, if it is newer than all of base's."""
    most = max((each.major for each in base.values()), default=JAVA_8)
    newer: dict[int, list[str]] = defaultdict(list)
    for name, facts in candidate.items():
        if facts.major > most:
            newer[facts.major].append(_dotted(name))
    for major, names in sorted(newer.items()):
        detail = f"{len(names)} classes are compiled for {java_of(major)}, base's for {java_of(most)} at most"
        yield rules.BYTECODE_LEVEL.broken(min(names), detail, java_of(most), java_of(major))


def closest(candidate: Classes, baselines: Sequence[CompiledBaseline]) -> tuple[CompiledBaseline, int]:
    """Return the baseline with the most classes identical to the candidate's, the first of equals, and how many."""
    counted = [(each, identical(candidate, each.classes)) for each in baselines]
    return max(counted, key=lambda pair: pair[1])


def identical(one: Classes, other: Classes) -> int:
    """Return how many classes are the same in both: what they declare and every instruction."""
    return sum(code_of(one[name]) == code_of(other[name]) for name in one.keys() & other.keys())


def nests(classes: Classes) -> dict[str, tuple[ClassFacts, ...]]:
    """Return top-level classes by name, each with all that is nested in it, sorted by name."""
    found: dict[str, list[ClassFacts]] = defaultdict(list)
    for name in sorted(classes):
        found[top_level(name)].append(classes[name])
    return {top: tuple(nest) for top, nest in found.items()}


def visible(classes: Classes) -> dict[str, ClassFacts]:
    """Return the classes that other source can name: not private, not in a private one, not the compiler's."""
    return {name: each for name, each in classes.items() if all(map(_is_open, _enclosing(name, classes)))}


def members(facts: ClassFacts) -> dict[str, FieldFacts | MethodFacts]:
    """Return what is not private and stands in the source, by name and descriptor as in `size()I`, `epoch: I`."""
    both: list[tuple[str, FieldFacts | MethodFacts]] = [
        *((f"{each.name}: {each.descriptor}", each) for each in facts.fields),
        *((f"{each.name}{each.descriptor}", each) for each in facts.methods if each.name != "<clinit>"),
    ]
    return {name: each for name, each in both if not each.access & (_PRIVATE | _SYNTHETIC)}


def is_for_others(member: FieldFacts | MethodFacts) -> bool:
    """Whether other packages than its own can use a member."""
    return bool(member.access & _FOR_OTHERS)


def changed_top_level(candidate: Classes, baselines: Sequence[CompiledBaseline]) -> frozenset[str]:
    """Return the top-level classes, with dots, that are not the closest baseline's, or of which a nested one is not."""
    nearest, _ = closest(candidate, baselines)
    old, new = ({name: code_of(each) for name, each in of.items()} for of in (nearest.classes, candidate))
    differing = (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return frozenset(top_level(name).replace("/", ".") for name in differing)


def top_level(name: str) -> str:
    """Return the top-level class that a class is nested in, or itself."""
    return name.split("$", 1)[0]


def is_generated(name: str) -> bool:
    """Whether a class was generated from a message schema."""
    return name.rpartition("/")[0].endswith("/generated")


def java_of(major: int) -> str:
    """Return the Java that class files of a version are for: 65 is `Java 21`."""
    return f"Java {major - 44}"


def _enclosing(name: str, classes: Classes) -> Iterator[ClassFacts]:
    """Yield a class and those it is nested in."""
    parts = name.split("$")
    outer = ("$".join(parts[: count + 1]) for count in range(len(parts)))
    return (classes[each] for each in outer if each in classes)


def _is_open(facts: ClassFacts) -> bool:
    """Whether a class is neither private nor numbered (anonymous, local) nor made by the compiler."""
    numbered = any(part[:1].isdigit() for part in facts.name.split("$")[1:])
    return not numbered and not facts.access & (_SYNTHETIC | _PRIVATE)


def code_of(facts: ClassFacts) -> object:
    """Return what makes two class files do the same: what the class declares, and every instruction.

    Lambdas count without their names, which are numbers given in any order, and equal ones once.
    """
    named = ((LAMBDA if is_lambda(each) else each.name, each) for each in facts.methods)
    methods = sorted({(name, each.descriptor, each.access, each.code) for name, each in named})
    fields = sorted((each.name, each.descriptor, each.access, each.constant) for each in facts.fields)
    return facts.access, facts.superclass, facts.interfaces, fields, methods


def _same(one: Sequence[ClassFacts], other: Sequence[ClassFacts]) -> bool:
    return [(each.name, code_of(each)) for each in one] == [(each.name, code_of(each)) for each in other]


def api_of(nest: Sequence[ClassFacts]) -> frozenset[str]:
    """Return what a top-level class and its nested ones declare for others, each declaration as a line."""
    return frozenset(chain.from_iterable(map(_declarations, visible({each.name: each for each in nest}).values())))


def _declarations(facts: ClassFacts) -> Iterator[str]:
    kin = ", ".join(filter(None, (facts.superclass, *sorted(facts.interfaces))))
    yield _dotted(f"{_words(facts.access)} class {facts.name} of {kin}")
    for name, member in members(facts).items():
        more = member.exceptions if isinstance(member, MethodFacts) else filter(None, [member.constant])
        yield " ".join(filter(None, (_words(member.access), f"{_dotted(facts.name)}.{name}", *sorted(more))))


def _words(access: int) -> str:
    return " ".join(word for bit, word in _MODIFIERS.items() if access & bit)


def _unlike(new: Counter[str]) -> Callable[[tuple[Nest, Counter[str]]], int]:
    """Return what counts by how many calls a baseline's class, with its calls, differs from the candidate's."""
    return lambda old: (old[1] - new).total() + (new - old[1]).total()


def _weighed(named_rule: rules.Rule, rule: rules.Rule, top: str, named: Named) -> rules.Rule:
    """Return the rule for a change in a top-level class; where nothing says which may change, it is to be read."""
    if named is None:
        return rule.weighing(Severity.NOTE)
    return named_rule if top in named else rule


def _rule_of(generated: bool, same_api: bool, same_calls: bool, certain: bool) -> rules.Rule:
    """Return the rule that a change in a class breaks that nothing names."""
    if generated:
        may_be_compilers = same_api and same_calls and not certain
        return rules.GENERATED_CODE if may_be_compilers else rules.GENERATED_CHANGED
    if not same_api:
        return rules.UNNAMED_CLASS_API
    if not same_calls:
        return rules.UNNAMED_CLASS_CALLS
    return rules.UNNAMED_CLASS_CODE.weighing(Severity.FAIL) if certain else rules.UNNAMED_CLASS_CODE


def _dotted(name: str) -> str:
    return name.replace("/", ".")
