"""Walking through a method: which ways lead out of it, and what is met on them; pure.

What throws ends a way and is not followed: a promise is about what runs to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never

from harness.audit.code import (
    NOTHING,
    Access,
    Act,
    Atom,
    Breakable,
    Call,
    Condition,
    Deferred,
    Exit,
    If,
    Junction,
    Locked,
    Loop,
    Not,
    Sequence,
    Step,
    Truth,
    Try,
)

Decide = Callable[[Atom], bool | None]
Exits = frozenset[Exit]
ENDS: Exits = frozenset({Exit.FALLS, Exit.RETURNS})  # the ways out of a method that ran to its end
_NONE: Exits = frozenset()
_FALLS: Exits = frozenset({Exit.FALLS})


def undecided(_atom: Atom) -> bool | None:
    """Decide nothing: every condition may go either way."""
    return None


def nowhere(_act: Act) -> bool:
    """Stop at nothing."""
    return False


def value_of(condition: Condition, decide: Decide) -> bool | None:
    """Return what a condition comes to when its atoms are decided by `decide`; None when that does not decide it.

    A part that stands in several places, as a local variable does that others are made of, is looked at once.
    """
    known: dict[int, bool | None] = {}

    def value(part: Condition) -> bool | None:
        if id(part) not in known:
            known[id(part)] = _value(part, decide, value)
        return known[id(part)]

    return value(condition)


def _value(condition: Condition, decide: Decide, value: Callable[[Condition], bool | None]) -> bool | None:
    match condition:
        case Atom():
            return decide(condition)
        case Truth(says):
            return says
        case Not(inner):
            opposite = value(inner)
            return None if opposite is None else not opposite
        case Junction(left, right, any_suffices):
            values = (value(left), value(right))
            if any_suffices in values:
                return any_suffices
            return None if None in values else not any_suffices
        case _:
            assert_never(condition)


@dataclass(frozen=True, slots=True)
class FlowWalk:
    """A walk that goes every way which `decide` leaves open, and ends at the acts that `stops` names.

    `seen` collects the acts that it met.
    """

    decide: Decide = undecided
    stops: Callable[[Act], bool] = nowhere
    seen: list[Act] = field(default_factory=list)

    def exits(self, step: Step) -> Exits:
        """Return how a step can be left without having met an act that stops."""
        match step:
            case Call() | Access():
                self.seen.append(step)
                return _NONE if self.stops(step) else _FALLS
            case Sequence(steps):
                return self._through(_FALLS, steps)
            case If(condition, then, other):
                value = value_of(condition, self.decide)
                ways = [way for way, taken in ((then, True), (other, False)) if value in (taken, None)]
                return _NONE.union(*map(self.exits, ways))
            case Loop(body):
                return _FALLS | _ended_by_break(self.exits(body))
            case Breakable(body):
                return _ended_by_break(self.exits(body))
            case Deferred(body):
                self.exits(body)
                return _FALLS
            case Locked(body):
                return self.exits(body)
            case Try(body, catches, last):
                self.exits(catches)
                return self._at_last(self.exits(body), last)
            case Exit():
                return frozenset({step})
            case _:
                assert_never(step)

    def exits_after(self, step: Step, act: Act) -> Exits | None:
        """Return how `step` can be left after `act` in it; None when it holds no such act."""
        match step:
            case Call() | Access():
                return _FALLS if step is act else None
            case Sequence(steps):
                return self._after_in_sequence(steps, act)
            case If(_, then, other):
                return self._after_in_one_of((then, other), act)
            case Loop(body) | Breakable(body):
                inside = self.exits_after(body, act)
                return None if inside is None else _ended_by_break(inside)
            case Deferred(body):
                inside = self.exits_after(body, act)
                return None if inside is None else (_FALLS if inside else _NONE)
            case Locked(body):
                return self.exits_after(body, act)
            case Try(body, catches, last):
                inside = self._after_in_one_of((body, catches), act)
                return self.exits_after(last, act) if inside is None else self._at_last(inside, last)
            case Exit():
                return None
            case _:
                assert_never(step)

    def _through(self, exits: Exits, steps: Iterable[Step]) -> Exits:
        for step in steps:
            if Exit.FALLS not in exits:
                break
            exits = (exits - _FALLS) | self.exits(step)
        return exits

    def _after_in_sequence(self, steps: tuple[Step, ...], act: Act) -> Exits | None:
        for index, step in enumerate(steps):
            inside = self.exits_after(step, act)
            if inside is not None:
                return self._through(inside, steps[index + 1 :])
        return None

    def _after_in_one_of(self, steps: Iterable[Step], act: Act) -> Exits | None:
        return next((found for each in steps if (found := self.exits_after(each, act)) is not None), None)

    def _at_last(self, exits: Exits, last: Step) -> Exits:
        """Return the exits of a body whose `finally` block runs on each of them, and may itself leave."""
        ends = self.exits(last)
        return (ends - _FALLS) | (exits if Exit.FALLS in ends else _NONE) if exits else exits


def _ended_by_break(exits: Exits) -> Exits:
    left = exits - {Exit.FALLS, Exit.BREAKS}
    return left | _FALLS if left != exits else left


def acts_in(step: Step) -> Iterator[Act]:
    """Give everything that a step may do, in the order of the source."""
    if isinstance(step, Call | Access):
        yield step
    for part in parts(step):
        yield from acts_in(part)


def deferred_in(step: Step) -> Iterator[Act]:
    """Give everything in a step that runs at some later time, or never: what lambdas and anonymous classes do."""
    for each in deferred_steps(step):
        yield from acts_in(each)


def deferred_steps(step: Step) -> Iterator[Deferred]:
    """Give the outermost lambdas and anonymous classes of a step."""
    if isinstance(step, Deferred):
        yield step
    else:
        for part in parts(step):
            yield from deferred_steps(part)


def parts(step: Step) -> tuple[Step, ...]:
    """Return what a step consists of; an act has no parts."""
    match step:
        case Call() | Access() | Exit():
            return ()
        case Sequence(steps):
            return steps
        case If(_, then, other):
            return (then, other)
        case Loop(body) | Breakable(body) | Deferred(body) | Locked(body):
            return (body,)
        case Try(body, catches, last):
            return (body, catches, last)
        case _:
            assert_never(step)


def most_of(step: Step, counts: Callable[[Act], bool], lock: str = "") -> dict[Exit, int]:
    """Return, for each way out of a step, how many acts that count are met on it at most.

    What a loop or a lambda does counts twice, since it may be done again; what is done under `lock` counts once.
    """
    match step:
        case Call() | Access():
            return {Exit.FALLS: int(counts(step))}
        case Sequence(steps):
            return _most_in_sequence(steps, counts, lock)
        case If(_, then, other):
            return _greater(most_of(then, counts, lock), most_of(other, counts, lock))
        case Loop(body):
            return _repeated(most_of(body, counts, lock))
        case Breakable(body):
            inside = most_of(body, counts, lock)
            return _greater(inside, {Exit.FALLS: inside.pop(Exit.BREAKS, 0)})
        case Deferred(body):
            return {Exit.FALLS: 2 * max(most_of(body, counts, lock).values())}
        case Locked(body, held):
            inside = most_of(body, counts, lock)
            return {way: min(many, 1) for way, many in inside.items()} if lock and held == lock else inside
        case Try(body, catches, last):
            return _most_in_sequence((body, If(Atom(), catches, NOTHING), last), counts, lock)
        case Exit():
            return {step: 0}
        case _:
            assert_never(step)


def _most_in_sequence(steps: tuple[Step, ...], counts: Callable[[Act], bool], lock: str) -> dict[Exit, int]:
    sums = {Exit.FALLS: 0}
    for step in steps:
        if Exit.FALLS not in sums:
            break
        so_far = sums.pop(Exit.FALLS)
        sums = _greater(sums, {way: so_far + many for way, many in most_of(step, counts, lock).items()})
    return sums


def _repeated(body: dict[Exit, int]) -> dict[Exit, int]:
    again = 2 * max(body.pop(Exit.FALLS, 0), body.pop(Exit.BREAKS, 0))
    return {Exit.FALLS: again} | {way: again + many for way, many in body.items()}


def _greater(one: dict[Exit, int], other: dict[Exit, int]) -> dict[Exit, int]:
    return {way: max(one.get(way, 0), other.get(way, 0)) for way in one | other}
