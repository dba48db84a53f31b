"""Lines that come later or earlier in a phase than they did: the time from its beginning to the first of them; pure.

A phase begins with what is done to the cluster, so this is the time since the fault. Most of how it varies is the
host's: a busy machine is late with everything. Each run's own pace is therefore taken away (the median over all lines
of a phase), and a shift counts only when two things hold: a moderated t-test on log times has a false discovery rate
below 0.05, and between all runs of one arm and all of the other there lies a gap wider than anything that this line's
times differed by within any arm, in this phase of any scenario. Lines that shift together are one finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from harness.logs.compare.counts import Count
from harness.logs.compare.moderation import Array, fit, moderated
from harness.logs.compare.noise import MOST_CHANCE
from harness.logs.compare.rates import MIN_EFFECT
from harness.logs.compare.tables import Key, Place

FEWEST = 3  # runs of either arm
MIN_SECONDS = 1.0  # by which a line must shift
MIN_GAP = 1.5  # times the widest spread within an arm
_INSTANT = 0.1  # seconds: differences below it are a matter of threads
_PACE_LINES = 20  # of a phase: the fewest by which a run's pace is known
_ALIKE = 1.5  # times: lines that shift by as many seconds as that shift together


@dataclass(frozen=True, slots=True)
class Shift:
    """A line that first comes `was` seconds after the phase's beginning in base, `now` in the candidate (medians).

    `q` is its false discovery rate, `others` how many more lines at this place shift with it.
    """

    place: Place
    key: Key
    phase: str
    was: float
    now: float
    q: float
    others: int = 0


@dataclass(frozen=True, slots=True)
class _ShiftTest:
    """One line in one phase, in two arms.

    `shift` is the difference of the arms' mean log times, `gap` what lies between all times of one arm and all of the
    other. Of all arms' runs: `squares` is how far they are from their arm's mean, with `dof` degrees of freedom,
    `widest` how far those of one arm lie apart at most.
    """

    place: Place
    key: Key
    phase: str
    was: float
    now: float
    shift: float
    gap: float
    size: float
    squares: float
    dof: float
    widest: float


@dataclass(frozen=True, slots=True)
class _ShiftBlock:
    """The first lines of one phase of one scenario: a row per line and kind of node, a column per run (arm, repeat).

    NaN stands where a run has no such line.
    """

    phase: str
    rows: tuple[tuple[Place, Key], ...]
    runs: tuple[tuple[str, int], ...]
    seconds: Array

    def of(self, arm: str) -> list[int]:
        """Return the columns of an arm's runs."""
        return [column for column, (name, _) in enumerate(self.runs) if name == arm]

    def logs(self) -> Array:
        """Return log2 of the times, each run's pace taken away."""
        logs: Array = np.log2(self.seconds + _INSTANT)
        everywhere = logs[~np.isnan(logs).any(1)]
        if len(everywhere) < _PACE_LINES:
            return logs
        return np.asarray(logs - np.median(everywhere - everywhere.mean(1, keepdims=True), axis=0), np.float64)

    def spreads(self, logs: Array) -> tuple[Array, Array, Array]:
        """Return of each row the squares, the degrees of freedom and the widest spread, as _ShiftTest has them."""
        squares, dofs, widest = np.zeros((3, len(self.rows)))
        for columns in map(self.of, dict.fromkeys(arm for arm, _ in self.runs)):
            part = logs[:, columns]
            known = np.where(np.isnan(part).any(1, keepdims=True), 0.0, part)  # in all runs of the arm, or not at all
            squares += ((known - known.mean(1, keepdims=True)) ** 2).sum(1)
            dofs += (~np.isnan(part).any(1)) * (len(columns) - 1)
            widest = np.maximum(widest, np.ptp(known, axis=1))
        return squares, dofs, widest

    def tests(self, base: str, candidate: str) -> Iterator[_ShiftTest]:
        """Yield what all runs of both arms logged in this phase; nothing where they are too few."""
        one, other = self.of(base), self.of(candidate)
        if min(len(one), len(other)) < FEWEST:
            return
        logs = self.logs()
        squares, dofs, widest = self.spreads(logs)
        known = np.flatnonzero(~np.isnan(logs[:, one + other]).any(1))
        was, now = (np.median(self.seconds[known][:, columns], axis=1) for columns in (one, other))
        mine, theirs = (logs[known][:, columns] for columns in (one, other))
        shift = theirs.mean(1) - mine.mean(1)
        gap = np.maximum(theirs.min(1) - mine.max(1), mine.min(1) - theirs.max(1))
        size = 1 / len(one) + 1 / len(other)
        rows = np.column_stack(
            [was, now, shift, gap, np.full(len(known), size), squares[known], dofs[known], widest[known]]
        )
        for at, figures in zip(known, rows.tolist(), strict=True):
            yield _ShiftTest(*self.rows[at], self.phase, *figures)


class Shifts:
    """The times of first lines in a set of runs; made once for all contrasts."""

    def __init__(self, counts: Iterable[Count]) -> None:
        """Learn from all arms' counts."""
        self._blocks = _blocks(counts)

    def find(self, base: str, candidate: str, is_enough: Callable[[int, int], bool]) -> list[Shift]:
        """Return what shifted beyond the noise; of lines that shift together the first.

        What shifts in one scenario only counts where `is_enough` says so of the candidate's runs and all others.
        """
        tests = [test for block in self._blocks for test in block.tests(base, candidate)]
        widest: dict[tuple[Key, str], float] = defaultdict(float)
        for test in tests:
            widest[test.key, test.phase] = max(widest[test.key, test.phase], test.widest)
        shifted = [
            Shift(test.place, test.key, test.phase, test.was, test.now, q)
            for test, q in zip(tests, _discoveries(tests), strict=True)
            if q < MOST_CHANCE
            and abs(test.shift) >= np.log2(MIN_EFFECT)
            and abs(test.now - test.was) >= MIN_SECONDS
            and test.gap > MIN_GAP * widest[test.key, test.phase]
        ]
        scenarios: dict[tuple[Key, bool], set[str]] = defaultdict(set)
        for each in shifted:
            scenarios[each.key, each.now > each.was].add(each.place.scenario)
        return _together(
            each
            for each in shifted
            if len(scenarios[each.key, each.now > each.was]) > 1 or is_enough(*self._sizes(each.place, candidate))
        )

    def _sizes(self, place: Place, candidate: str) -> tuple[int, int]:
        """Return how many runs the candidate has at a place, and how many all other arms have."""
        runs = {run for block in self._blocks for at, _ in block.rows if at == place for run in block.runs}
        own = sum(arm == candidate for arm, _ in runs)
        return own, len(runs) - own


def _discoveries(tests: Sequence[_ShiftTest]) -> list[float]:
    """Return the false discovery rate of each test."""
    from scipy import stats  # a second that nobody without repeats need wait

    if not tests:
        return []
    own = np.array([(test.squares, test.dof) for test in tests])
    sums: dict[Key, Array] = defaultdict(lambda: np.zeros(2))
    for test, row in zip(tests, own, strict=True):
        sums[test.key] += row
    pooled = np.array([sums[test.key] for test in tests])
    prior = fit(own[:, 0], own[:, 1])
    ours, theirs = (moderated(each[:, 0], each[:, 1], prior) for each in (own, pooled))
    variances, dofs = (np.where(ours[0] > theirs[0], *pair) for pair in zip(ours, theirs, strict=True))
    shifts, sizes = (np.array([getattr(test, name) for test in tests]) for name in ("shift", "size"))
    p = 2 * special.stdtr(dofs, -np.abs(shifts) / np.sqrt(variances * sizes))
    return [float(q) for q in stats.false_discovery_control(p)]


def _together(shifts: Iterable[Shift]) -> list[Shift]:
    """Return of each place and phase the shifts in base's order, without those that are like an earlier one."""
    leaders: dict[tuple[Place, str], list[Shift]] = defaultdict(list)
    for shift in sorted(shifts, key=lambda each: (each.was, each.key.logger, each.key.family)):
        known = leaders[shift.place, shift.phase]
        at = next((number for number, each in enumerate(known) if _alike(each, shift)), None)
        if at is None:
            known.append(shift)
        else:
            known[at] = replace(known[at], others=known[at].others + 1)
    return [shift for known in leaders.values() for shift in known]


def _alike(one: Shift, other: Shift) -> bool:
    by, also = one.now - one.was, other.now - other.was
    return by * also > 0 and max(abs(by), abs(also)) <= _ALIKE * min(abs(by), abs(also))


def _blocks(counts: Iterable[Count]) -> list[_ShiftBlock]:
    firsts: dict[tuple[str, str], dict[tuple[Place, Key], dict[tuple[str, int], float]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for count in counts:
        if count.after is not None and count.family:
            where, run = count.where, (count.where.arm, count.where.repeat)
            row = firsts[where.scenario, where.phase][
                Place(where.scenario, where.node_role), Key(count.logger, count.key)
            ]
            row[run] = min(row.get(run, count.after), count.after)
    return [_block(phase, rows) for (_, phase), rows in firsts.items()]


def _block(phase: str, rows: Mapping[tuple[Place, Key], Mapping[tuple[str, int], float]]) -> _ShiftBlock:
    runs = tuple(sorted({run for row in rows.values() for run in row}))
    seconds = np.array([[row.get(run, np.nan) for run in runs] for row in rows.values()], float)
    return _ShiftBlock(phase, tuple(rows), runs, seconds)
