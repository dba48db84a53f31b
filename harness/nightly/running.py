"""Running one shard of a night: every verification in its own run directory, and none of them stops the others."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.progress import Reporter, duration
from harness.model.options import arguments_of
from harness.model.request import Request, as_typed
from harness.model.runs import Verdict
from harness.nightly.folder import NightFolder
from harness.nightly.night import SCHEMA, EndedVerification, Night, PlannedVerification, VerificationStatus
from harness.nightly.night_matrix import Matrix, Verification
from harness.nightly.shards import assign, estimate
from harness.scenario.registry import Scenarios, select

Verify = Callable[[Request, Path, Reporter], Verdict]


def plan_night(
    verifications: Sequence[Verification],
    known: Scenarios,
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
        suites[each.request.suite] = len(select(known, each.request.scenarios, each.request.suite, each.request.seeds))
    seconds = {each.id: each.seconds or estimate(each.request, suites) for each in verifications}
    placed = assign(seconds, shards)
    planned = tuple(
        PlannedVerification(each.id, arguments_of(as_typed(each.request)), placed[each.id], round(seconds[each.id], 1))
        for each in verifications
    )
    return Night(SCHEMA, name, started_at, matrix, shard, shards, planned)


def requests_of(night: Night, matrix: Matrix) -> dict[str, Request]:
    """Return the requests of a night that goes on, by id. Raises HarnessError unless the matrix is the night's."""
    requests = {each.id: each.request for each in matrix.verifications}
    if matrix.digest != night.matrix or not requests.keys() >= {each.id for each in night.mine}:
        raise HarnessError(
            f"The matrix is another than that of the night of {night.label}.",
            "Put it back as it was, or begin a new night.",
        )
    return requests


def run_shard(night: Night, requests: dict[str, Request], folder: Path, reporter: Reporter, ask: Verify) -> Night:
    """Run what this shard is to run and has no verdict for; return the night as it ended.

    night.json is written after each. `ask` goes on with what it finds in a run directory.
    """
    place = NightFolder(folder)
    place.night.write(night)
    numbers = {planned.id: number for number, planned in enumerate(night.mine, 1)}
    for planned in night.unanswered:
        count = f"[{numbers[planned.id]}/{len(numbers)}]"
        reporter.stage(f"{count} {planned.id}: about {duration(planned.seconds)}")
        request = replace(requests[planned.id], argv=("verify", *planned.arguments))
        ended = _ask(ask, planned.id, request, place, reporter)
        reporter.stage(f"{planned.id}: {ended.outcome} in {duration(ended.seconds)}")
        night = replace(night, ended=(*(each for each in night.ended if each.id != planned.id), ended))
        place.night.write(night)
    return night


def _ask(ask: Verify, name: str, request: Request, place: NightFolder, reporter: Reporter) -> EndedVerification:
    """Return how a verification ended; whatever goes wrong in it is printed and ends nothing else."""
    run_dir = place.run(name).path
    began, before, error = time.monotonic(), 0.0, ""
    try:
        run_dir.mkdir(exist_ok=True)
        place.traceback(name).unlink(missing_ok=True)
        before = _seconds_before(place, name)
        outcome = VerificationStatus(ask(request, run_dir, reporter).value)
    except Exception as failure:
        outcome, error = VerificationStatus.ERROR, _kept(failure, place.traceback(name))
    if error:
        reporter.report(error)
    return EndedVerification(name, outcome, round(before + time.monotonic() - began, 1), error)


def _kept(failure: Exception, traceback_file: Path) -> str:
    """Return what went wrong in a sentence; of a fault of ours the traceback is kept, and the night goes on."""
    if isinstance(failure, HarnessError):
        return str(failure)
    with suppress(OSError):  # a full disk, say: the sentence is in night.json
        traceback_file.write_text("".join(traceback.format_exception(failure)), encoding="utf-8")
    return f"{type(failure).__name__}: {failure}"[:500]


def _seconds_before(place: NightFolder, name: str) -> float:
    """Return how long the stages of a verification took before it was cut short."""
    declaration = place.run(name).declaration
    return sum(declaration.read().timings.values()) if declaration.exists else 0.0
