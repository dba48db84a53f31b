"""Whether a raft metric that is always in motion on base stands still on the candidate; pure.

A call that is gone leaves its metric there, with one value for ever: an alarm on it never goes off.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.base.text import listed
from harness.judge.metrics_kept import MOST_NAMES, WHO, by_roles, who
from harness.model.declaration import Declaration
from harness.model.outcome_names import METRICS_KEPT
from harness.model.runs import Outcome, RunResult, Verdict
from harness.model.told import Changes, changes_of
from harness.model.verdict import Reason, ReasonSource

_LEAST_RUNS = 6
_LEAST_SECONDS = 10  # in a role, and a run


@dataclass(frozen=True, slots=True)
class _Pair:
    """An arm of the candidate and its control, with the runs of both."""

    control: str
    arm: str
    before: Sequence[RunResult]
    now: Sequence[RunResult]


def reasons_of_standstill(declaration: Declaration, runs: Sequence[RunResult]) -> tuple[Reason, ...]:
    """Return which metrics of a role never change on an arm of the candidate, and on its control all the time.

    What an event changes is no such metric, whichever arm luck brought the event to: on base one changes in most
    seconds of every run of a scenario, and of six runs or more in all. Scenarios count that every run of both arms
    passed, so that what base's own defect keeps in motion is none. What changes once in any run of the candidate does
    not stand still. Two releases are not compared.
    """
    pairs = (_Pair(control, arm, _of(runs, control), _of(runs, arm)) for control, arm in declaration.compared)
    return tuple(
        Reason(ReasonSource.FIGURES, Verdict.HOLD, None, sentence)
        for pair in (() if declaration.is_of_two_releases else pairs)
        for sentence in _stand_still(pair)
    )


def _of(runs: Sequence[RunResult], arm: str) -> list[RunResult]:
    return [run for run in runs if run.arm == arm]


def _stand_still(pair: _Pair) -> Iterator[str]:
    for roles, names in by_roles({role: [*_still(pair, role)] for role in WHO}):
        yield (
            f"{METRICS_KEPT}: {listed(names, MOST_NAMES)} among the raft metrics of {who(roles)} never changed on "
            f"{pair.arm}, in {_LEAST_RUNS} runs or more, but changed in most seconds of each run on {pair.control}"
        )


def _still(pair: _Pair, role: str) -> Iterator[str]:
    undecided = {run.scenario for run in (*pair.before, *pair.now) if run.outcome is not Outcome.PASSED}
    for name in sorted({name for run in pair.now for name in run.told.get(changes_of(role), {})}):
        before = [(run.scenario, _changes(run, role, name)) for run in pair.before]
        now = [(run.scenario, _changes(run, role, name)) for run in pair.now]
        others = undecided | {scenario for scenario, found in before if not _is_in_motion(found)}
        seen = [
            sum(scenario not in others and found.seconds >= _LEAST_SECONDS for scenario, found in of_arm)
            for of_arm in (before, now)
        ]
        if min(seen) >= _LEAST_RUNS and not any(found.changed for _, found in now):
            yield name


def _is_in_motion(found: Changes) -> bool:
    return found.seconds >= _LEAST_SECONDS and 2 * found.changed > found.seconds


def _changes(run: RunResult, role: str, name: str) -> Changes:
    return Changes.read(run.told.get(changes_of(role), {}).get(name, ""))
