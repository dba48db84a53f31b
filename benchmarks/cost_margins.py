"""How near sound jars come to each limit of costs, and how often chance alone would hold one of them back.

    python benchmarks/cost_margins.py RUN_DIR …

The folders are of verifications of base against base (`benchmarks/base_against_base.py`) or of sound jars. A row a
limit: the largest share of what it allows that was used up in one scenario, either way round, with scenario and both
values, and over all scenarios. From 1 on a sound jar is held back; what is far below may be tightened.

The last column draws verifications out of the folders: for each scenario the difference that one of them had, with
either sign, since neither side is worse. It tells how many of ten thousand are over the limit of all scenarios.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.judge.costs.beside_base import allowed, costs_of
from harness.judge.costs.limits import limit_of, shipped_limits
from harness.judge.costs.over_scenarios import LEAST_SCENARIOS, are_over, costs_everywhere
from harness.model.costs import EVERYWHERE, Cost, CostLimit
from harness.rundir.directory import RunDirectory

LIMITS = shipped_limits()
DRAWS = 10_000

# For each scenario of a figure, how much more the candidate of each folder had; None where it was not judged.
Differences = Mapping[str, Sequence[float | None]]


def main() -> None:
    folders = [costs(RunDirectory(Path(folder))) for folder in sys.argv[1:]]
    most: dict[tuple[str, bool], tuple[float, Cost]] = {}
    for cost in (cost for both in folders for side in both for cost in side):
        limit, everywhere = limit_for(cost.figure), cost.scenario == EVERYWHERE
        room = limit.everywhere if everywhere else allowed(limit, cost.base) - max(cost.base, 0.0)
        used, key = (cost.candidate - cost.base) / room, (cost.figure, everywhere)
        if used > most.get(key, (0.0, cost))[0]:
            most[key] = used, cost
    differences = differences_of([there for there, _ in folders])
    print("| figure | one scenario | base → candidate | all scenarios | by chance, of 10,000 |\n|---|---|---|---|---|")
    rows: dict[str, dict[bool, tuple[float, Cost]]] = defaultdict(dict)
    for (figure, everywhere), each in most.items():
        rows[figure][everywhere] = each
    for figure, row in sorted(rows.items(), key=lambda item: -item[1].get(False, (0.0,))[0]):
        print(f"| {figure} | {' | '.join(cells(row))} | {by_chance(figure, differences[figure])} |")


def limit_for(figure: str) -> CostLimit:
    found = limit_of(figure, LIMITS)
    assert found, "every cost has a limit"
    return found[0]


def cells(row: dict[bool, tuple[float, Cost]]) -> Iterator[str]:
    if False in row:
        used, cost = row[False]
        yield f"{used:.2f} in {cost.scenario}"
        yield f"{cost.base:g} → {cost.candidate:g}"
    else:
        yield from ("", "")
    yield f"{row[True][0]:.2f}" if True in row else ""


def costs(directory: RunDirectory) -> tuple[list[Cost], list[Cost]]:
    """Return what the last arm costs beside the first, and the first beside the last."""
    runs = [run.result.read() for run in directory.runs() if run.result.exists]
    names = list(dict.fromkeys(run.arm for run in runs))
    there, back = ((names[0], names[-1]), (names[-1], names[0]))
    sides = (costs_of([pair], runs, LIMITS) for pair in (there, back))
    one, other = ([each for each in (*side, *costs_everywhere(side, LIMITS)) if not each.not_judged] for side in sides)
    return one, other


def differences_of(folders: Sequence[Sequence[Cost]]) -> Mapping[str, Differences]:
    found: dict[str, dict[str, list[float | None]]] = defaultdict(lambda: defaultdict(lambda: [None] * len(folders)))
    for at, costs in enumerate(folders):
        for cost in costs:
            if cost.scenario != EVERYWHERE and cost.candidate is not None:
                found[cost.figure][cost.scenario][at] = cost.candidate - cost.base
    return found


def by_chance(figure: str, differences: Differences) -> str:
    """Return how many of DRAWS verifications would be held back over all scenarios; nothing without such a limit."""
    most, drawing = limit_for(figure).everywhere, random.Random(0)
    if not most:
        return ""
    return f"{sum(is_held_back(drawn(differences, drawing), most) for _ in range(DRAWS)):g}"


def is_held_back(differences: Sequence[float], most: float) -> bool:
    return len(differences) >= LEAST_SCENARIOS and are_over(differences, most)


def drawn(differences: Differences, drawing: random.Random) -> list[float]:
    each = (drawing.choice(of_folders) for of_folders in differences.values())
    return [difference * drawing.choice((-1, 1)) for difference in each if difference is not None]


if __name__ == "__main__":
    main()
