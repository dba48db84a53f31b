"""The suite of faults on real clusters: what stock fails, what every build passes, and what the journal proves."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cluster.runtime.namespace_runtime import why_not
from harness.model.events import ClientSettled, FaultChanged
from harness.rundir.journal import events_of, read_journal

pytestmark = [
    pytest.mark.live,
    pytest.mark.clusters,
    pytest.mark.skipif(bool(why_not()), reason=f"no networks here: {why_not()}"),
]


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    """Return a function that verifies the shipped series by one scenario, and returns the run directory."""
    made = {}

    def verify(scenario):
        if scenario not in made:
            made[scenario] = _verified(tmp_path_factory.mktemp(scenario), scenario)
        return made[scenario]

    return verify


def _verified(folder, scenario):
    command = [sys.executable, "-c", "from harness.cli import main; main()", "verify", "--fresh"]
    before = socket.if_nameindex()
    done = subprocess.run(
        [*command, "--scenario", scenario, "--arms", "base,on", "--tests", "none", "--no-coverage", "--out", "run"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert (folder / "run" / "verdict.json").exists(), done.stdout + done.stderr
    assert socket.if_nameindex() == before
    return folder / "run"


def outcomes(run: Path):
    runs = json.loads((run / "verdict.json").read_text())["runs"]
    return {each["arm"]: (each["outcome"], each["expectation"] or each["reason"]) for each in runs}


def events(run: Path, scenario, arm):
    return list(events_of(read_journal(run / "runs" / scenario / arm / "1" / "journal.jsonl")))


def test_stock_does_not_find_its_leader_again_after_a_cut_and_the_patch_does(verified):
    found = outcomes(verified("observer-cut"))
    assert found == {"stock": ("FAILED", "observer_recovers"), "patched-on": ("PASSED", "")}


@pytest.mark.whole  # two minutes: two clusters of three ledgers each
def test_whichever_voter_is_cut_off_neither_build_loses_anything(verified):
    run = verified("partitions")
    assert outcomes(run) == {"stock": ("PASSED", ""), "patched-on": ("PASSED", "")}
    settled = [each.report for each in events(run, "partitions", "stock") if isinstance(each, ClientSettled)]
    ledgers = {report.name: report for report in settled if report.description.startswith("records in a ledger")}
    assert set(ledgers) == {"idempotent", "transactional", "one-ack"}
    assert all(report.acknowledged > 20 and not report.violations for report in ledgers.values())
    assert {report.lost for report in ledgers.values() if report.binding} == {0}


@pytest.mark.parametrize("scenario", ["observer-cut", pytest.param("partitions", marks=pytest.mark.whole)])
def test_every_cut_was_proved_within_a_tenth_of_a_second_and_healed(verified, scenario):
    changed = [each for each in events(verified(scenario), scenario, "stock") if isinstance(each, FaultChanged)]
    assert [each.status for each in changed] == ["begun", "proved", "ended"] * (len(changed) // 3)
    assert changed
    assert all(each.seconds < 0.1 for each in changed if each.status == "proved")
