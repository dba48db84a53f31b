"""Which nodes logged what in which run; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from harness.logs.compare.counts import Count

Run = tuple[str, int]  # arm and repeat


class NodeCoverage:
    """The nodes of each kind in each run, and those of them that logged something, each a bit of a number."""

    def __init__(self, counts: Iterable[Count]) -> None:
        """Learn from all arms' counts."""
        self._logged: dict[tuple[str, ...], dict[Run, int]] = defaultdict(lambda: defaultdict(int))
        self._all: dict[tuple[str, str], dict[Run, int]] = defaultdict(lambda: defaultdict(int))
        for count in counts:
            where, node = count.where, 1 << count.node
            place, run = (where.scenario, where.node_role), (where.arm, where.repeat)
            self._all[place][run] |= node
            for level in ("", count.level):
                self._logged[*place, count.logger, count.key, level][run] |= node

    def are_all(self, place: tuple[str, str], key: tuple[str, str, str], runs: Iterable[Run]) -> bool:
        """Whether in each of the runs all nodes of the kind, two or more, logged it.

        `place` is a scenario and a kind of node, `key` a logger, a family, and a level or nothing.
        """
        logged, everybody = self._logged[*place, *key], self._all[place]
        return all(everybody[run].bit_count() > 1 and logged[run] == everybody[run] for run in runs)
