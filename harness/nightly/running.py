"""Running one shard of a night: every verification in its own run directory, and none of them stops the others."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter, duration
from harness.model.options import arguments_of
from harness.model.request import Request, as_typed
from harness.model.runs import Verdict
from harness.nightly.folder import NightFolder
from harness.nightly.night import SCHEMA, EndedVerification, Night, PlannedVerification, VerificationStatus
from harness.nightly.night_matrix import Verification
from harness.nightly.shards import assign, estimate
from harness.scenario.plan import Scenario
from harness.scenario.registry import select

Verify = Callable[[Request, Path, Reporter], Verdict]


def plan_night(
    verifications: Sequence[Verification],
    known: dict[str, Scenario],
    *,
    name: str,
    started_at: str,
    matrix: str,
    shard: int,
    shards: int,
) -> Night:
    """Return the night before anything has run. Raises HarnessError for a scenario or suite that nobody knows."""
    suites: dict[str, int] = {}
    for each in verifications:
        suites[each.request.suite] = len(select(known, each.request.scenarios, each.request.suite))
    seconds = {each.id: each.seconds or estimate(each.request, suites) for each in verifications}
    placed = assign(seconds, shards)
    planned = tuple(
        PlannedVerification(each.id, arguments_of(as_typed(each.request)), placed[each.id], round(seconds[each.id], 1))
        for each in verifications
    )
    return Night(SCHEMA, name, started_at, matrix, shard, shards, planned)


def run_shard(night: Night, requests: dict[str, Request], folder: Path, reporter: Reporter, ask: Verify) -> Night:
    """Run what this shard is to run, writing night.json after each; return the night as it ended."""
    place = NightFolder(folder)
    place.night.write(night)
    for number, planned in enumerate(night.mine, 1):
        reporter.stage(f"[{number}/{len(night.mine)}] {planned.id}: about {duration(planned.seconds)}")
        request = replace(requests[planned.id], argv=("verify", *planned.arguments))
        ended = _ask(ask, planned.id, request, place, reporter)
        reporter.stage(f"{planned.id}: {ended.outcome} in {duration(ended.seconds)}")
        night = replace(night, ended=(*night.ended, ended))
        place.night.write(night)
    return night


def _ask(ask: Verify, name: str, request: Request, place: NightFolder, reporter: Reporter) -> EndedVerification:
    """Return how a verification ended; whatever goes wrong in it is printed and ends nothing else."""
    run_dir = place.run(name).path
    run_dir.mkdir()
    began = time.monotonic()
    error = ""
    try:
        outcome = VerificationStatus(ask(request, run_dir, reporter).value)
    except HarnessError as failure:
        outcome, error = VerificationStatus.ERROR, str(failure)
    except Exception as failure:  # a fault of ours in one verification: the night goes on, its traceback is kept
        place.traceback(name).write_text(traceback.format_exc(), encoding="utf-8")
        outcome, error = VerificationStatus.ERROR, f"{type(failure).__name__}: {failure}"[:500]
    if error:
        reporter.report(error)
    return EndedVerification(name, outcome, round(time.monotonic() - began, 1), error)
