"""Which method calls which, and what a method comes to by way of those it calls; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from harness.audit.code import Access, Act, Atom, Call, Code, Method, Step
from harness.audit.flow import ENDS, Decide, FlowWalk, acts_in, deferred_steps, value_of

Acts = Callable[[Act], bool]
_LATER = "void"  # what a lambda of a constructor returns, as far as anybody waits for it
_LEVELS = ("trace", "debug", "info", "warn", "error")


def split_member(member: str) -> tuple[str, str]:
    """Return class and name of `Class.member`."""
    owner, _, name = member.partition(".")
    return owner, name


def writes(field: str) -> Acts:
    """Return the predicate for writes of a field."""
    return lambda act: isinstance(act, Access) and act.writes and (act.owner, act.name) == split_member(field)


def reads(field: str) -> Acts:
    """Return the predicate for reads of a field."""
    return lambda act: isinstance(act, Access) and not act.writes and (act.owner, act.name) == split_member(field)


def calls(members: Iterable[str]) -> Acts:
    """Return the predicate for calls of any of some methods."""
    wanted = {split_member(member) for member in members}
    return lambda act: isinstance(act, Call) and (act.owner, act.name) in wanted


def logs(text: str) -> Acts:
    """Return the predicate for log calls whose text has `text` in it."""
    return lambda act: (
        isinstance(act, Call)
        and act.name in _LEVELS
        and act.owner.endswith("Logger")
        and any(text in constant for constant in act.constants if constant)
    )


@dataclass(frozen=True, slots=True)
class Graph:
    """The methods of some code, their acts in the order of the source, and who calls whom."""

    code: Code
    acts: Mapping[Method, tuple[Act, ...]]
    callers: Mapping[Method, tuple[Method, ...]]

    def called(self, call: Call) -> tuple[Method, ...]:
        """Return the methods that a call may mean: those of its class, or else of the nearest superclass."""
        return _called(self.code, call)

    def callers_by_any_type(self, method: Method) -> tuple[Method, ...]:
        """Return who calls a method, by its class or by a type of the module that has a method of its shape.

        An interface is such a type: which class stands behind it at run time is not asked.
        """

        def may_mean(act: Act) -> bool:
            return isinstance(act, Call) and any(
                each is method or same_shape(each, method) for each in self.called(act)
            )

        by_type = (caller for caller, acts in self.acts.items() if any(map(may_mean, acts)))
        return tuple(dict.fromkeys((*self.callers.get(method, ()), *by_type)))

    def sites(self, acts: Acts, within: Iterable[Method] | None = None) -> Iterator[tuple[Method, Act]]:
        """Yield every act that `acts` is true of, with the method that does it."""
        for method in self.acts if within is None else within:
            yield from ((method, act) for act in self.acts[method] if acts(act))

    def spread(self, start: Iterable[Method], joins: Callable[[Method, frozenset[Method]], bool]) -> frozenset[Method]:
        """Return `start` and every method that joins it, tested again whenever one that it calls has joined."""
        reached = frozenset(start)
        todo = list(reached)
        while todo:
            for caller in self.callers.get(todo.pop(), ()):
                if caller not in reached and joins(caller, reached):
                    reached |= {caller}
                    todo.append(caller)
        return reached

    def reaching(self, acts: Acts, decide: Decide) -> frozenset[Method]:
        """Return the methods that may come to such an act, themselves or by what they call."""

        def does(method: Method, reached: frozenset[Method]) -> bool:
            walk = FlowWalk(self.through_predicates(decide))
            walk.exits(method.body)
            return any(acts(act) or self.leads(act, reached) for act in walk.seen)

        return self._closed(acts, does)

    def surely(self, acts: Acts, decide: Decide) -> frozenset[Method]:
        """Return the methods that come to such an act on every way which `decide` leaves open and nothing throws on."""

        def does(method: Method, reached: frozenset[Method]) -> bool:
            walk = FlowWalk(self.through_predicates(decide), lambda act: acts(act) or self.leads(act, reached))
            return not walk.exits(method.body) & ENDS

        return self._closed(acts, does)

    def through_predicates(self, decide: Decide) -> Decide:
        """Return `decide` for conditions that also stand in small methods of their own, such as `isEnabled()`."""

        known: dict[Method, bool | None] = {}

        def decided(method: Method) -> bool | None:
            if method not in known:
                known[method] = None  # for a method that calls itself
                known[method] = value_of(method.returned, decide_deeply) if method.returned else None
            return known[method]

        def decide_deeply(atom: Atom) -> bool | None:
            value = decide(atom)
            methods = self.called(atom.call) if value is None and atom.call else ()
            return decided(methods[0]) if len(methods) == 1 else value

        return decide_deeply

    def _closed(self, acts: Acts, does: Callable[[Method, frozenset[Method]], bool]) -> frozenset[Method]:
        own = dict.fromkeys(method for method, _ in self.sites(acts))
        return self.spread((method for method in own if does(method, frozenset())), does)

    def leads(self, act: Act, methods: frozenset[Method]) -> bool:
        """Whether an act is a call of one of some methods."""
        return isinstance(act, Call) and any(method in methods for method in self.called(act))


def graph_of(code: Code) -> Graph:
    """Return the graph of some code. Constructors are left out: what they do is how things begin.

    What their lambdas do is not: it may be done at any time, by nobody who is known.
    """
    begun = (replace(each, returns=_LATER, body=deferred) for each, deferred in _later(code))
    methods = (*(method for method in code.methods if method.returns), *begun)
    acts = {method: tuple(acts_in(method.body)) for method in methods}
    callers: dict[Method, dict[Method, None]] = {}
    for method, done in acts.items():
        for call in (act for act in done if isinstance(act, Call)):
            for called in _called(code, call):
                callers.setdefault(called, {})[method] = None
    return Graph(code, acts, {called: tuple(by) for called, by in callers.items()})


def _later(code: Code) -> Iterator[tuple[Method, Step]]:
    for each in (*code.constructors, *code.initializers):
        for deferred in deferred_steps(each.body):
            yield each, deferred


def same_shape(one: Method, other: Method) -> bool:
    """Whether one of two methods may stand for the other, such as an interface's for that of a class."""
    return (one.name, one.parameters) == (other.name, other.parameters)


def _called(code: Code, call: Call) -> tuple[Method, ...]:
    owner, passed = call.owner, 0
    while owner in code.classes and passed < len(code.classes):
        found = tuple(m for m in code.classes[owner].methods if m.name == call.name and _fits(m, call))
        if found:
            return found
        owner, passed = code.classes[owner].superclass, passed + 1
    return ()


def _fits(method: Method, call: Call) -> bool:
    return call.arity in (-1, len(method.parameters)) or method.takes_any_number
