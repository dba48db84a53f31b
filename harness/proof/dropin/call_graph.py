"""The call graph of a jar: what may run on the thread that drives Raft, by its bytecode alone.

Virtual calls reach every class that may be meant (class hierarchy analysis). What lies in other jars is not followed:
a call to there may come back to whatever the jar implements of it. A lambda runs where it is made, unless it is given
to something that runs it on another thread.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from harness.proof.bytecode import ClassFacts, MethodFacts, Use
from harness.proof.dropin.blocking_calls import AT_ONCE, HANDS_OVER, SUPERTYPES, THREAD

Method = tuple[str, str, str]  # class, name, descriptor

_OBJECT = "java/lang/Object"
_CLIENT = "org/apache/kafka/raft/KafkaRaftClient"
_ROUND = "poll"  # of the client: one round of the raft thread's loop
_LOOP = ("doWork", "isRunning", "run")  # what a thread that calls it does between two rounds


class CallGraph:
    """The methods of a jar's classes by class, name and descriptor, and which of them call which."""

    def __init__(self, classes: Mapping[str, ClassFacts]) -> None:
        self.classes = classes
        self.methods: dict[Method, MethodFacts] = {
            (name, each.name, each.descriptor): each for name, facts in classes.items() for each in facts.methods
        }
        self._declaring: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name, method, descriptor in self.methods:
            self._declaring[method, descriptor].append(name)
        self._ancestors = {name: frozenset(self._kin(name)) for name in classes}

    @cached_property
    def raft_thread(self) -> Mapping[Method, Method | None]:
        """Every method that the raft thread may run, with the one that it was first reached from (None: the loop)."""
        reached: dict[Method, Method | None] = dict.fromkeys(self._roots())
        waiting = deque(reached)
        while waiting:
            caller = waiting.popleft()
            for called in self.called_by(caller):
                if called not in reached:
                    reached[called] = caller
                    waiting.append(called)
        return reached

    def called_by(self, caller: Method) -> Iterator[Method]:
        """Yield the jar's own methods that a method may run on its thread."""
        uses = self.methods[caller].uses
        for place, use in enumerate(uses):
            if use.owner in self.classes and (use.owner, "<clinit>", "()V") in self.methods:
                yield use.owner, "<clinit>", "()V"
            if use.kind == "call" and not (use.made_into and self.handed_over(uses, place)):
                yield from self.targets(use)
            elif use.kind == "new" and use.owner in self.classes:
                yield from self._called_back(uses, place)

    def targets(self, use: Use) -> Iterator[Method]:
        """Yield the methods that a call may run: the one named, those that override it, lambdas made into its owner."""
        if use.owner in self.classes:
            yield from self._resolved(use)
        overriding = (name for name in self._declaring[use.name, use.descriptor] if self._may_be(name, use.owner))
        yield from ((name, use.name, use.descriptor) for name in overriding if use.name != "<init>")
        yield from (made for made in self._lambdas.get(use.owner, ()) if use.name != "<init>")

    def _called_back(self, uses: Sequence[Use], place: int) -> Iterator[Method]:
        """Yield the methods of an object that is given to another jar's code at once, which may call them."""
        made, taker = uses[place].owner, self._taker(uses, place)
        if taker and taker.owner not in self.classes and made not in self._elsewhere:
            yield from (each for each in self.methods if each[0] == made and not each[1].startswith("<"))

    def declared_as(self, use: Use) -> Iterator[str]:
        """Yield what a call is of another jar, as `owner.name(descriptor)`: by its owner, or what that extends."""
        owners = [use.owner] if use.owner not in self.classes else self._outside(use.owner)
        if use.owner not in self.classes or not any(self._resolved(use)):
            yield from (f"{owner}.{use.name}{use.descriptor}" for owner in owners)

    def handed_over(self, uses: Sequence[Use], place: int, *, deep: int = 2) -> bool:
        """Whether what is made at a place (a lambda or an object) is given to what runs it on another thread."""
        taker, types = self._taker(uses, place), self._types(uses[place])
        return taker is not None and self._runs_elsewhere(taker, types, deep)

    def _taker(self, uses: Sequence[Use], place: int) -> Use | None:
        """Return the call that what is made at a place is given to: the next that takes its type."""
        types = self._types(uses[place])
        calls = (each for each in uses[place + 1 :] if each.kind == "call" and not each.made_into)
        return next((each for each in calls if _takes(each, types, uses[place])), None)

    def _done_with(self, uses: Sequence[Use], place: int) -> bool:
        """Whether what is made at a place runs at once and never again, or on another thread."""
        taker = self._taker(uses, place)
        at_once = taker is not None and AT_ONCE.match(f"{taker.owner}.{taker.name}") is not None
        return at_once or self.handed_over(uses, place)

    def _runs_elsewhere(self, taker: Use, types: frozenset[str], deep: int) -> bool:
        if any(map(HANDS_OVER.match, self.declared_as(taker))) or self._starts_thread(taker):
            return True
        bodies = [self.methods[each].uses for each in self._resolved(taker)] if taker.owner in self.classes else []
        calls = [each for uses in bodies for each in uses if each.kind == "call" and not each.made_into]
        passing = [each for each in calls if _takes(each, types, each)]
        return bool(passing) and deep > 0 and all(self._runs_elsewhere(each, types, deep - 1) for each in passing)

    def _starts_thread(self, taker: Use) -> bool:
        return taker.name == "<init>" and self.is_thread(taker.owner)

    def is_thread(self, name: str) -> bool:
        """Whether a class works on a thread of its own."""
        return any(map(THREAD.fullmatch, self._outside(name)))

    def _types(self, made: Use) -> frozenset[str]:
        """Return the types by which a lambda's or object's taker may declare it."""
        if made.made_into:
            return frozenset([made.made_into])
        return self._ancestors.get(made.owner, frozenset()) | {made.owner}

    @cached_property
    def _lambdas(self) -> Mapping[str, tuple[Method, ...]]:
        """The jar's methods that are made into an interface's object which is kept somewhere, by interface."""
        found: dict[str, list[Method]] = defaultdict(list)
        for method in self.methods.values():
            for place, use in enumerate(method.uses):
                if use.made_into and use.owner in self.classes and not self._done_with(method.uses, place):
                    found[use.made_into] += self._resolved(use)
        return {interface: tuple(dict.fromkeys(made)) for interface, made in found.items()}

    @cached_property
    def _elsewhere(self) -> frozenset[str]:
        """Classes whose objects other threads run: threads, and what is handed over to them."""
        given = {
            use.owner
            for method in self.methods.values()
            for place, use in enumerate(method.uses)
            if use.kind == "new" and use.owner in self.classes and self.handed_over(method.uses, place)
        }
        return frozenset(given | {name for name in self.classes if self.is_thread(name)})

    def _may_be(self, name: str, owner: str) -> bool:
        """Whether a call to an owner may run a class's own method.

        How types of other jars are related is mostly not known: a class that extends one may be any of them.
        """
        if owner in self.classes or owner in self._ancestors[name]:
            return owner in self._ancestors[name] and (owner in self.classes or name not in self._elsewhere)
        return name not in self._elsewhere and any(each not in SUPERTYPES for each in self._outside(name))

    def _resolved(self, use: Use) -> Iterator[Method]:
        """Yield the jar's method that a call names: the owner's own, or the first that it inherits."""
        found = next((n for n in self._kin(use.owner) if (n, use.name, use.descriptor) in self.methods), None)
        if found:
            yield found, use.name, use.descriptor

    def _kin(self, name: str) -> Iterator[str]:
        """Yield a class and its supertypes, nearest first, each once; those of other jars are the last on their way."""
        seen, waiting = set[str](), deque([name])
        while waiting:
            each = waiting.popleft()
            if each and each not in seen:
                seen.add(each)
                yield each
                facts = self.classes.get(each)
                waiting.extend((facts.superclass, *facts.interfaces) if facts else SUPERTYPES.get(each, ()))

    def _outside(self, name: str) -> list[str]:
        return [each for each in self._ancestors.get(name, ()) if each not in self.classes]

    def _roots(self) -> list[Method]:
        """Return the client's round, and what the threads do that call it."""
        rounds = [each for each in self.methods if each[0] == _CLIENT and each[1] == _ROUND]
        driving = {name for name, method in self._calling_round() if self.is_thread(name)}
        return [*rounds, *(each for each in self.methods if each[0] in driving and each[1] in _LOOP)]

    def _calling_round(self) -> Iterator[tuple[str, str]]:
        for (name, method, _), facts in self.methods.items():
            if any(use.owner == _CLIENT and use.name == _ROUND for use in facts.uses):
                yield name, method


def _takes(call: Use, types: frozenset[str], made: Use) -> bool:
    """Whether a call is given an object of one of these types, or is made on it; its own constructor is not."""
    if call.name == "<init>" and call.owner == made.owner and made.kind == "new":
        return False
    parameters = call.descriptor.partition(")")[0]
    return any(call.owner == each or f"L{each};" in parameters for each in types if each != _OBJECT)
