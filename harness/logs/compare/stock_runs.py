"""How often many runs of base's jar log what, and how much of that is chance: what noise is known by; pure.

The runs are those that noise was learned from before, and base's own beside the candidate. A run is one witness,
however many nodes it has: an election hits them all.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property

from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.tables import Place
from harness.model.findings import WORSE, StockRate

LEAST_STOCK_RUNS = 8  # of a scenario: fewer show too little of chance
FLOOD_TIMES = 3  # the most that base's jar ever logged
_CONTEXT = re.compile(r"^\[[^\]]*\] ")  # of a client's log lines (LogContext), which says whose they are
_WORSE = "WORSE"  # the level of a line that counts WARN and worse

Logged = Mapping[int, int]  # a run's number to how often it logged something; runs that did not are left out


class StockRuns:
    """Runs of base's jar: made once for all contrasts with that base."""

    def __init__(self, learned: Sequence[ObservedRun], base: Sequence[ObservedRun]) -> None:
        """Take what was learned before, and base's own runs."""
        self._here = range(len(learned), len(learned) + len(base))
        self._logged = index([*learned, *base])
        self._node_roles = frozenset(line.node_role for line in self._logged)
        self.of = by_scenario([*learned, *base])

    def logged(self, line: Line) -> Logged:
        """Return which runs logged a line, and how often."""
        return self._logged.get(line, {})

    def anywhere(self, line: Line) -> Logged:
        """Return which runs logged a line by any kind of node, and how often."""
        found: Counter[int] = Counter()
        for node_role in self._node_roles:
            found.update(self.logged(line._replace(node_role=node_role)))
        return found

    def rate(self, place: Place, line: Line) -> StockRate:
        """Return how often a line is logged at a place, and in how many runs elsewhere or by other nodes."""
        here, logged = self.of.get(place.scenario, frozenset()), self.logged(line)
        own = [count for run, count in logged.items() if run in here]
        return StockRate(len(here), len(own), max(own, default=0), len(self.anywhere(line)) - len(own))

    def least(self, place: Place, line: Line) -> int:
        """Return how often the run of a place logged a line that logged it least."""
        logged = self.logged(line)
        return min((logged.get(run, 0) for run in self.of.get(place.scenario, ())), default=0)

    def most_of_anyone(self, place: Place, line: Line) -> int:
        """Return how often a run of a place logged a line at most, whichever client of a node: `[RaftManager id=1] …`.

        Which of a node's clients meets a node that is down is chance; how often one of them does is not.
        """
        logged, runs = self._of_anyone.get(_of_anyone(line), {}), self.of.get(place.scenario, frozenset())
        return max((count for run, count in logged.items() if run in runs), default=0)

    def warns(self, line: Line) -> bool:
        """Whether any run logged a line at WARN or worse."""
        return line._replace(level=_WORSE) in self._logged

    @cached_property
    def _of_anyone(self) -> Mapping[Line, Logged]:
        parts: dict[Line, list[Logged]] = defaultdict(list)
        for line, logged in self._logged.items():
            parts[_of_anyone(line)].append(logged)
        return {line: _sum(each) for line, each in parts.items()}

    @property
    def known(self) -> frozenset[str]:
        """The scenarios of which runs enough are known."""
        return frozenset(name for name, runs in self.of.items() if len(runs) >= LEAST_STOCK_RUNS)

    def in_scope(self, scope: Iterable[str]) -> frozenset[int]:
        """Return the runs of some scenarios."""
        return frozenset(run for name in scope for run in self.of[name])

    def sizes(self, scope: frozenset[str], warnings: bool) -> Counter[int]:
        """Return how many things so many runs of some scenarios logged; what always comes together is one."""
        if (scope, warnings) not in self._sizes:
            runs = self.in_scope(scope)
            patterns = {frozenset(logged.keys() & runs) for line, logged in self._each if self.warns(line) is warnings}
            self._sizes[scope, warnings] = Counter(map(len, patterns))
        return self._sizes[scope, warnings]

    def sometimes(self, scope: frozenset[str], warnings: bool) -> int:
        """Return how many things some runs of some scenarios logged and others did not."""
        sizes, runs = self.sizes(scope, warnings), len(self.in_scope(scope))
        return sum(many for size, many in sizes.items() if 0 < size < runs)

    @cached_property
    def _sizes(self) -> dict[tuple[frozenset[str], bool], Counter[int]]:
        return {}

    @cached_property
    def _each(self) -> list[tuple[Line, Logged]]:
        """Return what each kind of node logged, at whatever level."""
        return [(line, logged) for line, logged in self._logged.items() if not line.level]

    @property
    def here(self) -> int:
        """How many runs base has here."""
        return len(self._here)

    @property
    def beside(self) -> frozenset[int]:
        """Base's runs here, beside the candidate."""
        return frozenset(self._here)

    @cached_property
    def troubles(self) -> int:
        """How many of base's runs here warn of the same, at most, that no run before did: troubles of this host.

        Asked are scenarios of which runs enough are known: of any other nobody knows what it always warns of.
        """
        before = frozenset(range(self._here.start))
        of_worse = (logged.keys() for line, logged in self._logged.items() if line.level == _WORSE and not line.word)
        found = (len(runs) for runs in of_worse if not runs & before and self._is_chance_here(runs))
        return max(found, default=0)

    def _is_chance_here(self, logged: Set[int]) -> bool:
        """Whether base's runs here log something by chance: not all of them do, nor all of several of a scenario."""
        own = [self.of[name] & frozenset(self._here) for name in self.known]
        some = (runs for runs in own if runs & logged and (len(runs) == 1 or not runs <= logged))
        return any(some) and not all(runs <= logged for runs in own)

    @cached_property
    def bursts(self) -> Mapping[bool, int]:
        """Return how often two runs logged what is rare, each far more than any other; by whether it warns.

        A single odd run among hundreds shows no more of chance than none.
        """
        of_run: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
        for line, logged in self._each:
            warns = self.warns(line)
            for runs in self.of.values():
                of_run[warns] |= _burst(logged, runs)
        return {warns: next((most for _, most in each.most_common(2)[1:]), 0) for warns, each in of_run.items()}


def _of_anyone(line: Line) -> Line:
    return line._replace(text=_CONTEXT.sub("", line.text))


def _burst(logged: Logged, runs: frozenset[int]) -> Counter[int]:
    """Return the run that logged something far more often than any other of its scenario, and how often."""
    own = Counter({run: count for run, count in logged.items() if run in runs}).most_common(2)
    if runs <= logged.keys() or not own or (len(own) > 1 and own[0][1] <= FLOOD_TIMES * own[1][1]):
        return Counter()
    return Counter(dict(own[:1]))


def index(runs: Sequence[ObservedRun]) -> Mapping[Line, Logged]:
    """Return which runs logged each line, and how often: at each level, at any, and at WARN or worse."""
    at_level: dict[Line, dict[int, int]] = defaultdict(dict)
    for number, run in enumerate(runs):
        for line, count in run.counts.items():
            at_level[line][number] = count
    parts: dict[Line, list[Logged]] = defaultdict(list)
    for line, logged in at_level.items():
        for level in ("", *([_WORSE] if line.level in WORSE else [])):
            parts[line._replace(level=level)].append(logged)
    return {**at_level, **{line: _sum(each) for line, each in parts.items()}}


def _sum(parts: Sequence[Logged]) -> Logged:
    if len(parts) == 1:  # nearly always: what is logged at two levels is rare
        return parts[0]
    found: Counter[int] = Counter()
    for part in parts:
        found.update(part)
    return found


def by_scenario(runs: Sequence[ObservedRun]) -> Mapping[str, frozenset[int]]:
    """Return the numbers of the runs of each scenario."""
    found: dict[str, set[int]] = defaultdict(set)
    for number, run in enumerate(runs):
        found[run.scenario].add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}
