"""What every run leaves when it is over, however it ended: its result, its list of logs, and the seal on both."""

from __future__ import annotations

from collections.abc import Sequence

from harness.engine.outcome import Decision
from harness.engine.planned_run import PlannedRun
from harness.engine.sealing import seal_of
from harness.model.node_logs import NodeLogs
from harness.model.runs import Evidence, RunResult
from harness.rundir.parts import RunFolder


def result_of(cell: PlannedRun, decision: Decision, evidence: Sequence[Evidence], seconds: float) -> RunResult:
    """Return the result of a run without what it measured."""
    key = cell.key
    return RunResult(
        key.scenario,
        key.arm,
        cell.role,
        key.repeat,
        decision.outcome,
        decision.expectation,
        decision.reason,
        tuple(evidence),
        round(seconds, 2),
    )


def write_end(folder: RunFolder, cell: PlannedRun, logs: tuple[NodeLogs, ...], result: RunResult) -> None:
    """Write the list of logs, the seal, and last the result."""
    folder.logs.write(logs)
    folder.seal.write(seal_of(cell, folder, result))
    folder.result.write(result)
