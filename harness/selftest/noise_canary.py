"""A canary for what is known of noise: a flood of errors that no run of base's jar ever logged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.judge.log_verdict import reasons_of_logs
from harness.logs.compare.contrasts import contrast
from harness.logs.compare.counts import Count, Where
from harness.logs.compare.observed_run import Line, ObservedRun
from harness.logs.compare.observing import stocks
from harness.logs.noise_book import runs_of_record
from harness.logs.noise_store import known_noise
from harness.model.request import DEFAULT_KAFKA
from harness.model.verdict import CellName, CellOutcome, CellState
from harness.selftest.canary import Canary, NotDetected, require

_ERROR = {Line("voter", "ERROR", "harness.selftest", "an error of the self-test"): 400}
_ARMS = ("base", "candidate")


def noise_canary() -> Canary:
    """Return the canary; it needs no node."""
    return Canary("flood of errors", "an error of a voter, 400 times in a run that is otherwise base's own", _flood)


def _flood(_folder: Path) -> str:
    """Judge one of the runs that noise was learned from by all others: as it is, and with the flood."""
    runs = list(runs_of_record(known_noise(DEFAULT_KAFKA)).values())
    # This user's verifications add runs: one of a scenario that ran twice would be judged by too few others.
    ((often, _),) = Counter(run.scenario for run in runs).most_common(1)
    own = next(run for run in runs if run.scenario == often)
    others = [run for run in runs if run is not own]
    require(not _reasons(own, own.counts, others), "a run of base's jar was beyond its own noise")
    reasons = _reasons(own, {**own.counts, **_ERROR}, others)
    if not reasons:
        raise NotDetected("the flood was taken for noise")
    return reasons[0]


def _reasons(own: ObservedRun, candidate: Mapping[Line, int], learned: Sequence[ObservedRun]) -> list[str]:
    base = [count for line, number in own.counts.items() for count in _counts("base", own.scenario, line, number)]
    other = [c for line, number in candidate.items() for c in _counts("candidate", own.scenario, line, number)]
    stock = stocks([*base, *other], [_ARMS], {"base": learned})[_ARMS]
    seconds = {count.where: 60.0 for count in (*base, *other)}
    found = contrast(*_ARMS, [*base, *other], seconds, None, stock)
    cells = {CellName(own.scenario, arm): CellOutcome(CellState.PASSED) for arm in _ARMS}
    return [reason.sentence for reason in reasons_of_logs([_ARMS], "", [found], None, cells)]


def _counts(arm: str, scenario: str, line: Line, number: int) -> list[Count]:
    """Return the count of a message type; words stand in its lines."""
    where = Where(arm, scenario, line.node_role, "run")
    log = f"{arm}.log"
    return (
        []
        if line.word
        else [Count(where, line.level, line.logger, line.text, number, log, 1, line.text, family=line.text)]
    )
