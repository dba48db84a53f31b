"""Whether the candidate's nodes end with an error when they are stopped, more often than base's do; pure.

Nodes of released jars do so now and then (`known_stop_errors` of a release line), so single ones say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.chance import chance_of_so_many
from harness.base.text import listed
from harness.model.declaration import Declaration
from harness.model.runs import RunResult, Verdict
from harness.model.verdict import Reason, ReasonSource

_CHANCE = 1e-3
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Stops:
    """How many nodes of an arm ended when they were stopped, how many of those with an error, and in which runs.

    `all_runs` are those in which any node ended.
    """

    arm: str
    ended: int
    failed: int
    all_runs: int
    runs: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{self.failed} of {self.ended} on {self.arm}"


def reasons_of_failed_stops(declaration: Declaration, results: Sequence[RunResult]) -> Iterator[Reason]:
    """Yield the arms whose nodes end with an error when they are stopped so much more often than their control's.

    So many of all such ends, or of the runs with one, fall to the arm by chance less than once in a thousand (Fisher's
    exact test, one side): what one node of several does in every run is few of all nodes.
    """
    for control, arm in declaration.compared:
        base, mine = _stops(control, results), _stops(arm, results)
        by_node = chance_of_so_many(mine.failed, mine.ended, base.failed, base.ended)
        by_run = chance_of_so_many(len(mine.runs), mine.all_runs, len(base.runs), base.all_runs)
        if min(by_node, by_run) < _CHANCE:
            sentence = (
                f"{arm}: nodes end with an error when they are stopped: {mine.words}, {base.words} "
                f"({listed(mine.runs, _MOST_NAMED)})"
            )
            yield Reason(ReasonSource.FIGURES, Verdict.HOLD, None, sentence)


def failed_stops(declaration: Declaration, results: Sequence[RunResult]) -> tuple[str, ...]:
    """Return in a sentence how many nodes ended with an error when they were stopped; nothing where none did."""
    each = [_stops(arm.name, results) for arm in declaration.arms]
    if not any(stops.failed for stops in each):
        return ()
    counts = listed([stops.words for stops in each])
    return (f"Of the nodes that were stopped and ended by themselves, some ended with an error: {counts}.",)


def _stops(arm: str, results: Sequence[RunResult]) -> _Stops:
    mine = [(run, stop) for run in results if run.arm == arm for stop in run.shutdowns if stop.ended]
    failed = [run for run, stop in mine if stop.failed]
    named = dict.fromkeys(f"{run.scenario}, repeat {run.repeat}" for run in failed)
    return _Stops(arm, len(mine), len(failed), len({run.key for run, _ in mine}), tuple(named))
