"""`harness rollout` as an operator runs it: it holds for the shipped series and stops for a jar that dies."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest
from confluent_kafka import Producer

from harness.base.files import sha256_of
from harness.base.waiting import wait_until
from harness.building.builders.base import BuildHost, host_compiler
from harness.cluster.cluster import Cluster
from harness.cluster.install import Install
from harness.cluster.partitions import create_topics
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology
from harness.engine.cancel import Cancellation
from harness.engine.executor import run_cell
from harness.engine.planned_run import PlannedRun
from harness.kafka.distribution import as_declared, distribution_of
from harness.model.arms import Role
from harness.model.events import ClientSettled, CommandTried, NodeChanged, NodeProved, StepChanged, TurnStarted
from harness.model.request import Request
from harness.model.runs import Outcome, RunKey
from harness.rollout import roll
from harness.rollout.builds import BASE, CANDIDATE
from harness.rollout.commands import Tools
from harness.rollout.feature_facts import read_features
from harness.rollout.features import feature_plan
from harness.rollout.finalising import Finalising
from harness.rollout.nodes import First, parse_topology
from harness.rollout.rehearsals import CONTROL, PROPERTIES, rehearsal
from harness.rollout.roll import Roll, RollConfig
from harness.rollout.roll_steps import BeginTurn
from harness.rundir.journal import events_of, read_journal
from harness.scenario.actions.kill import kill
from harness.scenario.actions.start import start
from harness.scenario.loads.readback import client_settings, read_back
from harness.scenario.refs import fixed
from harness.stages.node_parts import prepare_node_parts

pytestmark = [pytest.mark.live, pytest.mark.clusters]

COMMAND = (sys.executable, "-c", "from harness.cli import main; main()", "rollout")
KEY = "controller.quorum.dynamic.bootstrap.servers.enable"


def rollout(*arguments, cwd, timeout=900):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False
    )


def found_in(run_dir):
    found = json.loads((run_dir / "rollout.json").read_text())
    return found, {each["result"]["scenario"]: each for each in found["rehearsals"]}


def nodes_of(folder):
    command_lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [words for words in command_lines if "kafka.Kafka" in words and any(str(folder) in word for word in words)]


CUT = ("control", "forward-and-back")


def passed(folder, *options):
    """Return the folder of a programme on dedicated controllers that passed, and what was printed."""
    done = rollout(*options, "--out", "run", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "run", done.stdout


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    """Return the two rehearsals that the others vary: what passes and prints, and where."""
    return passed(tmp_path_factory.mktemp("cut"), *(word for name in CUT for word in ("--rehearse", name)))


@pytest.fixture(scope="module")
def shipped_whole(tmp_path_factory):
    """Return the whole programme."""
    return passed(tmp_path_factory.mktemp("whole"))


def test_the_shipped_series_rolls_forward_and_back_and_nothing_is_lost(shipped):
    run_dir, said = shipped
    found, by_name = found_in(run_dir)
    assert found["outcome"] == "PASSED"
    assert "PASSED" in said
    for name, result in by_name.items():
        promised = [client for client in result["clients"] if client["binding"]]
        assert len(promised) == 4
        assert all(c["acknowledged"] and not c["lost"] and not c["violations"] for c in promised), name
    turns = by_name["forward-and-back"]["turns"]
    assert [turn["build"] for turn in turns] == ["the candidate"] * 6 + ["base"] * 6
    assert [turn["roles"] for turn in turns[:3]] == ["broker"] * 3
    assert turns[5]["roles"] == turns[11]["roles"] == "controller, the active controller"
    assert not nodes_of(run_dir)


def test_every_turn_had_every_check_and_the_live_jar_was_the_one_put_there(shipped):
    run_dir, _ = shipped
    found, by_name = found_in(run_dir)
    for turn in by_name["forward-and-back"]["turns"]:
        assert len(turn["before"]) == 9
        assert {"isr_full", "observers_follow", "right_jar", "no_new_errors"} <= {c["name"] for c in turn["after"]}
        assert all(check["met"] for check in (*turn["before"], *turn["after"]))
        assert turn["down_seconds"] > 0
    jars = {sha256_of(jar) for jar in run_dir.glob("runs/forward-and-back/roll/1/nodes/*/libs/*.jar")}
    assert jars == {found["base"]["build"]["jar_sha256"]}, "all the way back"


@pytest.mark.whole
def test_both_versions_led_each_other_before_the_way_back_from_half_way(shipped_whole):
    run_dir, _ = shipped_whole
    _, by_name = found_in(run_dir)
    restarts = [turn for turn in by_name["half-way-and-back"]["turns"] if turn["action"] == "restart"]
    phases = {turn["phase"]: turn["build"] for turn in restarts}
    assert phases["the candidate leads base"] == "base", "base, which led, was restarted, and the candidate was elected"
    assert phases["base leads the candidate again"] == "the candidate"


def test_a_key_that_is_left_behind_is_warned_of_by_the_harness_as_kafka_says_nothing(shipped):
    run_dir, said = shipped
    properties = sorted(run_dir.glob("runs/forward-and-back/roll/1/nodes/3/server.properties.*"))[-1]
    assert KEY in properties.read_text()
    assert f"warning: {KEY} is still in server.properties" in said


@pytest.mark.whole
def test_a_jar_that_dies_on_load_was_noticed_at_the_first_node_with_the_cluster_serving(shipped_whole):
    run_dir, _ = shipped_whole
    _, by_name = found_in(run_dir)
    died = by_name["dies-on-load"]
    assert died["result"]["outcome"] == "PASSED"
    assert [(turn["node"], turn["action"]) for turn in died["turns"]] == [(3, "replace"), (3, "bring back")]
    journal = (run_dir / "runs" / "dies-on-load" / "roll" / "1" / "journal.jsonl").read_text()
    assert "it died, as it may" in journal


@pytest.mark.whole
def test_a_killed_node_came_back_in_its_turn(shipped_whole):
    run_dir, _ = shipped_whole
    journal = (run_dir / "runs" / "killed-in-step" / "roll" / "1" / "journal.jsonl").read_text()
    assert journal.count('"state": "killed"') >= 2
    assert "kill -9 the broker to kill 1 s later" in journal


def test_the_runbooks_commands_were_run_and_show_what_the_protocol_says(shipped):
    run_dir, _ = shipped
    _, by_name = found_in(run_dir)
    commands = by_name["control"]["commands"]
    assert len(commands) == 9, "eight commands of the checks, and the election of preferred leaders"
    assert all(command["agrees"] and command["exit_code"] == 0 for command in commands)
    runbook = (run_dir / "runbook.md").read_text()
    assert "LeaderId" in runbook
    assert "No partition reassignments found" in runbook


def test_the_report_shows_every_rehearsal_with_its_timeline_and_log_differences(shipped):
    run_dir, _ = shipped
    page = (run_dir / "report.html").read_text()
    assert page.count('<svg class="timeline"') == len(CUT)
    assert "They were not compared" not in page
    assert len(page) < 2_000_000


@pytest.mark.whole
def test_the_whole_programme_loses_nothing_and_its_report_has_every_timeline(shipped_whole):
    run_dir, _ = shipped_whole
    _, by_name = found_in(run_dir)
    promised = [client for each in by_name.values() for client in each["clients"] if client["binding"]]
    assert len(promised) == 4 * 5
    assert not any(client["lost"] or client["violations"] for client in promised)
    assert (run_dir / "report.html").read_text().count('<svg class="timeline"') == 5


def test_a_jar_that_throws_in_the_raft_thread_is_stopped_at_the_first_node_on_combined_nodes(broken_jar, tmp_path):
    jar = broken_jar("throws-in-raft-thread")
    done = rollout(
        *("--jar", jar, "--topology", "3combined+1", "--rehearse", "forward-and-back", "--out", "run"), cwd=tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr
    _, by_name = found_in(tmp_path / "run")
    stopped = by_name["forward-and-back"]
    result = stopped["result"]
    assert (result["outcome"], result["expectation"]) == ("FAILED", "node_alive")
    assert "a mutant: the refresh always fails" in result["reason"] or "node 3 crashed" in result["reason"]
    assert "and then" not in result["reason"], "clients were served, and there was a way back"
    assert [(turn["node"], turn["action"]) for turn in stopped["turns"]] == [(3, "replace"), (3, "bring back")]
    assert not [client for client in stopped["clients"] if client["binding"] and client["lost"]]
    assert "Do not roll" in (tmp_path / "run" / "runbook.md").read_text()
    assert not nodes_of(tmp_path)


def rehearsed(node_parts, base, folder, plan, others=None, **config):
    """Carry out a plan on six nodes under load, which may install others; return its result and its events."""
    topology = parse_topology("3+3")

    def build(steps, _cluster, *_brokers):
        made = Roll(steps, RollConfig(topology, **config))
        made.under_load()
        plan(made)

    scenario = replace(rehearsal(CONTROL, RollConfig(topology)), name="tried", build=build)
    base = replace(base, name="base")
    key = RunKey("tried", "roll", 1)
    cell = PlannedRun(key, scenario, Role.ON, node_parts, base, PROPERTIES, others=others or {})
    result = run_cell(cell, folder, lambda _: None, Cancellation())
    return result, list(events_of(read_journal(folder / cell.key.folder / "journal.jsonl")))


def states_of(events, node):
    return [event.state for event in events if isinstance(event, NodeChanged) and event.node == node]


def test_no_node_is_touched_while_another_is_away(node_parts, stock, tmp_path, monkeypatch):
    monkeypatch.setattr(roll, "_BEFORE", "3s")

    def plan(made):
        made.plan.do(kill(fixed(5, "node 5")))
        made.turn(fixed(3, "node 3"), "")

    result, events = rehearsed(node_parts, stock, tmp_path, plan)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "safe_to_stop")
    assert "nodes that do not answer: 5" in result.reason
    assert states_of(events, 3)[:3] == ["starting", "ready", "stopping"]
    steps = [number for number, event in enumerate(events) if isinstance(event, StepChanged)]
    stopping = next(
        n for n, e in enumerate(events) if isinstance(e, NodeChanged) and (e.node, e.state) == (3, "stopping")
    )
    assert max(steps) < stopping, "stopped at the end, with all others"
    # With acks=1 a leader that is killed takes with it what nobody has fetched yet.
    settled = [event.report for event in events if isinstance(event, ClientSettled)]
    assert not any(report.lost for report in settled if report.binding)


@pytest.mark.whole
def test_a_wait_over_the_budget_stops_the_roll(node_parts, stock, tmp_path):
    node = fixed(4, "node 4")

    def plan(made):
        made.plan.do(BeginTurn(node, ""), kill(node), start(node))  # a killed leader hands nothing over: clients wait
        made.all_well()

    result, _ = rehearsed(node_parts, stock, tmp_path, plan, budget_seconds=0.5)
    assert (result.outcome, result.expectation) == (Outcome.FAILED, "pause_within_budget")
    assert "no client waited longer than 0.5 s" in result.reason


def test_reading_back_waits_for_the_markers_of_a_transaction(node_parts, stock, tmp_path):
    alone = {"transaction.state.log.replication.factor": "1", "transaction.state.log.min.isr": "1"}
    launch = node_parts.launch(alone)
    with Cluster(Topology(1, 0), tmp_path / "nodes", launch, stock, node_parts.template, lambda _: None) as cluster:
        cluster.start(cluster.nodes)

        def created():
            with suppress(Unreachable, StopIteration):
                broker = next(iter(cluster.brokers.values()))
                return create_topics(cluster.wire, broker, {"payments": [(0,)]}, {}) == ""
            return False

        assert wait_until(created, 60)
        brokers = tuple(cluster.brokers.values())
        producer = Producer(client_settings(brokers) | {"transactional.id": "open"})
        producer.init_transactions(60)
        producer.begin_transaction()
        producer.produce("payments", key="0", value="x", partition=0)
        producer.flush(30)
        with ThreadPoolExecutor() as aside:
            stored = aside.submit(read_back, "payments", 1, brokers, committed=True)
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
    assert time.monotonic() - began < 7, "after 8 s it ends by force"
    assert "Traceback" not in errors
    assert "harness rollout --resume run" in errors
    assert not nodes_of(tmp_path)


@pytest.fixture
def two_kafkas(toolbox, quiet):
    """Return of two releases of different lines what nodes are made of, what is installed on them, and features."""
    kafkas = [distribution_of(None, version, toolbox) for version in ("3.9.2", "4.3.1")]
    parts = [prepare_node_parts(Request(), kafka, toolbox, quiet.report) for kafka in kafkas]
    digests = [as_declared(kafka, None) for kafka in kafkas]
    compiler = host_compiler("ecj", BuildHost(toolbox, 17, quiet.report))
    plan = feature_plan(*(read_features(kafka, compiler, toolbox.node_java(), toolbox.cache) for kafka in kafkas))
    installs = [
        Install(
            name, kafka.raft_jar, declared.jars[declared.raft_jar], "absent", {}, declared.others, digests[0].jars, own
        )
        for name, kafka, declared, own in zip((BASE, CANDIDATE), kafkas, digests, (None, parts[1].kafka), strict=True)
    ]
    tools = Tools(parts[1].java, kafkas[1].jars, parts[1].line.commands)
    return parts[0], {each.name: each for each in installs}, Finalising(plan, tools)


@pytest.mark.whole
def test_a_kafka_of_another_line_is_rolled_two_nodes_go_back_and_the_features_are_finalised_last(two_kafkas, tmp_path):
    parts, installs, finalising = two_kafkas
    told = " ".join(finalising.plan.told)

    def plan(made):
        made.all_nodes("forward", CANDIDATE)
        for node in (0, 3):
            made.turn(fixed(node, f"node {node}"), BASE)
        for node in (0, 3):
            made.turn(fixed(node, f"node {node}"), CANDIDATE)
        made.finalise()

    result, events = rehearsed(
        parts, installs[BASE], tmp_path, plan, installs, first=First.CONTROLLERS, finalising=finalising
    )
    assert result.outcome is Outcome.PASSED, result.reason
    promised = [event.report for event in events if isinstance(event, ClientSettled) and event.report.binding]
    assert len(promised) == 4
    assert all(each.acknowledged and not each.lost and not each.violations for each in promised)
    turns = [event for event in events if isinstance(event, TurnStarted)]
    assert [turn.roles == "broker" for turn in turns[:6]] == [False] * 3 + [True] * 3
    differing = [bool(event.differing) for event in events if isinstance(event, NodeProved)]
    assert differing == [False] * 6 + [True] * 6 + [False] * 2 + [True] * 2
    assert "there is no way back" in told
    upgraded, refused = (event for event in events if isinstance(event, CommandTried))
    assert upgraded.agrees, upgraded.output
    assert refused.agrees, refused.output
    assert "Refusing to perform the requested downgrade" in refused.output
