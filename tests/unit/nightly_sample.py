"""Documents, verifications and nights for the tests of the nightly; made from the sample run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import sample_run

from harness.base.files import write_text
from harness.base.json import to_json
from harness.judge.decision import decide
from harness.model.runs import Outcome, Verdict
from harness.model.verdict import Standing, VerdictRecord
from harness.nightly.cell_history import NightCell, NightFinding
from harness.nightly.night import SCHEMA, EndedVerification, Night, PlannedVerification, VerificationStatus

MATRIX = "a" * 64
STARTED = "2026-03-05T01:00:00+00:00"


def document(kind="ship", change=None, contrasts=None):
    """Return a verdict of the sample run; `change` maps its results, `contrasts` are findings instead of its own."""
    results = [result for result, _ in sample_run.results(kind)]
    results = [change(result) for result in results] if change else results
    found = contrasts or sample_run.contrasts(kind)
    return decide(sample_run.declaration(), results, sample_run.proof(kind), found, logged=sample_run.LOGGED)


def showing(scenario, arm, outcome, name=""):
    """Return a change that makes one cell of the sample show something else."""

    def change(result):
        if (result.scenario, result.arm) != (scenario, arm):
            return result
        return replace(result, outcome=outcome, expectation=name, reason="made so by the test", evidence=())

    return change


FAILED = showing("turn2", "patched-on", Outcome.FAILED, "observer_recovers")
STARVED = showing("turn2", "patched-on", Outcome.INCONCLUSIVE, "host_not_starved")
UNSUPPORTED = showing("turn2", "patched-on", Outcome.UNSUPPORTED)
BROKEN = showing("turn2", "patched-on", Outcome.BROKEN)


def night(*ids, shard=0, shards=1, ended=None, name="", started=STARTED):
    """Return a night of verifications, alternating between its shards; all have ended with SHIP unless told."""
    planned = tuple(
        PlannedVerification(each, ("--profile", "production", "--suite", "long"), number % shards + 1, 100.0)
        for number, each in enumerate(ids)
    )
    mine = [each.id for each in planned if shard in (0, each.shard)]
    done = dict.fromkeys(mine, VerificationStatus.SHIP) if ended is None else ended
    endings = tuple(EndedVerification(each, ending, 61.0) for each, ending in done.items())
    return Night(SCHEMA, name, started, MATRIX, shard, shards, planned, endings)


def write_night_folder(folder: Path, of: Night, documents) -> Path:
    """Write a night's folder with verdicts and a report for each of the documents."""
    write_text(folder / "night.json", to_json(of))
    for name, verdict in documents.items():
        write_run(folder / name, verdict)
    return folder


def write_run(folder: Path, verdict: VerdictRecord) -> Path:
    """Write run.json, verdict.json and a page of a run."""
    write_text(folder / "run.json", to_json(sample_run.declaration()))
    write_text(folder / "verdict.json", to_json(verdict))
    write_text(folder / "report.html", "<p>report")
    return folder


def cell(standing, shown="PASSED", *, verification="v", scenario="turn2", arm="on", unstable=False, jars="j"):
    """Return a cell of a night."""
    return NightCell(verification, scenario, arm, shown, Standing(standing), unstable, jars)


def found(template, *, scenario="turn2", base="stock", candidate="on", verification="v", kind="new"):
    """Return a finding of a night."""
    return NightFinding(verification, scenario, base, candidate, "voter", kind, template, template)


def ship_or(verdict: VerdictRecord) -> VerificationStatus:
    """Return the ending of a document."""
    return VerificationStatus(Verdict(verdict.verdict).value)
