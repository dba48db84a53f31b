"""The runbook's script: what it asks, when it stops and what it says then, on a cluster that is a folder of files."""

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import rollout_sample as sample

from harness.model.runs import Outcome
from harness.rollout.health import AFTER, BEFORE, PREFERRED_LEADERS
from harness.rollout.runbook import runbook
from harness.rollout.runbook_shell import shell_script

GOLDEN = Path(__file__).parent / "golden" / "rollout-runbook.sh"
PASSED = replace(sample.rollout(), plan=replace(sample.rollout().plan, topology="3combined+1"))

# Kafka's scripts as far as the runbook calls them: what they print stands in files, or is who runs.
SCRIPTS = {
    "kafka-metadata-quorum.sh": """
        case "$*" in
        *--status*) [ -e leader ] && echo "LeaderId:               $(cat leader)" ;;
        *)
            echo x >>offsets
            echo "NodeId DirectoryId LogEndOffset Lag LastFetchTimestamp LastCaughtUpTimestamp Status"
            for node in $(cat voters); do
                lag=0 seen=90000
                [ -e "running-$node" ] || lag=9 seen=80000
                role=Follower
                [ "$node" != "$(cat leader)" ] || role=Leader
                echo "$node abc $(wc -l <offsets) $lag 1 $seen $role"
            done
            for node in $(cat observers); do echo "$node abc $(wc -l <offsets) 0 1 1 Observer"; done
            ;;
        esac""",
    "kafka-broker-api-versions.sh": """
        for node in $(cat voters observers); do
            [ ! -e "running-$node" ] || echo "h:909$node (id: $node rack: null isFenced: false) -> ("
        done""",
    "kafka-topics.sh": """
        case "$*" in
        *--under-replicated-partitions*) cat under ;;
        *--unavailable-partitions*) cat unavailable ;;
        *--at-min-isr-partitions*) cat at-min-isr ;;
        *) cat topics ;;
        esac""",
    "kafka-reassign-partitions.sh": 'echo "No partition reassignments found."',
    "kafka-leader-election.sh": """
        printf 'Topic: orders\\tPartition: 0\\tLeader: 3\\tReplicas: 3,0\\tIsr: 0,3\\n' >topics
        echo "Successfully completed leader election (PREFERRED) for partitions orders-0"
    """,
}
SITE = """
stop_node() { echo "stop $1" >>{cluster}/calls; [ -e {cluster}/hangs-$1 ] || rm -f {cluster}/running-$1; }
install_jar() { echo "install $1 $2" >>{cluster}/calls; echo $2 >{cluster}/jar-$1; }
start_node() {
    echo "start $1" >>{cluster}/calls
    [ -e {cluster}/dies-$1 ] || : >{cluster}/running-$1
    [ ! -e {cluster}/next-leader ] || mv {cluster}/next-leader {cluster}/leader
}
is_running() { [ -e {cluster}/running-$1 ]; }
running_jar() { case $(cat {cluster}/jar-$1) in new) echo {new} ;; *) echo {base} ;; esac; }
error_lines() { cat {cluster}/errors-$1 2>/dev/null || true; }
longest_wait() { cat {cluster}/waited; }
topic_ids() { cat {cluster}/ids; grep -q Healthy {cluster}/ids; }
"""


class ACluster:
    """A cluster of files, and a script that rolls it."""

    def __init__(self, folder: Path, found=PASSED):
        self.folder = folder / "cluster"
        (self.folder / "bin").mkdir(parents=True)
        for name, text in SCRIPTS.items():
            path = self.folder / "bin" / name
            path.write_text(f'#!/bin/sh\necho "{name} $*" >>calls\n{text}\n')
            path.chmod(0o755)
        self.write(
            leader="1", voters="0 1 2", observers="3", waited="1.5", under="", unavailable="", calls="", offsets=""
        )
        self.write(ids="Healthy: 6 directories of brokers 0, 1, 2, 3 have the ids that ZooKeeper at zk:2181 has.")
        self.write(topics="Topic: orders\tPartition: 0\tLeader: 0\tReplicas: 3,0\tIsr: 0,3", **{"at-min-isr": ""})
        for node in range(4):
            self.write(**{f"running-{node}": "", f"jar-{node}": "base"})
        sums = {"new": found.candidate.build.jar_sha256, "base": found.base.build.jar_sha256}
        text = SITE
        for name, value in {"cluster": self.folder, **sums}.items():
            text = text.replace(f"{{{name}}}", str(value))
        self.site = folder / "site.sh"
        self.site.write_text(text)
        self.script = folder / "runbook.sh"
        self.script.write_text(shell_script(runbook(found)).replace("sleep 1", "sleep 0.1"))

    def write(self, **files):
        for name, text in files.items():
            (self.folder / name).write_text(f"{text}\n" if text else "")

    def leave_out(self, function):
        """Have the operator say nothing of one function."""
        lines = self.site.read_text().splitlines(keepends=True)
        self.site.write_text("".join(line for line in lines if not line.startswith(f"{function}()")))

    def run(self, *arguments, said="", ask="no", **environment):
        """Run the script; return its exit code and all that it wrote."""
        done = subprocess.run(
            ["sh", self.script, *arguments],
            input=said,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env={"PATH": os.environ["PATH"], "KAFKA": self.folder, "NEW_KAFKA": self.folder, "SITE": self.site}
            | {"BEFORE_SECONDS": "3", "AFTER_SECONDS": "3", "STOP_SECONDS": "3", "LEADERS_SECONDS": "3", "ASK": ask}
            | environment,
        )
        return done.returncode, done.stdout + done.stderr

    @property
    def calls(self):
        return (self.folder / "calls").read_text().splitlines()

    @property
    def done_to_nodes(self):
        return [call for call in self.calls if not call.startswith(("kafka-", "features"))]


@pytest.fixture
def cluster(tmp_path):
    return ACluster(tmp_path)


def test_the_script_is_the_golden_one():
    """It changes only on purpose: `python tests/unit/test_rollout_report.py` writes it anew."""
    assert shell_script(runbook(sample.secured_rollout())) == GOLDEN.read_text(encoding="utf-8")


def kinds_of_rollouts():
    return [sample.rollout(), sample.rollout("stopped"), sample.secured_rollout(), sample.whole_rollout()]


@pytest.mark.parametrize("found", kinds_of_rollouts(), ids=["passed", "stopped", "secured", "whole"])
def test_it_is_a_script_for_every_shell_whatever_a_node_has_written(found, tmp_path):
    text = shell_script(runbook(found))
    assert "\x1b" not in text
    (tmp_path / "runbook.sh").write_text(text)
    for check in (["sh", "-n"], ["bash", "--posix", "-n"], ["shellcheck"]):
        if shutil.which(check[0]):
            done = subprocess.run([*check, tmp_path / "runbook.sh"], capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_without_a_word_it_says_what_it_would_do_and_asks_nothing_of_the_cluster(cluster):
    code, said = cluster.run()
    assert code == 0
    assert said.startswith("Nothing is done. The rehearsal passed.")
    assert "Brokers first, the active controller last, since" in said
    for check in (*BEFORE, *AFTER):
        assert f"  - {check.description}\n" in said
    assert "  - a client waits longer than its budget (rehearsed: 5 s)" in said
    assert not cluster.calls


def test_it_takes_every_nodes_turn_and_has_the_preferred_leaders_elected(cluster):
    code, said = cluster.run("forward")
    assert code == 0, said
    turns = [f"{what} {node}{jar}" for node in (3, 0, 2, 1) for what, jar in WORK]
    assert cluster.done_to_nodes == turns
    assert sum(call.startswith("kafka-leader-election.sh") for call in cluster.calls) == 1
    assert said.rstrip().endswith("done")


WORK = (("stop", ""), ("install", " new"), ("start", ""))


def test_topic_ids_are_checked_before_the_first_turn_and_what_differs_stops_the_roll(cluster):
    code, said = cluster.run("forward")
    assert code == 0
    assert said.index("checking that the topic ids on every broker's disks are") < said.index("node 3: stop")
    cluster.write(ids="a table of what differs\nMismatch: restart no broker. 1 directory of 1 topic has another id.\n")
    cluster.write(**{f"jar-{node}": "base" for node in range(4)})
    cluster.write(calls="")
    code, said = cluster.run("forward")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert (
        "STOPPED: the topic ids on every broker's disks are those of the cluster: not so "
        "(Mismatch: restart no broker. 1 directory of 1 topic has another id.)." in said
    )
    assert "No node was touched." in said
    assert cluster.run("back", "3")[0] == 0, "the way back asks nothing of ids"


def test_who_checks_no_topic_ids_in_the_script_is_asked_for_it(cluster):
    cluster.leave_out("topic_ids")
    code, said = cluster.run("forward", said="no\n", ask="yes")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "you did not say yes (the topic ids on every broker's disks are those of the cluster, which you have" in said
    code, said = cluster.run("forward")
    assert (code, "topic_ids is not defined" in said) == (2, True)


def test_a_line_that_never_had_zookeeper_asks_nothing_of_topic_ids(tmp_path):
    cluster = ACluster(tmp_path, replace(PASSED, knows_zookeeper=False))
    cluster.leave_out("topic_ids")
    assert cluster.run("forward")[0] == 0
    assert "topic ids" not in cluster.run()[1]


def test_the_active_controller_is_asked_for_again_before_every_turn(cluster):
    cluster.write(**{"next-leader": "0"})  # as soon as a node was started
    assert cluster.run("forward")[0] == 0
    assert [call.split()[1] for call in cluster.done_to_nodes if call.startswith("stop")] == ["3", "1", "2", "0"]


@pytest.mark.parametrize(
    ("settings", "order"),
    [({"FIRST": "controllers-first"}, ["0", "2", "1", "3"]), ({"ORDER": "2 3 1 0"}, ["2", "3", "1", "0"])],
)
def test_another_order_may_be_asked_for(cluster, settings, order):
    assert cluster.run("forward", **settings)[0] == 0
    assert [call.split()[1] for call in cluster.done_to_nodes if call.startswith("stop")] == order


def test_every_command_takes_the_file_of_properties_by_the_option_that_it_knows(tmp_path):
    options = {"config_options": {"kafka-leader-election.sh": "--admin.config"}}
    cluster = ACluster(tmp_path, replace(PASSED, **options))
    file = tmp_path / "my client.properties"
    file.write_text("")
    code, said = cluster.run("forward", COMMAND_CONFIG=str(file))
    assert code == 0, said
    asked = [call for call in cluster.calls if call.startswith("kafka-")]
    assert {call.split()[0] for call in asked} == SCRIPTS.keys()
    for call in asked:
        option = "--admin.config" if "election" in call else "--command-config"
        assert f" {option} {file}" in call


def test_it_goes_on_only_after_a_yes(cluster):
    code, said = cluster.run("forward", said="yes\nno\n", ask="yes")
    assert (code, cluster.done_to_nodes) == (1, ["stop 3", "install 3 new", "start 3"])
    assert "STOPPED: you did not say yes (node 0: stop it, install new, start it)." in said
    assert f"The way back, a node that is down or failed first: sh {cluster.script} back 3\n" in said
    assert f"To go on when that is mended: sh {cluster.script} forward 0 1 2\n" in said


def test_a_roll_that_was_stopped_goes_on_with_the_nodes_that_are_left(cluster):
    cluster.write(**{"dies-0": "x"})
    code, said = cluster.run("forward")
    assert (code, "runbook.sh forward 0 1 2\n" in said) == (1, True)
    cluster.write(**{"running-0": ""})
    assert "runbook.sh back 0 3\n" in cluster.run("forward", "0", "1", "2")[1], "also those of before go back"
    (cluster.folder / "dies-0").unlink()
    cluster.write(**{"running-0": ""})
    assert cluster.run("forward", "0", "1", "2")[0] == 0
    stops = [call.split()[1] for call in cluster.done_to_nodes if call.startswith("stop")]
    assert stops == ["3", "0", "0", "0", "2", "1"], "the active controller comes last all the same"


def test_a_roll_that_is_begun_again_leaves_out_who_runs_the_new_jar_and_knows_the_way_back(cluster):
    cluster.write(**{"jar-3": "new", "jar-0": "new", "under": "\tTopic: orders\tPartition: 7\tLeader: 0"})
    code, said = cluster.run("forward")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "node 3 runs the new one already" in said
    assert "runbook.sh back 0 3\n" in said
    cluster.write(under="", **{f"jar-{node}": "new" for node in range(4)})
    assert cluster.run("forward")[0] == 0
    assert cluster.done_to_nodes == []


def test_nothing_more_to_read_is_no_yes(cluster):
    code, said = cluster.run("forward", ask="yes")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "No node was touched." in said


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {"under": "\tTopic: orders\tPartition: 7\tLeader: 0"},
            "all its replicas in sync: not so (orders-7), 3 s long",
        ),
        (
            {"unavailable": "\tTopic: orders\tPartition: 7\tLeader: none\tReplicas: 3\tIsr: 3"},
            "every partition has a leader: not so (orders-7), 3 s long",
        ),
        ({"at-min-isr": "Topic: orders\tPartition: 1\tIsr: 0,3"}, "without the node: not so (orders-1 needs it)"),
        ({"leader": "-1"}, "one controller is active: not so (nobody leads)"),
        ({"observers": ""}, "registered and not fenced: not so (broker 3 is not listed)"),
    ],
)
def test_a_node_is_not_touched_where_a_check_before_it_is_not_met(cluster, files, reason):
    cluster.write(**files)
    code, said = cluster.run("forward", ORDER="3 0 1 2")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert reason in said
    assert "No node was touched." in said


def test_a_partition_without_a_replica_to_spare_is_named_and_stops_nothing(cluster):
    cluster.write(**{"at-min-isr": "Topic: alone\tPartition: 0\tLeader: 3\tReplicas: 3\tIsr: 3"})
    code, said = cluster.run("forward")
    assert code == 0, said
    assert "while node 3 is down nobody can write to: alone-0" in said
    assert said.count("nobody can write") == 1


@pytest.mark.parametrize(
    ("settings", "arguments", "why"),
    [
        ({"FIRST": "broker-first"}, (), "FIRST=broker-first is neither brokers-first nor controllers-first"),
        ({"ORDER": "3 0 1"}, (), "ORDER=3 0 1 does not name node 2"),
        ({"ORDER": "3 0 1 2 7"}, (), "node 7 is in neither CONTROLLER_IDS nor BROKER_IDS"),
        ({}, ("5",), "node 5 is in neither CONTROLLER_IDS nor BROKER_IDS"),
    ],
)
def test_an_order_that_cannot_be_is_refused_before_anything_is_asked(cluster, settings, arguments, why):
    code, said = cluster.run("forward", *arguments, **settings)
    assert (code, why in said, cluster.calls) == (2, True, []), said


def test_a_node_that_is_down_already_stops_the_roll_before_anything_is_touched(cluster):
    (cluster.folder / "running-2").unlink()
    code, said = cluster.run("forward")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "every node runs and answers on its listeners: not so (node 2 does not run)" in said


def test_a_node_that_does_not_stop_in_its_time_stops_the_roll(cluster):
    cluster.write(**{"hangs-3": "x"})
    code, said = cluster.run("forward")
    assert (code, cluster.done_to_nodes) == (1, ["stop 3"])
    assert "STOPPED: node 3 did not stop within 3 s of SIGTERM." in said
    assert "runbook.sh back 3\n" in said


def test_a_node_that_does_not_come_back_stops_the_roll_at_once_with_the_way_back(cluster):
    cluster.write(**{"dies-0": "x"})
    code, said = cluster.run("forward")
    assert (code, cluster.done_to_nodes[-1]) == (1, "start 0")
    assert "STOPPED: node 0 crashed after its start." in said
    assert "runbook.sh back 0 3\n" in said


def test_a_cluster_that_does_not_heal_after_a_start_stops_the_roll(cluster):
    harm = f"start_node() {{ echo 'Topic: t\tPartition: 0' >{cluster.folder}/under;"
    cluster.site.write_text(cluster.site.read_text().replace("start_node() {", harm))
    code, said = cluster.run("forward")
    assert code == 1
    assert "STOPPED: every partition has all its replicas in sync: not so (t-0), 3 s long." in said


def unreachable(cluster, function, node):
    """Have a function of the operator fail for one node, as ssh does that does not get through."""
    lines = cluster.site.read_text()
    cluster.site.write_text(
        lines.replace(f"{function}() {{ ", f'{function}() {{ [ "$1" != {node} ] || return 255; ', 1)
    )


@pytest.mark.parametrize(("way", "jar"), [(("forward",), "new"), (("back", "3"), "base")])
def test_a_node_that_cannot_be_reached_when_it_stops_counts_as_running_and_gets_no_other_jar(cluster, way, jar):
    cluster.write(**{"jar-3": "base" if jar == "new" else "new"})
    lost = f"[ ! -e {cluster.folder}/lost ] || return 255; "
    text = cluster.site.read_text().replace("is_running() { ", f"is_running() {{ {lost}")
    cluster.site.write_text(text.replace("stop_node() { ", f"stop_node() {{ : >{cluster.folder}/lost; "))
    code, said = cluster.run(*way, STOP_SECONDS="1")
    assert (code, "node 3 did not stop within 1 s" in said) == (1, True)
    assert f"install 3 {jar}" not in cluster.calls


def test_a_roll_does_not_begin_again_while_nobody_can_say_which_jar_a_node_runs(cluster):
    unreachable(cluster, "running_jar", 1)
    code, said = cluster.run("forward")
    assert (code, "running_jar 1 failed" in said) == (2, True)
    assert cluster.done_to_nodes == []


def test_the_way_back_names_the_node_that_wrote_an_error_though_another_has_its_turn(cluster):
    assert cluster.run("forward", "3")[0] == 0
    cluster.write(**{"errors-3": "[2026-11-28] ERROR no (kafka.Raft)\njava.lang.IllegalStateException"})
    cluster.write(**{"jar-3": "new"})
    code, said = cluster.run("forward")
    assert (code, "node 3 wrote: [2026-11-28] ERROR no" in said) == (1, True)
    assert re.search(r"FAILED=3 sh \S+ back 3 ", said)


def test_a_live_process_with_another_jar_stops_the_roll(cluster):
    cluster.site.write_text(cluster.site.read_text() + "\nrunning_jar() { echo abc; }\n")
    code, said = cluster.run("forward")
    assert code == 1
    assert f"the live process of node 3 holds abc open, not {'c' * 64}" in said


KNOWN = "[2026-01-01 00:00:00,000] ERROR sad (x)"
OURS = "[2026-01-01 00:00:00,000] ERROR [RaftManager] broken (org.apache.kafka.raft.KafkaRaftClient)"
REFUSED = "org.apache.kafka.common.errors.OutOfOrderSequenceException: x"
SLOW = "[2026-01-01 00:00:00,000] ERROR Exceptionally slow controller event took 2345 ms (x)"


FINE = "[2026-01-01 00:00:00,001] INFO no TERROR (x)"


@pytest.mark.parametrize(
    "lines",
    [
        (OURS, "\tat x.Y(Z.java)"),
        (FINE, OURS, FINE),
        (SLOW, "java.lang.IllegalStateException: x"),
        (OURS,),
        (OURS, "org.apache.kafka.common.errors.CorruptRecordException: x"),
    ],
)
def test_an_error_line_of_the_new_jar_stops_the_roll(cluster, lines):
    cluster.write(**{"errors-3": "\n".join(lines)})
    code, said = cluster.run("forward")
    wrote = next(line for line in lines if " ERROR " in line)
    assert (code, f"STOPPED: node 3 wrote: {wrote}." in said) == (1, True), said


def test_no_error_line_counts_that_base_writes_too_or_that_only_refuses_a_request_or_says_how_long_it_took(cluster):
    cluster.write(**{"errors-3": "\n".join((OURS, REFUSED, SLOW, FINE, KNOWN, "--", FINE, SLOW))})
    code, said = cluster.run("forward")
    assert code == 0, said


@pytest.mark.parametrize("waited", ["5.1", "", "long"])
def test_a_client_that_waits_over_its_budget_stops_the_roll_and_so_does_a_wait_that_is_none(cluster, waited):
    cluster.write(waited=waited)
    code, said = cluster.run("forward")
    assert code == 1
    assert f"a client waited {waited or 'an unknown time'} s in the turn of node 3, and 5 s are allowed" in said


def test_on_the_way_back_from_a_stop_how_long_clients_waited_stops_no_node_from_being_healed(cluster):
    cluster.write(**{"jar-3": "new", "jar-0": "new"}, waited="60")
    (cluster.folder / "running-3").unlink()
    cluster.leave_out("error_lines")
    code, said = cluster.run("back", "3", "0")
    assert code == 0, said
    assert cluster.done_to_nodes == ["install 3 base", "start 3", "stop 0", "install 0 base", "start 0"]


def test_a_way_back_from_complete_is_judged_by_its_waits_as_it_was_rehearsed(cluster):
    for node in range(4):
        cluster.write(**{f"jar-{node}": "new"})
    cluster.write(waited="60")
    code, said = cluster.run("back")
    assert (code, "a client waited 60 s in the turn of node" in said) == (1, True)


def test_who_measures_no_waits_is_asked_for_them(cluster):
    cluster.leave_out("longest_wait")
    code, said = cluster.run("forward", said="yes\n9\n", ask="yes")
    assert (code, "How many seconds did one of your clients wait" in said) == (1, True)
    assert "a client waited 9 s" in said
    code, said = cluster.run("forward")
    assert (code, "longest_wait is not defined" in said) == (2, True)


def test_a_command_that_fails_is_named_with_what_it_said(cluster):
    (cluster.folder / "bin" / "kafka-reassign-partitions.sh").write_text("#!/bin/sh\necho no such option >&2\nexit 3\n")
    code, said = cluster.run("forward")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "not so (bin/kafka-reassign-partitions.sh failed (exit 3): no such option)" in said


def test_a_check_that_cannot_be_made_is_not_met(cluster, tmp_path):
    broken = tmp_path / "path"
    broken.mkdir()
    (broken / "awk").write_text("#!/bin/sh\nexit 2\n")
    (broken / "awk").chmod(0o755)
    code, said = cluster.run("forward", ORDER="3 0 1 2", PATH=f"{broken}:{os.environ['PATH']}")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "the check could not be made" in said


def test_the_way_back_from_half_way_begins_with_a_node_that_is_down_and_checks_the_others_before(cluster):
    cluster.write(**{"jar-3": "new", "jar-0": "new"})
    (cluster.folder / "running-0").unlink()
    code, said = cluster.run("back", "0", "3")
    assert code == 0, said
    assert cluster.done_to_nodes == ["install 0 base", "start 0", "stop 3", "install 3 base", "start 3"]
    assert "node 0 is down: nothing is checked before its turn" in said


def test_a_node_that_runs_and_is_sick_goes_back_without_what_only_a_well_one_can_meet(cluster):
    """It never caught up: nothing is in sync, and it is not listed among the brokers."""
    cluster.write(**{"jar-3": "new", "under": "\tTopic: orders\tPartition: 7\tLeader: 0", "observers": ""})
    heal = f"start_node() {{ : >{cluster.folder}/under; echo 3 >{cluster.folder}/observers;"
    cluster.site.write_text(cluster.site.read_text().replace("start_node() {", heal))
    code, said = cluster.run("back", "3", FAILED="3")
    assert code == 0, said
    assert cluster.done_to_nodes == ["stop 3", "install 3 base", "start 3"]


def test_a_well_node_goes_back_with_all_checks_although_it_is_named_first(cluster):
    cluster.write(**{"jar-3": "new", "under": "\tTopic: orders\tPartition: 7\tLeader: 0"})
    code, said = cluster.run("back", "3")
    assert (code, cluster.done_to_nodes) == (1, []), said
    assert f"failed first: sh {cluster.script} back 3\n" in said, "nor does what it says then make less of them"


def test_a_node_that_is_down_is_started_before_a_sick_one_and_is_held_to_all_checks_when_that_had_its_turn(cluster):
    cluster.write(**{"jar-3": "new", "jar-1": "new", "under": "\tTopic: orders\tPartition: 7\tLeader: 0"})
    (cluster.folder / "running-1").unlink()
    heal = f"start_node() {{ [ $1 != 3 ] || : >{cluster.folder}/under;"
    cluster.site.write_text(cluster.site.read_text().replace("start_node() {", heal))
    code, said = cluster.run("back", "3", "1", FAILED="3")
    assert code == 0, said
    assert cluster.done_to_nodes == ["install 1 base", "start 1", "stop 3", "install 3 base", "start 3"]
    assert "node 3 failed: checks A are made after its turn" in said


def test_a_node_that_failed_and_is_none_of_the_cluster_is_refused(cluster):
    assert "node 9 is in neither CONTROLLER_IDS nor BROKER_IDS" in cluster.run("back", "3", FAILED="9")[1]


def test_what_the_stop_of_a_sick_node_could_harm_is_seen_to_all_the_same(cluster):
    cluster.write(**{"jar-1": "new", "at-min-isr": "Topic: orders\tPartition: 1\tReplicas: 1,0,3\tIsr: 0,1"})
    code, said = cluster.run("back", "1", FAILED="1")
    assert (code, cluster.done_to_nodes) == (1, [])
    assert "not so (orders-1 needs it)" in said


def test_nodes_that_are_down_are_all_started_before_anything_is_checked_of_the_cluster(cluster):
    cluster.write(**{"jar-1": "new", "jar-2": "new", "jar-3": "new"})
    for node in (1, 2):
        (cluster.folder / f"running-{node}").unlink()
    code, said = cluster.run("back", "3", "2", "1")
    assert code == 0, said
    started = [call.split()[1] for call in cluster.done_to_nodes if call.startswith("start")]
    assert started == ["2", "1", "3"], "those that are down first, whatever was said"
    assert "nodes 1 are down too: checks A are made when they were started" in said


def test_the_way_back_that_is_printed_names_first_who_is_down(cluster):
    """The first node that was rolled dies in the second one's turn."""
    harm = f"start_node() {{ [ $1 != 0 ] || rm -f {cluster.folder}/running-3;"
    cluster.site.write_text(cluster.site.read_text().replace("start_node() {", harm))
    code, said = cluster.run("forward")
    assert (code, "runbook.sh back 3 0\n" in said) == (1, True), said


def test_a_way_back_that_is_stopped_says_what_is_left_of_it(cluster):
    cluster.write(**{"hangs-3": "x"})
    code, said = cluster.run("back", "0", "3", "1")
    assert code == 1
    assert "runbook.sh back 3 1\n" in said


def test_leaders_that_stay_where_they_are_are_told_when_every_node_had_its_turn(cluster):
    (cluster.folder / "bin" / "kafka-leader-election.sh").write_text("#!/bin/sh\n")
    code, said = cluster.run("forward")
    assert code == 1
    assert "every partition is led by its preferred replica: not so (orders-0)" in said
    assert "Every node had its turn." in said


def test_it_does_not_roll_what_the_rehearsal_stopped_and_takes_the_way_back_all_the_same(tmp_path):
    cluster = ACluster(tmp_path, replace(sample.rollout("stopped"), plan=PASSED.plan))
    code, said = cluster.run("forward")
    assert (code, cluster.calls) == (2, [])
    assert "Do not roll: the rehearsal did not pass." in said
    assert cluster.run("back", "3")[0] == 0


def test_a_roll_that_was_not_rehearsed_is_not_begun(tmp_path):
    control = sample.rehearsal("control", (sample.turn(1, "restart", 3, "restart", "base"),), (), Outcome.PASSED)
    cluster = ACluster(tmp_path, replace(PASSED, rehearsals=(control,)))
    assert "forward and back were not rehearsed" in cluster.run("forward")[1]


def test_what_is_yours_has_to_be_said_before_anything_is_done(cluster, tmp_path):
    cluster.site.write_text("")
    code, said = cluster.run("forward")
    assert (code, cluster.calls) == (2, [])
    assert "is_running is not defined" in said
    assert "no bin/kafka-metadata-quorum.sh" in cluster.run("forward", KAFKA=str(tmp_path))[1]
    assert "cannot be read" in cluster.run("forward", COMMAND_CONFIG="nowhere")[1]
    assert cluster.run("forwards")[0] == 2
    assert cluster.run("check", "3")[0] == 2


def test_all_checks_can_be_made_once_and_change_nothing(cluster):
    code, said = cluster.run("check")
    assert (code, cluster.done_to_nodes) == (0, [])
    assert said.count("may stop") == 4
    cluster.write(**{"at-min-isr": "Topic: orders\tPartition: 1\tIsr: 0,3"})
    code, said = cluster.run("check")
    assert code == 1
    assert "node 3 may not stop: no partition with a replica to spare falls below min.insync" in said
    assert "node 1 may stop" in said


@pytest.fixture
def rolled(tmp_path):
    """Return a cluster of whole Kafkas on which every node had its turn."""
    cluster = ACluster(tmp_path, replace(sample.whole_rollout(), plan=PASSED.plan))
    features = cluster.folder / "bin" / "kafka-features.sh"
    features.write_text('#!/bin/sh\necho "features $*" >>calls\necho upgraded\n')
    features.chmod(0o755)
    for node in range(4):
        cluster.write(**{f"jar-{node}": "new"})
    return cluster


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"jar-2": "base"}, "the live process of node 2 holds"),
        (
            {"unavailable": "\tTopic: orders\tPartition: 7\tLeader: none\tReplicas: 3\tIsr: 3"},
            "every partition has a leader: not so (orders-7), 3 s long",
        ),
        ({"at-min-isr": "Topic: orders\tPartition: 1\tIsr: 0,3"}, "falls below min.insync.replicas without"),
        ({}, "node 1 is down: on base it could not start any more"),
    ],
)
def test_features_are_not_finalised_unless_every_node_runs_the_new_one_and_the_cluster_is_well(rolled, files, why):
    rolled.write(**files)
    if not files:
        (rolled.folder / "running-1").unlink()
    code, said = rolled.run("finalise")
    assert (code, why in said) == (1, True), said
    assert "No node was touched." in said
    assert not [call for call in rolled.calls if " upgrade " in call]
    assert rolled.done_to_nodes == []


def test_features_are_finalised_last_after_it_was_said_what_that_means(rolled):
    cluster = rolled
    code, said = cluster.run("finalise")
    assert code == 0, said
    assert said.index("Then there is no way back.") < said.index("upgraded")
    asked, raised = [call for call in cluster.calls if call.startswith("features")]
    assert asked.endswith(" describe")
    assert "upgrade --release-version 4.3-IV0" in raised
    before = cluster.calls[: cluster.calls.index(raised)]
    assert sum("--at-min-isr" in call for call in before) >= 4, "checks B of every node"
    assert not any(call.startswith("stop") for call in before)
    assert not any(call.startswith("install") for call in cluster.calls)
    assert [call.split()[1] for call in cluster.calls if call.startswith("stop")] == ["0", "2", "1", "3"]
    cluster.write(**{"dies-0": "x"})
    code, said = cluster.run("finalise")
    assert (code, "base is put on no node any more" in said) == (1, True)


DESCRIBED = "Feature: {}\\tSupportedMinVersion: 0\\tSupportedMaxVersion: 30\\tFinalizedVersionLevel: {}\\tEpoch: 5\\n"


def describes(cluster, feature, level):
    (cluster.folder / "bin" / "kafka-features.sh").write_text(
        f'#!/bin/sh\necho "features $*" >>calls\nprintf "{DESCRIBED.format(feature, level)}"\n'
    )


def test_voters_of_the_configuration_are_made_those_of_the_log_only_after_a_yes_of_its_own(rolled):
    describes(rolled, "kraft.version", 0)
    code, said = rolled.run("finalise")
    assert (code, "kraft.version is 0: voters are those of controller.quorum.voters" in said) == (1, True)
    assert "STOPPED: that is asked of somebody, and ASK is no." in said
    code, said = rolled.run("finalise", ask="yes", said="no\n")
    assert (code, "you did not say yes (finalise kraft.version too)" in said) == (1, True)
    assert not [call for call in rolled.calls if " upgrade " in call]
    code, said = rolled.run("finalise", ask="yes", said="yes\n" * 40)
    assert code == 0, said
    assert "leave controller.quorum.voters in the configuration until every node ignores it" in said
    describes(rolled, "kraft.version", 1)
    code, said = rolled.run("finalise")
    assert (code, "leave controller.quorum.voters" in said) == (0, False)


def test_features_are_finalised_by_the_new_kafkas_script_and_only_where_that_was_rehearsed(rolled, tmp_path):
    code, said = rolled.run("finalise", NEW_KAFKA=str(tmp_path))
    assert (code, f"NEW_KAFKA={tmp_path} has no bin/kafka-features.sh" in said) == (2, True)
    found = replace(sample.whole_rollout(), plan=PASSED.plan)
    kept = tuple(each for each in found.rehearsals if each.name != "finalised")
    (tmp_path / "other").mkdir()
    other = ACluster(tmp_path / "other", replace(found, rehearsals=kept))
    code, said = other.run("finalise")
    assert (code, "Do not finalise: that was not rehearsed." in said, other.calls) == (2, True, [])


def test_no_base_is_put_on_a_node_that_would_not_start_with_it(rolled):
    describes(rolled, "metadata.version", "4.3-IV0")
    code, said = rolled.run("back")
    assert (code, rolled.done_to_nodes) == (1, [])
    assert "metadata.version is finalised at 4.3-IV0, with which base does not start" in said
    assert "Then there is no way back." in said
    describes(rolled, "metadata.version", "UNKNOWN 30")  # as base's own script says of a level that it does not know
    code, said = rolled.run("back")
    assert (code, rolled.done_to_nodes) == (1, [])
    assert "with which base does not start" in said
    for level in ("3.9-IV0", "3.7-IV4"):
        describes(rolled, "metadata.version", level)
        assert rolled.run("back")[0] == 0, level


def test_where_nobody_says_which_features_are_finalised_somebody_is_asked_before_the_way_back(rolled):
    (rolled.folder / "bin" / "kafka-features.sh").write_text("#!/bin/sh\nexit 1\n")
    code, said = rolled.run("back", ask="yes", said="no\n")
    assert (code, "base does not start once the features are finalised" in said) == (1, True)


def test_there_is_nothing_to_finalise_where_only_a_jar_is_replaced(cluster):
    assert "there is nothing to finalise" in cluster.run("finalise")[1]


@pytest.mark.parametrize("check", [*BEFORE, *AFTER, PREFERRED_LEADERS], ids=lambda check: check.name)
def test_what_awk_looks_for_can_stand_in_single_quotes_of_a_shell(check):
    assert "'" not in check.unmet
    assert bool(check.unmet) is (check.call is not None)
