"""Carry out one scenario on one arm: start the cluster, walk the plan, watch, and write down what happened."""

from __future__ import annotations

import json
import re
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.cluster import probes
from harness.cluster.cluster import Cluster
from harness.cluster.config import LOG_PATTERN
from harness.cluster.node import Node, NodeState
from harness.cluster.prepare import Ground
from harness.cluster.protocol import Unreachable
from harness.errors import HarnessError
from harness.model import Arm, Evidence, NodeLogs, PhaseSpan, RunKey, RunResult
from harness.plan.api import Scenario
from harness.plan.journal import Journal
from harness.plan.load import Ledger, LedgerSummary, Load
from harness.plan.outcome import Facts, Miss, decide, measures
from harness.plan.steps import (
    ActionFailed,
    Background,
    Bind,
    Condition,
    Do,
    Expect,
    Guard,
    Phase,
    Step,
    step_words,
)
from harness.plan.watch import Look, Stall, Watcher
from harness.plan.world import World
from harness.store import write_text

_POLL_SECONDS = 0.2


class _PlanEnded(Exception):  # noqa: N818 - ends the walk through the steps, whatever the reason
    """The plan cannot or need not go on; the reason is in the recorder."""


def run_cell(cell: Cell, run_dir: Path, say: Callable[[str], None]) -> RunResult:
    """Run a scenario on an arm and write its folder; never raises for what a cluster does.

    `say` hears of each phase. Ctrl-C and SystemExit pass through, after every node has been ended.
    """
    folder = run_dir / cell.key.folder
    folder.mkdir(parents=True)
    plan = cell.scenario.plan()
    write_text(folder / "plan.json", json.dumps([step_words(step) for step in plan.steps], indent=1) + "\n")
    began = time.monotonic()
    with Journal(folder / "journal.jsonl") as journal:
        recorder = _Recorder(cell, journal)
        journal.write(
            "run", scenario=cell.key.scenario, arm=cell.arm.name, role=str(cell.arm.role), repeat=cell.key.repeat
        )
        cpu_seconds = _attempt(cell, plan.steps, folder, recorder, say)
        facts = Facts(**recorder.facts)  # type: ignore[arg-type]
        decision = decide(facts)
        journal.write(
            "outcome", outcome=str(decision.outcome), expectation=decision.expectation, reason=decision.reason
        )
        recorder.phases.append(("end", time.time()))
    _write_logs_json(cell, folder, recorder.phases)
    result = RunResult(
        cell.key.scenario,
        cell.arm.name,
        cell.arm.role,
        cell.key.repeat,
        decision.outcome,
        decision.expectation,
        decision.reason,
        tuple(recorder.evidence),
        round(time.monotonic() - began, 2),
        measures(facts.ledger, cpu_seconds, recorder.waits),
    )
    write_result(folder, result)
    return result
