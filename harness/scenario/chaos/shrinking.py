"""The fewest faults of a schedule that still make a run fail; pure but for the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise


def fewest(numbers: Sequence[int], fails: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
    """Return numbers of which none can be left out, so that a run with the rest fails as well (Zeller's ddmin).

    All of them are known to fail; nothing is asked twice. None comes first: a run that fails without any fault fails
    with each part as well, whatever the faults are.
    """
    if fails(()):
        return ()
    known: dict[tuple[int, ...], bool] = {(): False}

    def ask(part: tuple[int, ...]) -> bool:
        if part not in known:
            known[part] = fails(part)
        return known[part]

    left, parts = tuple(numbers), 2
    while len(left) > 1:
        without = [_without(left, part) for part in _split(left, parts)]
        smaller = next((rest for rest in without if ask(rest)), None)
        if smaller is not None:
            left, parts = smaller, max(parts - 1, 2)
        elif parts >= len(left):
            return left
        else:
            parts = min(2 * parts, len(left))
    return left


def _split(numbers: tuple[int, ...], parts: int) -> list[tuple[int, ...]]:
    """Return numbers in so many parts of about the same size."""
    bounds = [len(numbers) * at // parts for at in range(parts + 1)]
    return [numbers[begin:end] for begin, end in pairwise(bounds)]


def _without(numbers: tuple[int, ...], part: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(each for each in numbers if each not in part)
