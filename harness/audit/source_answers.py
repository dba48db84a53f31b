"""The rules of the source audit: one small function a kind of question, over code that was read; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from harness.audit.code import Act, Atom, Call, Exit, Method
from harness.audit.flow import ENDS, Decide, FlowWalk, acts_in, most_of, undecided
from harness.audit.graph import Acts, Graph, calls, logs, reads, split_member, writes
from harness.audit.locks import guard_of
from harness.audit.questions import (
    LEVELS,
    Ask,
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
from harness.audit.replies import Reply, answered, holds_or_not, places, spot, untested
from harness.audit.uses import bare_name, set_once, used_in
from harness.model.proof import Answer, AuditAnswer

_DEFINES = {"define": 5, "defineInternal": 4}  # by the fewest arguments among which the third is a default


def answer(question: Question, graph: Graph) -> AuditAnswer:
    """Answer a question from sources; what the sources do not show is UNTESTED, with the reason."""
    try:
        reply = _missing(question.ask, graph) or _reply(question.ask, graph)
    except RecursionError:
        reply = untested("What it asks about is nested too deeply.")
    unread = (*graph.code.unread, *_unread_twins(question.ask, graph))
    if unread and reply.answer is Answer.HOLDS:
        # What holds everywhere that could be read may not hold where it could not.
        reply = Reply(Answer.UNTESTED, f"{reply.detail} But not everything could be read: {unread[0]}.", reply.evidence)
    return answered(question, reply)


def _unread_twins(ask: Ask, graph: Graph) -> list[str]:
    """Return why classes were not read that share their name and hold one which matters wherever it stands."""
    matters = _anywhere(ask)
    found = ((twin, sorted(matters & words)) for twin, words in graph.code.left_out.items())
    return [f"several classes are named {twin}, and {words[0]} stands in one" for twin, words in found if words]


def _anywhere(ask: Ask) -> frozenset[str]:
    """Return the names that no class may use otherwise, whichever it is."""
    match ask:
        case SetOnce(field):
            return frozenset({bare_name(field)})
        case UsedIn(members):
            return frozenset(map(bare_name, members))
        case OneThread(owner):
            return frozenset({owner})
        case _:
            return frozenset()


def subjects(ask: Ask) -> tuple[str, ...]:
    """Return the classes without which a question means nothing."""
    match ask:
        case FollowedBy(members, then, within):
            return _owners((*members, then, *within))
        case ReadOnce(field) | SetOnce(field):
            return _owners((field,))
        case UsedIn(_, methods):  # its members may be another module's
            return _owners(methods)
        case GuardedByFlag(flag, field):
            return _owners((flag, field))
        case OnlyWhenChanged(members, field):
            return _owners((*members, field))
        case KeepsConstructor(constructor):
            return (constructor.partition("(")[0],)
        case OneThread(owner, entries):
            return (owner, *_owners(entries))
        case LoggedAt() | Default():
            return ()
        case _:
            assert_never(ask)


def _owners(members: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(split_member(member)[0] for member in members))


def _missing(ask: Ask, graph: Graph) -> Reply | None:
    lacking = [name for name in subjects(ask) if name not in graph.code.classes]
    if not lacking:
        return None
    reasons = [reason for reason in graph.code.unread for name in lacking if f"/{name}.java: " in f"/{reason}"]
    return untested(f"{reasons[0]}." if reasons else f"The sources have no class {lacking[0]}, or several.")


def _reply(ask: Ask, graph: Graph) -> Reply:
    match ask:
        case FollowedBy():
            return _followed_by(ask, graph)
        case ReadOnce():
            return _read_once(ask, graph)
        case GuardedByFlag():
            return _guarded_by_flag(ask, graph)
        case OnlyWhenChanged():
            return _only_when_changed(ask, graph)
        case LoggedAt():
            return _logged_at(ask, graph)
        case KeepsConstructor():
            return _keeps_constructor(ask, graph)
        case Default():
            return _default(ask, graph)
        case OneThread():
            return _one_thread(ask, graph)
        case SetOnce():
            return set_once(ask, graph)
        case UsedIn():
            return used_in(ask, graph)
        case _:
            assert_never(ask)


def _followed_by(ask: FollowedBy, graph: Graph) -> Reply:
    within = [method for method in graph.acts if not ask.within or method.title in ask.within]
    sites = list(graph.sites(calls(ask.calls), within))
    silent = [title for title in ask.within if not any(method.title == title for method, _ in sites)]
    called = " or ".join(ask.calls)
    if silent or not sites:
        return untested(f"{silent[0] if silent else 'Nothing'} calls {called}{' no more' if silent else ''}.")
    follows = _follows(graph, writes(ask.then), _with_news(ask.given), _in_place(ask.given))
    unfollowed = [(method, act) for method, act in sites if not follows.after(method, act)]
    shown = unfollowed or sites
    count = f"{len(unfollowed)} of {len(sites)} calls of {called} " if unfollowed else f"Every call of {called} "
    verb = ("are not" if len(unfollowed) > 1 else "is not") if unfollowed else "is"
    detail = f"{count}{verb} followed by a write of {ask.then}: in {places(shown)}."
    return holds_or_not(not unfollowed, detail, (act.at for _, act in shown))


@dataclass(frozen=True, slots=True)
class _Follows:
    """Whether acts that `stops` is true of come after another, in its method or in all that call it."""

    graph: Graph
    stops: Acts
    decide: Decide

    def after(self, method: Method, act: Act, passed: frozenset[Method] = frozenset()) -> bool:
        """Whether one follows `act` on every way to the end; a private method may leave it to its callers."""
        exits = FlowWalk(self.decide, self.stops).exits_after(method.body, act)
        if exits is not None and not exits & ENDS:
            return True
        callers = self.graph.callers.get(method, ()) if "private" in method.modifiers else ()
        if not callers or method in passed:
            return False
        sites = self.graph.sites(lambda each: self.graph.leads(each, frozenset({method})), callers)
        return all(self.after(caller, call, passed | {method}) for caller, call in sites)


def _follows(graph: Graph, acts: Acts, there: Decide, here: Decide) -> _Follows:
    """Return the test whether such acts follow; `there` decides in what is called, `here` in the method itself."""
    return _Follows(graph, _either(acts, graph.surely(acts, there), graph), graph.through_predicates(here))


def _with_news(given: Sequence[str]) -> Decide:
    """Decide that there is something to pass on, and that it differs from what was there."""
    plain = _in_place(given)

    def decide(atom: Atom) -> bool | None:
        known = plain(atom)
        return not atom.equal if known is None and atom.equal is not None else known

    return decide


def _in_place(given: Sequence[str]) -> Decide:
    """Decide that what `given` names exists and is not empty, and that the getters in `given` say true."""
    asked = calls(given)
    return lambda atom: True if atom.call and asked(atom.call) else atom.exists


def _either(acts: Acts, methods: frozenset[Method], graph: Graph) -> Acts:
    return lambda act: acts(act) or graph.leads(act, methods)


def _read_once(ask: ReadOnce, graph: Graph) -> Reply:
    owner, name = split_member(ask.field)
    field = graph.code.classes[owner].fields.get(name)
    if field is None:
        return untested(f"{owner} has no field {name}.")
    if "final" in field.modifiers:
        return holds_or_not(True, f"{ask.field} is final: nobody replaces it.", (field.at,))
    lock = "" if "volatile" in field.modifiers else guard_of(ask.field, graph)
    if "volatile" not in field.modifiers and not lock:
        return holds_or_not(False, f"{ask.field} is replaced and not volatile: others may never see it.", (field.at,))
    reads_field = reads(ask.field)
    own = (method for method, acts in graph.acts.items() if method.owner == owner and len(acts) == 1)
    getters = frozenset(method for method in own if reads_field(graph.acts[method][0]))
    is_read = _either(reads_field, getters, graph)
    sites = list(graph.sites(is_read))
    again = [(method, act) for method, act in sites if _reads_of(method, is_read, lock) > 1]
    guarded = f"used under the lock {lock} alone" if lock else "volatile"
    detail = f"{ask.field} is {guarded}, and no method reads it more than once: it is read in {places(sites)}."
    if again:
        detail = f"{ask.field} is read more than once in one method, between which it may be replaced: {places(again)}."
    return holds_or_not(not again, detail, (act.at for _, act in again or sites))


def _reads_of(method: Method, is_read: Acts, lock: str) -> int:
    return max((many for way, many in most_of(method.body, is_read, lock).items() if way is not Exit.THROWS), default=0)


def _guarded_by_flag(ask: GuardedByFlag, graph: Graph) -> Reply:
    effect, asks_flag = _effect(ask.field, ask.log), calls((ask.flag,))
    inner = frozenset(method for method in graph.acts if method.owner == split_member(ask.field)[0])
    able = graph.reaching(effect, undecided) - inner
    if not able:
        return untested(f"Nothing outside of {split_member(ask.field)[0]} brings about a write of {ask.field}.")
    off = graph.through_predicates(lambda atom: False if atom.call and asks_flag(atom.call) else None)
    unguarded = graph.reaching(effect, off) - inner
    begun = [m for m in unguarded if "private" not in m.modifiers or not graph.callers.get(m)]
    what = f"a write of {ask.field}" + (f" or the line {ask.log!r}" if ask.log else "")
    if not begun:
        guards = list(graph.sites(asks_flag, _in_order(able, graph)))
        detail = f"While {ask.flag} is false there is no way to {what}: it is asked in {places(guards)}."
        return holds_or_not(True, detail, (act.at for _, act in guards))
    direct = _either(effect, graph.reaching(effect, off) & inner, graph)
    met = [(method, act) for method in _in_order(unguarded, graph) for act in _met(method, off) if direct(act)]
    detail = f"Even while {ask.flag} is false there is a way to {what}: {places(met)}."
    return holds_or_not(False, detail, (act.at for _, act in met))


def _met(method: Method, decide: Decide) -> list[Act]:
    walk = FlowWalk(decide)
    walk.exits(method.body)
    return walk.seen


def _effect(field: str, log: str) -> Acts:
    is_write, is_line = writes(field), logs(log)
    return lambda act: is_write(act) or (bool(log) and is_line(act))


def _only_when_changed(ask: OnlyWhenChanged, graph: Graph) -> Reply:
    effect = logs(ask.log) if ask.log else writes(ask.field)
    here, sites = _in_place(ask.given), list(graph.sites(calls(ask.calls)))
    always = _follows(graph, effect, here, here)
    each_time = [(method, act) for method, act in sites if always.after(method, act)]
    acts = list(graph.sites(effect))
    what = f"{ask.log!r} is logged{_levels(acts)}" if ask.log else f"{ask.field} is written"
    called = " or ".join(ask.calls)
    if each_time:
        count = f"{len(each_time)} of {len(sites)} calls"
        detail = f"{what} after {count} of {called}, whether anything changed or not: {places(acts + each_time)}."
        return holds_or_not(False, detail, (act.at for _, act in (*acts, *each_time)))
    sometimes = _follows(graph, effect, _with_news(ask.given), here)
    if any(sometimes.after(method, act) for method, act in sites):
        detail = f"{what} after a call of {called} only where a comparison shows a change: {places(acts)}."
        return holds_or_not(True, detail, (act.at for _, act in acts))
    return untested(f"It is not clear when, after a call of {called}, {what}.")


def _logged_at(ask: LoggedAt, graph: Graph) -> Reply:
    sites = list(graph.sites(logs(ask.log)))
    if not sites:
        return untested(f"No line with {ask.log!r} is logged.")
    louder = [(m, act) for m, act in sites if isinstance(act, Call) and rank_of(act.name) > rank_of(ask.most)]
    detail = f"{ask.log!r} is logged{_levels(sites)}, and {ask.most.upper()} is the most: {places(louder or sites)}."
    return holds_or_not(not louder, detail, (act.at for _, act in louder or sites))


def rank_of(level: str) -> int:
    """Return how loud a level is; one that is not known is the loudest."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)


def _levels(sites: Iterable[tuple[Method, Act]]) -> str:
    levels = dict.fromkeys(act.name.upper() for _, act in sites if isinstance(act, Call))
    return f" at {' and '.join(levels)}" if levels else ""


def _one_thread(ask: OneThread, graph: Graph) -> Reply:
    outside = [method for method in graph.acts if method.owner != ask.type]
    sites = list(graph.sites(_calls_of(ask.type), outside))
    if not sites:
        return untested(f"Nothing calls a method of {ask.type}.")
    entries = frozenset(method for method in graph.acts if method.title in ask.entries)
    begun = _begun_by(dict.fromkeys(method for method, _ in sites), entries, graph)
    foreign = [method for method in begun if method not in entries]
    if foreign:
        named = ", ".join(f"{method.title} ({spot(method.at)})" for method in foreign)
        return holds_or_not(False, f"{ask.type} is called by way of {named} as well.", (m.at for m in foreign))
    detail = f"Every call of {ask.type} comes by way of {' or '.join(m.title for m in begun)}: {places(sites)}."
    return holds_or_not(True, detail, (act.at for _, act in sites))


def _calls_of(owner: str) -> Acts:
    return lambda act: isinstance(act, Call) and act.owner == owner and act.name != "<init>"


def _begun_by(methods: Iterable[Method], entries: frozenset[Method], graph: Graph) -> list[Method]:
    """Return where ways to `methods` begin: at entries, and at methods that nothing else in the module calls.

    Methods that call each other in a circle, or one that calls itself, begin a way where nobody else calls them.
    """
    callers: dict[Method, Sequence[Method]] = {}
    todo = list(methods)
    while todo:
        if (method := todo.pop()) not in callers:
            callers[method] = () if method in entries else graph.callers_by_any_type(method)
            todo += callers[method]
    before = {method: _before(method, callers) for method in callers}
    return _in_order({each for each in callers if all(each in before[other] for other in before[each])}, graph)


def _before(method: Method, callers: Mapping[Method, Sequence[Method]]) -> frozenset[Method]:
    """Return every method that leads to one, itself among them only where it calls itself by whatever way."""
    found, todo = set[Method](), [*callers[method]]
    while todo:
        if (each := todo.pop()) not in found:
            found.add(each)
            todo += callers[each]
    return frozenset(found)


def _keeps_constructor(ask: KeepsConstructor, graph: Graph) -> Reply:
    owner = ask.constructor.partition("(")[0]
    declared = graph.code.classes[owner]
    found = {_signature(m): m.at for m in declared.methods if not m.returns and "public" in m.modifiers}
    has = " and ".join(found) or "none"
    wanted = ask.constructor.replace(" ", "").replace(",", ", ")
    if wanted in found:
        return holds_or_not(True, f"The public constructor {wanted} is there; {owner} has {has}.", (found[wanted],))
    detail = f"There is no public constructor {wanted}: what calls it does not link any more. {owner} has {has}."
    return holds_or_not(False, detail, tuple(found.values()) or (declared.at,))


def _signature(method: Method) -> str:
    return f"{method.owner}({', '.join(method.parameters)})"


def _default(ask: Default, graph: Graph) -> Reply:
    steps = [step for each in graph.code.classes.values() for step in (each.initial, *(m.body for m in each.methods))]
    made = [act for step in steps for act in acts_in(step) if isinstance(act, Call) and act.name in _DEFINES]
    defined = [call for call in made if call.constants and call.constants[0] == ask.key]
    if not defined:
        return holds_or_not(False, f"Nothing defines the key {ask.key}.", ())
    call = defined[0]
    default = call.constants[2] if call.arity >= _DEFINES[call.name] else ""
    if default is None:
        return untested(f"The key {ask.key} is defined with a default that is no constant: {spot(call.at)}.")
    detail = f"The key {ask.key} is defined with the default {default or '(none)'}: {spot(call.at)}."
    return holds_or_not(default == ask.default, detail, (call.at,))


def _in_order(methods: Iterable[Method], graph: Graph) -> list[Method]:
    wanted = set(methods)
    return [method for method in graph.acts if method in wanted]
