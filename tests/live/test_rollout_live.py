"""`harness rollout` as an operator runs it: it holds for the shipped series and stops for a jar that dies."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
import pytest
from confluent_kafka import Producer

from harness.cluster.cluster import Cluster, Topology
from harness.cluster.node import wait_until
from harness.cluster.partitions import create_topic
from harness.cluster.protocol import Unreachable
from harness.engine.cancel import Cancellation
from harness.engine.journal import Journal
from harness.kafka.downloads import sha256_of
from harness.rollout import rehearsal
from harness.rollout.checking import RollStopped
from harness.rollout.commands import Tools
from harness.rollout.nodes import parse_topology
from harness.rollout.records import Installed
from harness.rollout.rehearsal import Measure, Rehearsal, Setting
from harness.scenario.readback import client_settings, read_back

pytestmark = pytest.mark.live

COMMAND = (sys.executable, "-c", "from harness.cli import main; main()", "rollout")
KEY = "controller.quorum.dynamic.bootstrap.servers.enable"


def rollout(*arguments, cwd, timeout=900):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False
    )


def found_in(run_dir):
    found = json.loads((run_dir / "rollout.json").read_text())
    return found, {each["name"]: each for each in found["rehearsals"]}


def nodes_of(folder):
    command_lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [words for words in command_lines if "kafka.Kafka" in words and any(str(folder) in word for word in words)]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Return the folder of a whole programme on dedicated controllers, and what was printed."""
    folder = tmp_path_factory.mktemp("shipped")
    done = rollout("--out", "run", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run", done.stdout


def test_the_shipped_series_rolls_forward_and_back_and_nothing_is_lost(shipped):
    run_dir, said = shipped
    found, by_name = found_in(run_dir)
    assert found["ending"] == "PASSED"
    assert "PASSED" in said
    for name, result in by_name.items():
        promised = [account for account in result["accounts"] if account["binding"]]
        assert len(promised) == 4
        assert all(a["acknowledged"] and not a["lost"] and not a["wrong"] for a in promised), name
    steps = by_name["forward-and-back"]["steps"]
    assert [step["jar"] for step in steps] == ["the candidate"] * 6 + ["base"] * 6
    assert [step["duties"] for step in steps[:3]] == ["broker"] * 3
    assert steps[5]["duties"] == steps[11]["duties"] == "controller, the active controller"
    assert not nodes_of(run_dir)


def test_every_step_had_every_check_and_the_live_jar_was_the_one_put_there(shipped):
    run_dir, _ = shipped
    found, by_name = found_in(run_dir)
    for step in by_name["forward-and-back"]["steps"]:
        assert len(step["before"]) == 8
        assert {"isr_full", "observers_follow", "right_jar", "no_new_errors"} <= {c["name"] for c in step["after"]}
        assert all(check["met"] for check in (*step["before"], *step["after"]))
    jars = {sha256_of(jar) for jar in run_dir.glob("rehearsals/forward-and-back/nodes/*/libs/*.jar")}
    assert jars == {found["base"]["sha256"]}, "all the way back"


def test_both_versions_led_each_other_before_the_way_back_from_half_way(shipped):
    run_dir, _ = shipped
    _, by_name = found_in(run_dir)
    restarts = [step for step in by_name["half-way-and-back"]["steps"] if step["action"] == "restart"]
    phases = {step["phase"]: step["jar"] for step in restarts}
    assert phases["the candidate leads base"] == "base", "base, which led, was restarted, and the candidate was elected"
    assert phases["base leads the candidate again"] == "the candidate"


def test_a_key_that_is_left_behind_is_warned_of_by_the_harness_as_kafka_says_nothing(shipped):
    run_dir, said = shipped
    properties = sorted(run_dir.glob("rehearsals/forward-and-back/nodes/3/server.properties.*"))[-1]
    assert KEY in properties.read_text()
    assert f"warning: {KEY} is still in server.properties" in said


def test_a_jar_that_dies_on_load_was_stopped_at_the_first_node_with_the_cluster_serving(shipped):
    run_dir, _ = shipped
    _, by_name = found_in(run_dir)
    died = by_name["dies-on-load"]
    assert died["ending"] == "PASSED"
    assert "NoClassDefFoundError" in died["reason"] or "ended by itself" in died["reason"]
    assert [(step["node"], step["action"]) for step in died["steps"]] == [(3, "replace"), (3, "bring back")]


def test_a_killed_node_came_back_in_its_step(shipped):
    run_dir, _ = shipped
    journal = (run_dir / "rehearsals" / "killed-in-step" / "journal.jsonl").read_text()
    assert journal.count('"state": "killed"') >= 2
    assert "kill -9 node 3 while it starts" in journal


def test_the_runbooks_commands_were_run_and_show_what_the_protocol_told(shipped):
    run_dir, _ = shipped
    _, by_name = found_in(run_dir)
    commands = by_name["control"]["commands"]
    assert len(commands) == 6
    assert all(command["agrees"] and command["exit_code"] == 0 for command in commands)
    runbook = (run_dir / "runbook.md").read_text()
    assert "LeaderId" in runbook
    assert "No partition reassignments found" in runbook


def test_the_report_shows_every_rehearsal_with_its_timeline_and_log_differences(shipped):
    run_dir, _ = shipped
    page = (run_dir / "report.html").read_text()
    assert page.count('<svg class="timeline"') == 5
    assert "They were not compared" not in page
    assert len(page) < 2_000_000


def test_a_jar_that_throws_in_the_raft_thread_is_stopped_at_the_first_node_on_combined_nodes(broken_jar, tmp_path):
    jar = broken_jar("throws-in-raft-thread")
    done = rollout(
        *("--jar", jar, "--topology", "3combined+1", "--rehearse", "forward-and-back", "--out", "run"), cwd=tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr
    _, by_name = found_in(tmp_path / "run")
    stopped = by_name["forward-and-back"]
    assert "a mutant: the refresh always fails" in stopped["reason"] or "ended by itself" in stopped["reason"]
    assert [(step["node"], step["action"]) for step in stopped["steps"]] == [(3, "replace"), (3, "bring back")]
    assert not [account for account in stopped["accounts"] if account["binding"] and account["lost"]]
    journal = (tmp_path / "run" / "rehearsals" / "forward-and-back" / "journal.jsonl").read_text()
    served = [json.loads(line) for line in journal.splitlines() if "every client is still served" in line]
    assert [event["status"] for event in served] == ["met"]
    assert "Do not roll" in (tmp_path / "run" / "runbook.md").read_text()
    assert not nodes_of(tmp_path)


def test_no_node_is_touched_while_another_is_away_and_a_wait_over_the_budget_stops_the_roll(
    ground, kafka, tmp_path, monkeypatch
):
    base = Installed("base", kafka.raft_jar, sha256_of(kafka.raft_jar), "absent")
    topology = parse_topology("3+3")
    setting = Setting(topology, (), ground, base, base, {}, "", Tools(ground.java, ()))
    with (
        Journal(tmp_path / "journal.jsonl") as journal,
        Rehearsal(
            setting, Measure(5.0, frozenset(), judge_errors=True), tmp_path, journal, lambda _: None, Cancellation()
        ) as live,
        live.under_load(),
    ):
        live.cluster.nodes[5].kill()
        process = live.cluster.nodes[3].pid
        with monkeypatch.context() as hurried:
            hurried.setattr(rehearsal, "_BEFORE_SECONDS", 3.0)
            with pytest.raises(RollStopped, match=r"before node 3 may stop.*nodes that do not answer: 5"):
                live.replace(3, base)
        assert live.cluster.nodes[3].pid == process
        live.cluster.nodes[5].start()
        live.checking.budget = 0.01
        with pytest.raises(RollStopped, match=r"no client waited longer than 0\.01 s"):
            live.replace(4, base)
    assert not live.facts.unsound
    assert not [account for account in live.facts.accounts if account.binding and account.lost]


def test_reading_back_waits_for_the_markers_of_a_transaction(ground, kafka, tmp_path):
    alone = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    launch = ground.launch(kafka.raft_jar, alone)
    with Cluster(Topology(1, 0), tmp_path / "nodes", launch, ground.template, lambda _: None) as cluster:
        cluster.start(cluster.nodes)

        def created():
            with suppress(Unreachable, StopIteration):
                port = next(iter(cluster.broker_ports.values()))
                return create_topic(port, "payments", [(0,)], {}) in ("", "topic_already_exists")
            return False

        assert wait_until(created, 60)
        ports = tuple(cluster.broker_ports.values())
        producer = Producer(client_settings(ports) | {"transactional.id": "open"})
        producer.init_transactions(60)
        producer.begin_transaction()
        producer.produce("payments", key="0", value="x", partition=0)
        producer.flush(30)
        with ThreadPoolExecutor() as aside:
            stored = aside.submit(read_back, "payments", 1, ports, committed=True)
            time.sleep(3)  # the reader is at work, and all that there is to read is a transaction without an end
            assert not stored.done()
            producer.commit_transaction(30)
            assert [record.key for record in stored.result()] == [b"0"]


def test_ctrl_c_in_a_rehearsal_ends_every_node(tmp_path):
    with subprocess.Popen(
        [*COMMAND, "--rehearse", "control", "--out", "run"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert wait_until(lambda: len(nodes_of(tmp_path)) == 6, 120)
        time.sleep(8)  # somewhere between the first start and the first step
        os.killpg(process.pid, signal.SIGINT)
        began = time.monotonic()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 10
    assert "Traceback" not in errors
    assert "--resume" not in errors, "a rehearsal is begun anew"
    assert not nodes_of(tmp_path)
