"""`harness verify` as a user runs it: the shipped series, jars broken on purpose, wrong files, an interruption."""

import json
import subprocess
import sys

import psutil
import pytest

from harness.model.events import NodeChanged
from harness.rundir.journal import read_journal

pytestmark = [pytest.mark.live, pytest.mark.clusters]

LOST = "FAILED(observer_recovers)"
EXPECTED = {
    "new-mechanism": {"stock": LOST, "patched-off": LOST, "patched-on": "PASSED"},
    "turn1": {"stock": "PASSED", "patched-off": "PASSED", "patched-on": "PASSED"},
    "turn2": {"stock": LOST, "patched-off": LOST, "patched-on": "PASSED"},
}


# For tests whose subject is neither the JUnit tests nor the reached lines.
SHORT = ("--fresh", "--tests", "none", "--no-coverage", "--builder", "ecj", "--arms", "base,on")


def harness(*arguments, cwd, timeout=900, **options):
    return subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )


def outcomes(run_dir):
    shown = {}
    for run in json.loads((run_dir / "verdict.json").read_text())["runs"]:
        named = f"({run['expectation']})" if run["outcome"] == "FAILED" else ""
        shown.setdefault(run["scenario"], {})[run["arm"]] = f"{run['outcome']}{named}"
    return shown


def nodes_of(folder):
    """Return the Kafka nodes that run below a folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "kafka.Kafka" in words and any(str(folder) in word for word in words):
            found.append(process.pid)
    return found


def test_the_shipped_series_is_judged_ship_with_the_expected_outcomes(shipped_verification, tests_of_series):
    run_dir, done = shipped_verification
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(run_dir) == EXPECTED
    verdict = json.loads((run_dir / "verdict.json").read_text())
    assert verdict["verdict"] == "SHIP"
    told = {scenario["name"]: scenario["discriminates"] for scenario in verdict["scenarios"]}
    assert told == {"turn1": False, "turn2": True, "new-mechanism": True}
    assert all(contrast["findings"] for contrast in verdict["contrasts"] if contrast["candidate"] == "patched-on")
    assert [claim["status"] for claim in verdict["claims"]] == ["held"] * 6
    assert all(claim["logged"] for claim in verdict["claims"] if claim["expected_log"])
    assert verdict["proof"]["tests"]["failed"] == []
    assert not [each for each in verdict["proof"]["differences"] if each["severity"] != "note"]
    assert any(line["scenarios"] == ["new-mechanism", "turn1", "turn2"] for line in verdict["coverage"]["lines"])
    assert (run_dir / "report.html").stat().st_size > 10_000
    assert "SHIP" in done.stdout
    assert "report.html" in done.stdout
    beside = f"run beside the clusters: {tests_of_series} tests, 0 failed"
    alone = "not all tests passed while clusters ran: all are run again, alone"  # on a host without time for them
    assert beside in done.stdout or alone in done.stdout
    assert f"{tests_of_series} tests, 0 failed" in done.stdout
    assert done.stdout.count("with JaCoCo's agent starts in a slot that no judged run needs any more") > 0
    assert not nodes_of(run_dir)
    for arm in EXPECTED["turn2"]:
        nodes = json.loads((run_dir / "runs" / "turn2" / arm / "1" / "logs.json").read_text())
        was = sorted(node["roles"]["the leader stops"] for node in nodes)
        assert was == ["follower", "leader", "observer", "stopped voter"], arm
    assert any("restarted" in finding["logged_by"] for each in verdict["contrasts"] for finding in each["findings"])


def test_what_was_packed_is_gone_on_with_elsewhere_and_runs_nothing_again(shipped_verification, tmp_path):
    run_dir, _ = shipped_verification
    assert harness("pack", run_dir, "--out", tmp_path / "x.tar.xz", cwd=tmp_path).returncode == 0
    unpacked = harness("unpack", "x.tar.xz", "--out", "x", cwd=tmp_path)
    assert "run it again: harness verify" in unpacked.stdout, unpacked.stderr
    page = (tmp_path / "x" / "report.html").read_bytes()
    assert page == (run_dir / "report.html").read_bytes()
    again = harness("verify", "--resume", "x", cwd=tmp_path)
    assert "no runs on live clusters are left to do" in again.stdout, again.stdout + again.stderr
    assert again.returncode == 0
    verdicts = [json.loads((folder / "verdict.json").read_text()) for folder in (run_dir, tmp_path / "x")]
    assert verdicts[0]["reasons"] == verdicts[1]["reasons"]


def test_the_flood_of_unreachable_old_addresses_vanishes_on_the_patched_arm(shipped_verification):
    run_dir, _ = shipped_verification
    contrasts = json.loads((run_dir / "verdict.json").read_text())["contrasts"]
    (findings,) = (
        each["findings"] for each in contrasts if (each["base"], each["candidate"]) == ("stock", "patched-on")
    )
    templates = {finding["kind"]: [] for finding in findings}
    for finding in findings:
        templates[finding["kind"]].append(finding["template"])
    assert any("Updated bootstrap servers" in template for template in templates["new"])
    lost = templates.get("rate", []) + templates.get("vanished", [])
    assert any("could not be established" in template for template in lost)


def test_a_jar_whose_refresh_does_nothing_is_held_back_by_scenario_and_expectation(broken_jar, tmp_path):
    jar = broken_jar("update-does-nothing")
    done = harness("verify", "--jar", jar, "--scenario", "new-mechanism", "--out", "run", *SHORT, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes(tmp_path / "run") == {"new-mechanism": {"stock": LOST, "jar-on": LOST}}
    reasons = json.loads((tmp_path / "run" / "verdict.json").read_text())["reasons"]
    (effect,) = [reason for reason in reasons if reason["source"] == "effect"]
    assert effect["cell"] == {"scenario": "new-mechanism", "arm": "jar-on"}
    assert "jar-on fails observer_recovers" in effect["sentence"]


@pytest.mark.whole
def test_a_jar_that_throws_in_the_raft_thread_is_held_back_because_its_nodes_die(broken_jar, tmp_path):
    jar = broken_jar("throws-in-raft-thread")
    done = harness("verify", "--jar", jar, "--scenario", "new-mechanism", "--out", "run", *SHORT, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert outcomes(tmp_path / "run")["new-mechanism"]["jar-on"] == "FAILED(node_alive)", done.stdout
    assert "a mutant: the refresh always fails" in (tmp_path / "run" / "verdict.json").read_text()
    folder = tmp_path / "run" / "runs" / "new-mechanism" / "jar-on" / "1"
    changes = [entry.event for entry in read_journal(folder / "journal.jsonl") if isinstance(entry.event, NodeChanged)]
    died = {change.node for change in changes if change.state == "died"}
    last = {node["node"]: list(node["roles"].values())[-1] for node in json.loads((folder / "logs.json").read_text())}
    assert died
    assert all(last[node].startswith("stopped ") for node in died), last


def test_a_file_that_is_no_jar_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "notes.jar").write_text("these are notes\n")
    done = harness("verify", "--jar", "notes.jar", cwd=tmp_path)
    assert done.returncode == 2
    assert "notes.jar" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_raft_jar_cut_short_is_refused_with_a_sentence(kafka, tmp_path):
    (tmp_path / "cut.jar").write_bytes(kafka.raft_jar.read_bytes()[:200_000])
    done = harness("verify", "--jar", "cut.jar", cwd=tmp_path)
    assert done.returncode == 2
    assert "cut.jar" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_jar_of_another_module_is_refused_with_a_sentence(kafka, tmp_path):
    other = next(jar for jar in kafka.jars if jar.name.startswith("kafka-server-common"))
    done = harness("verify", "--jar", other, cwd=tmp_path)
    assert done.returncode == 2
    assert "KafkaRaftClient" in done.stderr or "raft" in done.stderr
    assert "Traceback" not in done.stderr
