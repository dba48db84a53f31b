"""How likely it is that something fell to one of two sides by chance."""

from __future__ import annotations

import math


def chance_of_so_many(mine: int, of_mine: int, theirs: int, of_theirs: int) -> float:
    """Return how likely so many or more of all are mine, if both sides are alike (Fisher's exact test, one side).

    `mine` of `of_mine`, and `theirs` of `of_theirs`.
    """
    both = mine + theirs
    ways = sum(
        math.comb(of_mine, each) * math.comb(of_theirs, both - each) for each in range(mine, min(both, of_mine) + 1)
    )
    return ways / math.comb(of_mine + of_theirs, both)
