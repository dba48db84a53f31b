"""How likely it is that something fell to one of two sides by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


def chance_of_so_many(mine: int, of_mine: int, theirs: int, of_theirs: int) -> float:
    """Return how likely so many or more of all are mine, if both sides are alike (Fisher's exact test, one side).

    `mine` of `of_mine`, and `theirs` of `of_theirs`.
    """
    return sum(_chances(Stratum(mine, of_mine, theirs, of_theirs))[mine:])


@dataclass(frozen=True, slots=True)
class Stratum:
    """What was asked under the same conditions on both sides: `mine` of `of_mine` show something, and `theirs`."""

    mine: int
    of_mine: int
    theirs: int
    of_theirs: int


def chance_of_so_many_over(strata: Iterable[Stratum]) -> float:
    """Return how likely so many or more of all strata together are mine, if both sides are alike within each.

    Fisher's exact test, one side, conditional on how many show it in each stratum; 1 for no strata.
    """
    strata = list(strata)
    return _at_least(sum(each.mine for each in strata), [_chances(each) for each in strata])


def chance_of_at_least(many: int, chances: Iterable[float]) -> float:
    """Return how likely so many or more of independent things happen, each by its own chance."""
    return _at_least(many, [[1 - each, each] for each in chances])


def _chances(stratum: Stratum) -> list[float]:
    """Return how likely 0, 1, 2, … of those that show it are mine."""
    both, of_both = stratum.mine + stratum.theirs, stratum.of_mine + stratum.of_theirs
    ways = (
        math.comb(stratum.of_mine, each) * math.comb(stratum.of_theirs, both - each)
        for each in range(min(both, stratum.of_mine) + 1)
    )
    return [each / math.comb(of_both, both) for each in ways]


def _at_least(many: int, chances: Sequence[Sequence[float]]) -> float:
    """Return how likely the sum of independent numbers is at least so many; of each the chances of 0, 1, 2, …"""
    sums = [1.0]
    for each in chances:
        sums = [
            sum(sums[at - more] * chance for more, chance in enumerate(each) if 0 <= at - more < len(sums))
            for at in range(len(sums) + len(each) - 1)
        ]
    return min(1.0, sum(sums[many:]))
