"""When a plan needs quiet: what runs beside the clusters is held then.

docs/adr/0034-tests-run-beside-the-clusters.md has the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager

from harness.scenario.steps import Do, Expect, Fault, Guard, Measure, OnlyIf, Step

# Gives a block that lasts as long as the quiet does; several may ask at once.
Quiet = Callable[[], AbstractContextManager[None]]


def held_together(*each: Quiet) -> Quiet:
    """Return the quiet of all of them at once."""

    @contextmanager
    def all_of_them() -> Iterator[None]:
        with ExitStack() as stack:
            for quiet in each:
                stack.enter_context(quiet())
            yield

    return all_of_them


def need_quiet(steps: Sequence[Step]) -> tuple[bool, ...]:
    """Return of each step whether it needs quiet: measured windows, and from each fault until what is expected of it.

    Where guards come between a fault and the expectation, such as for a new leader, they are part of it. What is done
    right before the fault, or without one before the expectation, is too.
    """
    quiet = {place for place, step in enumerate(steps) if isinstance(step, Measure)}
    for place, step in enumerate(steps):
        if isinstance(step, Expect):
            quiet |= set(range(_begin(steps, place), place + 1))
    return tuple(place in quiet for place in range(len(steps)))


def _begin(steps: Sequence[Step], place: int) -> int:
    """Return where that begins which an expectation asks about: after the last guard before its fault."""
    earlier = _last(steps, place, lambda step: isinstance(step, Expect | OnlyIf))
    fault = _last(steps, place, _is_fault)
    before = fault if fault > earlier else place
    return _last(steps, before, lambda step: isinstance(step, Guard | Expect | OnlyIf)) + 1


def _last(steps: Sequence[Step], before: int, is_meant: Callable[[Step], bool]) -> int:
    return max((place for place in range(before) if is_meant(steps[place])), default=-1)


def _is_fault(step: Step) -> bool:
    return isinstance(step, Do) and isinstance(step.action, Fault)
