"""How often each run logged what, in a table for each kind of node in each scenario, and how that is assessed; pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from harness.logs.compare.counts import Count, Where
from harness.logs.compare.moderation import Array
from harness.model.findings import Significance

WHOLE = "\0"  # the name of all phases together: no phase has it


@dataclass(frozen=True, slots=True)
class Place:
    """One kind of node in one scenario."""

    scenario: str
    node_role: str


@dataclass(frozen=True, slots=True)
class Key:
    """What is counted: a family of a logger; with a level, only its events of that level."""

    logger: str
    family: str
    level: str = ""


@dataclass(frozen=True, slots=True)
class Assessment:
    """How a difference compares with the noise; of a rate also its phase and false discovery rate."""

    significance: Significance
    phase: str = ""
    q: float | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Counts of one place: a row per key and phase (WHOLE for all phases), a column per run (arm and repeat).

    `seconds` is how long each row's phase was in each run; ones for the whole, whose length does not matter.
    """

    runs: tuple[tuple[str, int], ...]
    rows: Mapping[tuple[Key, str], int]
    counts: Array
    seconds: Array

    def of(self, arm: str) -> list[int]:
        """Return the columns of an arm's runs."""
        return [column for column, (name, _) in enumerate(self.runs) if name == arm]

    def row(self, key: Key) -> Array:
        """Return how often a key was counted in each run, over all phases."""
        at = self.rows.get((key, WHOLE))
        return np.zeros(len(self.runs)) if at is None else self.counts[at]

    def repeated(self) -> list[list[int]]:
        """Return the columns of each arm that was run more than once."""
        arms = dict.fromkeys(arm for arm, _ in self.runs)
        return [columns for arm in arms if len(columns := self.of(arm)) > 1]

    def logs(self) -> tuple[Array, Array]:
        """Return log2 of counts and of rates; half an event more, so that none is minus infinity."""
        logs: Array = np.log2(self.counts + 0.5)
        return logs, logs - np.log2(self.seconds)

    def dof(self) -> int:
        """Return how many values within arms are free to vary."""
        return sum(len(columns) - 1 for columns in self.repeated())

    def squares(self) -> tuple[Array, Array]:
        """Return the squared deviations of logs from each arm's own mean, summed over arms, row by row."""
        counts, rates = (self._squares(logs) for logs in self.logs())
        return counts, rates

    def _squares(self, logs: Array) -> Array:
        parts = [logs[:, columns] for columns in self.repeated()]
        found: Array = sum(
            (((part - part.mean(1, keepdims=True)) ** 2).sum(1) for part in parts), np.zeros(len(self.counts))
        )
        return found


def tables(counts: Iterable[Count], seconds: Mapping[Where, float]) -> dict[Place, Table]:
    """Return what was counted at each place; `seconds` says which runs there are, and how long their phases were."""
    lengths: dict[Place, dict[str, dict[tuple[str, int], float]]] = defaultdict(lambda: defaultdict(dict))
    for where, length in seconds.items():
        lengths[Place(where.scenario, where.node_role)][where.phase][where.arm, where.repeat] = length
    # Plain tuples: a record's hash is worked out in Python, and there are millions.
    rows: dict[tuple[str, str], dict[tuple[str, str, str, str], dict[tuple[str, int], int]]]
    rows = defaultdict(lambda: defaultdict(dict))
    for count in counts:
        where, logger, key, run = count.where, count.logger, count.key, (count.where.arm, count.where.repeat)
        of_place = rows[where.scenario, where.node_role]
        for level in ("", count.level):
            for phase in (WHOLE, where.phase):
                row = of_place[logger, key, level, phase]
                row[run] = row.get(run, 0) + count.count
    return {
        place: _table(
            of_phase, {(Key(*key), phase): row for (*key, phase), row in rows[place.scenario, place.node_role].items()}
        )
        for place, of_phase in lengths.items()
    }


def _table(
    lengths: Mapping[str, Mapping[tuple[str, int], float]],
    rows: Mapping[tuple[Key, str], Mapping[tuple[str, int], int]],
) -> Table:
    """Return the counts as a table; a phase that has no length in some run is counted in the whole alone."""
    runs = tuple(sorted({run for of_run in lengths.values() for run in of_run}))
    known = {phase: [of_run.get(run, 0.0) for run in runs] for phase, of_run in lengths.items()}
    whole = [sum(of_run) for of_run in zip(*known.values(), strict=True)]  # of phases without a length nothing is known
    whole = whole if known and all(min(each) > 0 for each in known.values()) else [1.0] * len(runs)
    timed = {WHOLE: whole} | {phase: each for phase, each in known.items() if min(each) > 0}
    kept = [place for place in rows if place[1] in timed]
    return Table(
        runs,
        {place: at for at, place in enumerate(kept)},
        np.array([[rows[place].get(run, 0) for run in runs] for place in kept], float).reshape(-1, len(runs)),
        np.array([timed[phase] for _, phase in kept], float).reshape(-1, len(runs)),
    )
