"""The rules about where fields and methods are used: `set-once` and `used-in`; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.audit.code import NOTHING, Access, Act, Call, Method
from harness.audit.flow import acts_in, deferred_in
from harness.audit.graph import Acts, Graph, same_shape, split_member, writes
from harness.audit.questions import SetOnce, UsedIn
from harness.audit.replies import Reply, holds_or_not, places, untested
from harness.model.proof import Answer

_NEW = "new"
_MOST_PLACES = 20  # the answer is the list
# What nobody can change who has it.
_VALUES = (
    *("boolean", "byte", "char", "short", "int", "long", "float", "double"),
    *("Boolean", "Byte", "Character", "Short", "Integer", "Long", "Float", "Double", "String"),
)

Site = tuple[Method, Act]


def is_value(kind: str) -> bool:
    """Whether objects of a simple type cannot be changed."""
    return kind in _VALUES


def set_once(ask: SetOnce, graph: Graph) -> Reply:
    """Answer whether a field is set at construction and what it holds stays as it was."""
    owner, name = split_member(ask.field)
    field = graph.code.classes[owner].fields.get(name)
    if field is None:
        return untested(f"{owner} has no field {name}.")
    code = graph.code
    beginnings = code.initializers if "static" in field.modifiers else (*code.constructors, *code.initializers)
    own = {id(act) for each in beginnings if each.owner == owner for act in _at_once(each)}
    sites = [(method, act) for method, act in _everywhere(graph) if _is_of(ask.field, act)]
    written = [(method, act) for method, act in sites if writes(ask.field)(act)]
    later = [(method, act) for method, act in written if id(act) not in own]
    if later:
        detail = f"{ask.field} is written, or what it holds is changed, after its construction: {_listed(later)}."
        return holds_or_not(False, detail, (act.at for _, act in later))
    at = tuple(act.at for _, act in written) or (field.at,)
    when = f"{ask.field} is written at construction alone: {_listed(written) if written else 'where it is declared'}"
    lent = [(method, act) for method, act in sites if isinstance(act, Access) and act.lent]
    if lent and not is_value(field.type):
        detail = f"{when}. What it holds is passed on, which may be changed there: {_listed(lent)}."
        return Reply(Answer.UNTESTED, detail, tuple(act.at for _, act in lent))
    return holds_or_not(True, f"{when}. Nothing changes what it holds.", at)


def used_in(ask: UsedIn, graph: Graph) -> Reply:
    """Answer whether members are used in some methods alone, and list where they are."""
    found = {member: _uses(member, graph) for member in ask.members}
    unused = [member for member, sites in found.items() if not sites]
    if unused:
        return untested(f"Nothing uses {unused[0]}.")
    sites = [site for each in found.values() for site in each]
    foreign = [(method, act) for method, act in sites if spelled(method.owner, method.name) not in ask.methods]
    named = " or ".join(ask.members)
    if foreign:
        detail = f"{named} is used in {_listed(foreign)} as well."
        return holds_or_not(False, detail, (act.at for _, act in foreign))
    return holds_or_not(True, f"{named} is used nowhere but in {_listed(sites)}.", (act.at for _, act in sites))


def spelled(owner: str, name: str) -> str:
    """Return how a question writes a method: `Class.method`, and `Class.new` for a constructor or an initializer."""
    return f"{owner}.{_NEW if name in ('<init>', '<clinit>') else name}"


def bare_name(member: str) -> str:
    """Return the name that stands wherever a member is used."""
    owner, name = split_member(member)
    return owner if name == _NEW else name


def _everywhere(graph: Graph) -> Iterator[Site]:
    for method in (*graph.code.constructors, *graph.code.initializers, *graph.acts):
        yield from ((method, act) for act in acts_in(method.body))


def _at_once(beginning: Method) -> Iterator[Act]:
    """Give what a constructor does to its own object; what a lambda in it does it may do later."""
    later = {id(act) for act in deferred_in(beginning.body)}
    for act in acts_in(beginning.body):
        if isinstance(act, Access) and act.own and id(act) not in later:
            yield act


def _is_of(field: str, act: Act) -> bool:
    return isinstance(act, Access) and (act.owner, act.name) == split_member(field)


def _uses(member: str, graph: Graph) -> list[Site]:
    is_use = _use_of(member, graph)
    return [(method, act) for method, act in _everywhere(graph) if is_use(act)]


def _use_of(member: str, graph: Graph) -> Acts:
    """Return the predicate for uses of a member: by its class, by one that inherits it, by what it implements."""
    owner, name = split_member(member)
    meant = (owner, "<init>" if name == _NEW else name)
    own = [method for method in graph.code.methods if (method.owner, method.name) == meant]

    def may_be(called: Method) -> bool:
        return called in own or (called.body == NOTHING and any(same_shape(called, each) for each in own))

    return lambda act: (act.owner, act.name) == meant or (isinstance(act, Call) and any(map(may_be, graph.called(act))))


def _listed(sites: Sequence[Site]) -> str:
    """Return where acts stand, each method once, at its first."""
    first: dict[str, Site] = {}
    for method, act in sites:
        first.setdefault(spelled(method.owner, method.name), (method, act))
    return places(list(first.values()), _MOST_PLACES)
