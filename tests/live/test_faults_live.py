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
SCENARIOS = ("observer-cut", "partitions")


@pytest.fixture(scope="module")
def verified(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    named = [word for name in SCENARIOS for word in ("--scenario", name)]
    command = [
        sys.executable,
        "-c",
        "from harness.cli import main; main()",
        "verify",
        "--fresh",
        *named,
        "--arms",
        "base,on",
    ]
    before = socket.if_nameindex()
    done = subprocess.run(
        [*command, "--tests", "none", "--no-coverage", "--out", "run"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert (folder / "run" / "verdict.json").exists(), done.stdout + done.stderr
    assert socket.if_nameindex() == before
    return folder / "run"


def events(run: Path, scenario, arm):
    return list(events_of(read_journal(run / "runs" / scenario / arm / "1" / "journal.jsonl")))


def test_stock_does_not_find_its_leader_again_after_a_cut_and_the_patch_does(verified):
    runs = json.loads((verified / "verdict.json").read_text())["runs"]
    said = {(run["scenario"], run["arm"]): (run["outcome"], run["expectation"]) for run in runs}
    assert said == {
        ("observer-cut", "stock"): ("FAILED", "observer_recovers"),
        ("observer-cut", "patched-on"): ("PASSED", ""),
        ("partitions", "stock"): ("PASSED", ""),
        ("partitions", "patched-on"): ("PASSED", ""),
    }, [run["reason"] for run in runs]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_cut_was_proved_within_a_tenth_of_a_second_and_healed(verified, scenario):
    changed = [each for each in events(verified, scenario, "stock") if isinstance(each, FaultChanged)]
    assert [each.status for each in changed] == ["begun", "proved", "ended"] * (len(changed) // 3)
    assert changed
    assert all(each.seconds < 0.1 for each in changed if each.status == "proved")


def test_the_ledgers_counted_every_record_and_lost_none_that_acks_all_promised(verified):
    settled = [each.report for each in events(verified, "partitions", "stock") if isinstance(each, ClientSettled)]
    ledgers = {report.name: report for report in settled if report.description.startswith("records in a ledger")}
    assert set(ledgers) == {"idempotent", "transactional", "one-ack"}
    assert all(report.acknowledged > 20 and not report.violations for report in ledgers.values())
    assert {report.lost for report in ledgers.values() if report.binding} == {0}
