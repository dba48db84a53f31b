"""How near stock comes to each limit of costs when it is held against itself, either way round.

    python benchmarks/cost_margins.py RUN_DIR …

The folders are of verifications of base against base (`benchmarks/base_against_base.py`). A row a limit: the largest
share of what the limit allows that was used up in one scenario, with the scenario and both values, and over all
scenarios. From 1 on a sound jar is held back; what is far below may be tightened.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from harness.judge.costs.beside_base import allowed, costs_of
from harness.judge.costs.limits import limit_of, shipped_limits
from harness.judge.costs.over_scenarios import costs_everywhere
from harness.model.costs import EVERYWHERE, Cost
from harness.rundir.directory import RunDirectory

LIMITS = shipped_limits()


def main() -> None:
    most: dict[tuple[str, bool], tuple[float, Cost]] = {}
    for cost in (cost for folder in sys.argv[1:] for cost in costs(RunDirectory(Path(folder)))):
        found = limit_of(cost.figure, LIMITS)
        assert found, "every cost has a limit"
        limit, everywhere = found[0], cost.scenario == EVERYWHERE
        room = limit.everywhere if everywhere else allowed(limit, cost.base) - max(cost.base, 0.0)
        used, key = (cost.candidate - cost.base) / room, (limit.figure, everywhere)
        if used > most.get(key, (0.0, cost))[0]:
            most[key] = used, cost
    print("| figure | one scenario | base → candidate | all scenarios |\n|---|---|---|---|")
    rows: dict[str, dict[bool, tuple[float, Cost]]] = defaultdict(dict)
    for (figure, everywhere), each in most.items():
        rows[figure][everywhere] = each
    for figure, row in sorted(rows.items(), key=lambda item: -item[1].get(False, (0.0,))[0]):
        print(f"| {figure} | {' | '.join(cells(row))} |")


def cells(row: dict[bool, tuple[float, Cost]]) -> Iterator[str]:
    if False in row:
        used, cost = row[False]
        yield f"{used:.2f} in {cost.scenario}"
        yield f"{cost.base:g} → {cost.candidate:g}"
    else:
        yield from ("", "")
    yield f"{row[True][0]:.2f}" if True in row else ""


def costs(directory: RunDirectory) -> Iterator[Cost]:
    """Yield what base costs beside base, with each of the arms as the control."""
    runs = [run.result.read() for run in directory.runs() if run.result.exists]
    names = list(dict.fromkeys(run.arm for run in runs))
    for there, back in ((names[0], names[1]), (names[1], names[0])):
        found = costs_of([(there, back)], runs, LIMITS)
        yield from (cost for cost in found if not cost.not_judged)
        yield from costs_everywhere(found, LIMITS)


if __name__ == "__main__":
    main()
