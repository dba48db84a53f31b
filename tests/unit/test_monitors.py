"""What watches every run: what each monitor reports, measures and shows."""

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.waiting import wait_until
from harness.cluster.host_accounts import RaftThreads
from harness.cluster.install import Install
from harness.cluster.node import NodeState
from harness.cluster.observed_arm import ObservedArm, mismatch
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.cluster.watch import Look
from harness.kafka.release_lines import line_of
from harness.model.events import NO_NODE, ErrorLogged, HostStalled, NodeProved, Noted, ThreadsDumped
from harness.model.incidents import IncidentKind
from harness.rundir.parts import RunFolder
from harness.scenario import full_disk
from harness.scenario.monitors import host_not_starved, node_alive
from harness.scenario.monitors.error_lines import ErrorLines
from harness.scenario.monitors.host_not_starved import HostNotStarved, RunQueueWaits
from harness.scenario.monitors.live_proof import LiveProof as ProofMonitor
from harness.scenario.monitors.node_alive import NodeAlive, last_line
from harness.scenario.monitors.one_leader_per_epoch import OneLeaderPerEpoch
from harness.scenario.monitors.quorum_progress import QuorumProgress
from harness.scenario.monitors.thread_dumps import ThreadDumps
from harness.scenario.slowness import HostInterval
from harness.scenario.verbs import monitors_of_every_run

JAR = "a" * 64
INSTALL = Install("patched-on", Path("/x/kafka-raft.jar"), JAR, "true")
PATH = "runs/turn2/patched-on/1"


class Record:
    """What monitors write down."""

    folder, flag_key, java = RunFolder(Path(), PATH), "f", "21"

    def __init__(self):
        self.events, self.incidents, self.evidence = [], [], []

    def write(self, event):
        self.events.append(event)
        return len(self.events)

    def report(self, incident, line=0):
        self.incidents.append((incident, line))

    def show(self, *evidence):
        self.evidence += evidence

    @property
    def stories(self):
        return [(incident.kind, incident.reason) for incident, _ in self.incidents]


class SomeNode:
    """A node as monitors see it."""

    id, pid, is_running, exit_code, was_started, install = 1, 42, True, 1, True, INSTALL
    was_asked_to_stop = was_stopped_while_starting = False
    line = line_of("3.9.1")

    def __init__(self, state, folder=Path("nowhere"), proof=None):
        self.state, self.folder, self._proof = state, folder, proof
        self.log_file = folder / "server.log"
        self.thread_dumps = []

    def prove(self, _key):
        if self._proof is None:
            raise Unreachable("no answer")
        return self._proof


def cluster_of(*nodes):
    return SimpleNamespace(nodes={node.id: node for node in nodes}, running=list(nodes), is_closed=False)


@pytest.fixture
def record():
    return Record()


def ready(sha256=JAR, flag="true"):
    node = SomeNode(NodeState.READY, proof=ObservedArm(42, "/x/kafka-raft.jar", sha256, flag))
    node.log_file = Path(__file__)  # any file with something in it
    return node


def test_every_run_is_watched_for_deaths_leaders_starvation_proofs_progress_and_threads():
    assert {monitor.name for monitor in monitors_of_every_run()} >= {
        "host_not_starved",
        "live_proof",
        "node_alive",
        "one_leader_per_epoch",
        "quorum_progress",
        "thread_dumps",
    }


def test_the_threads_of_a_node_that_hung_are_evidence_once(record):
    node = SomeNode(NodeState.KILLED)
    node.thread_dumps = [Path(PATH) / "nodes" / "1" / "threads-1.txt"]
    monitor = ThreadDumps(record, cluster_of(node))
    monitor.on_node(node, 1)
    monitor.on_node(node, 2)
    assert [each.path for each in record.evidence] == [f"{PATH}/nodes/1/threads-1.txt"]
    assert record.events == [ThreadsDumped(1, f"{PATH}/nodes/1/threads-1.txt")]


def test_a_node_that_runs_what_was_installed_proves_it(record):
    node = ready()
    monitor = ProofMonitor(record, cluster_of(node))
    monitor.on_node(node, 1)
    monitor.after()
    assert record.incidents == []
    assert record.events == [NodeProved(1, 42, "kafka-raft.jar", JAR, "true", "21")]


@pytest.mark.parametrize(
    ("node", "kind", "story"),
    [
        (
            ready(sha256="b" * 64),
            IncidentKind.WRONG_BUILD,
            "node 1 runs a raft jar bbbbbbbbbbbb, not the jar under test (aaaaaaaaaaaa)",
        ),
        (
            ready(sha256=""),
            IncidentKind.WRONG_BUILD,
            "node 1 runs no single raft jar, not the jar under test (aaaaaaaaaaaa)",
        ),
        (ready(flag="false"), IncidentKind.WRONG_BUILD, "node 1 reports its flag as false, not true"),
        (
            SomeNode(NodeState.READY),
            IncidentKind.NOT_PROVED,
            "what node 1 runs could not be checked: no answer",
        ),
    ],
)
def test_a_node_that_does_not_run_what_was_installed_is_reported(record, node, kind, story):
    ProofMonitor(record, cluster_of(node)).on_node(node, 1)
    assert record.stories == [(kind, story)]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_node_that_is_ready_and_has_logged_nothing_breaks_the_run(record, tmp_path, is_there):
    """Its log4j options are another library's: nothing would be compared, and no rule of Raft would be broken."""
    node = ready()
    node.log_file = tmp_path / "server.log"
    if is_there:
        node.log_file.touch()
    ProofMonitor(record, cluster_of(node)).on_node(node, 1)
    ((kind, story),) = record.stories
    assert kind is IncidentKind.HARNESS_FAILED
    assert story.startswith("node 1 is ready and wrote nothing into its server.log: ")


def test_a_node_that_was_started_and_never_proved_is_reported(record):
    one, two = ready(), ready()
    two.id = 2
    monitor = ProofMonitor(record, cluster_of(one, two))
    monitor.on_node(one, 1)
    monitor.after()
    assert record.stories == [
        (IncidentKind.NEVER_PROVED, "nodes [2] were never ready, so what they run was not checked")
    ]


def test_a_proof_of_the_install_has_no_mismatch():
    assert mismatch(ObservedArm(1, "j", JAR, "true"), INSTALL) == ""


def test_a_death_is_reported_with_the_nodes_last_words(record, tmp_path):
    node = SomeNode(NodeState.DIED, tmp_path / PATH / "nodes" / "1")
    node.log_file.parent.mkdir(parents=True)
    node.log_file.write_text("INFO fine\nERROR it broke (x)\nINFO bye\n")
    record.folder = RunFolder(tmp_path, PATH)
    NodeAlive(record, cluster_of(node)).on_node(node, 7)
    assert record.stories == [(IncidentKind.NODE_DIED, "node 1 crashed: ERROR it broke (x)")]
    assert record.incidents[0][1] == 7
    assert [(e.path, e.line) for e in record.evidence] == [(f"{PATH}/nodes/1/server.log", 3)]


def test_a_node_that_only_the_host_can_have_killed_does_not_count_against_the_build(record):
    node = SomeNode(NodeState.DIED)
    node.exit_code = -9
    NodeAlive(record, cluster_of(node)).on_node(node, 1)
    assert record.stories == [
        (IncidentKind.HARNESS_FAILED, "node 1 was killed from outside (signal 9; out of memory?)")
    ]


@pytest.mark.parametrize("state", [NodeState.STOPPED, NodeState.KILLED, NodeState.DIED])
def test_a_node_that_was_kept_from_running_is_so_no_more_once_its_process_has_ended(record, state):
    host = HostNotStarved(record, cluster_of())
    host.allow(1)
    host.on_node(SomeNode(NodeState.STOPPING), 1)
    assert host.held == {1}
    host.on_node(SomeNode(state), 2)
    assert host.held == set()


def test_a_node_that_may_die_is_noted_and_not_reported(record):
    node = SomeNode(NodeState.DIED)
    monitor = NodeAlive(record, cluster_of(node))
    monitor.allow(1)
    monitor.on_node(node, 1)
    assert (record.incidents, record.events) == ([], [Noted("it died, as it may", 1)])
    monitor.on_node(node, 2)
    assert [incident.kind for incident, _ in record.incidents] == [IncidentKind.NODE_DIED], "once: it came back since"


def test_a_node_without_logs_has_no_last_words(tmp_path):
    assert last_line(tmp_path) == ("", [])


def test_the_last_line_is_read_of_a_log_that_is_larger_than_what_is_kept_of_it(tmp_path):
    (tmp_path / "server.log").write_text("ERROR at first (x)\n" + "INFO calm (x)\n" * 5000 + "FATAL at last (x)\n")
    assert last_line(tmp_path) == (": FATAL at last (x)", [(tmp_path / "server.log", 5002)])


def test_two_leaders_of_one_epoch_break_an_invariant_even_in_different_looks(record):
    monitor = OneLeaderPerEpoch(record, cluster_of())
    monitor.on_look(Look(1.0, Quorum(0, 5, leaders=((5, 0),)), {}), 1)
    monitor.on_look(Look(1.2, Quorum(1, 5, leaders=((5, 1),)), {}), 2)
    ((incident, line),) = record.incidents
    assert (incident.kind, incident.name, line) == (IncidentKind.INVARIANT_BROKEN, "one_leader_per_epoch", 2)
    assert incident.reason == "nodes 0 and 1 both led epoch 5"


def test_a_leader_of_each_epoch_breaks_nothing(record):
    monitor = OneLeaderPerEpoch(record, cluster_of())
    monitor.on_look(Look(1.0, Quorum(0, 5, leaders=((5, 0),)), {}), 1)
    monitor.on_look(Look(1.2, Quorum(1, 6, leaders=((5, 0), (6, 1))), {}), 2)
    assert record.incidents == []


@pytest.mark.parametrize(("node", "who"), [(-1, "the harness"), (3, "node 3")])
def test_a_stall_names_the_node_or_the_harness(record, node, who):
    HostNotStarved(record, cluster_of())._note(node, 1.5)
    assert record.stories == [(IncidentKind.HOST_STALLED, f"processor: the host gave {who} none for 1.5 s")]
    assert record.events == [HostStalled(node, 1.5)]


@pytest.mark.parametrize(("clock", "jump"), [("wall", 5.0), ("wall", -5.0), ("boot", 3600.0)])
def test_a_clock_that_jumps_spoils_a_run_be_it_set_or_the_machine_suspended(monkeypatch, clock, jump):
    ahead = {"wall": 0.0, "boot": 0.0}
    monkeypatch.setattr(host_not_starved.time, "monotonic", lambda: 50.0)
    monkeypatch.setattr(host_not_starved.time, "time", lambda: 1000.0 + ahead["wall"])
    monkeypatch.setattr(host_not_starved.time, "clock_gettime", lambda _: 60.0 + ahead["boot"])
    clocks = host_not_starved.Clocks()
    assert clocks.since_last() == 0.0
    ahead[clock] += 0.5
    assert clocks.since_last() == 0.0, "as it is slowed and sped up to keep it right"
    ahead[clock] += jump
    assert (clocks.since_last(), clocks.since_last()) == (abs(jump), 0.0)


def test_a_clock_that_jumps_is_told_with_what_it_is(record):
    HostNotStarved(record, cluster_of())._report_stall(HostStalled(NO_NODE, 5.0))
    ((kind, story),) = record.stories
    assert kind is IncidentKind.HOST_STALLED
    assert story == "clock: the host's clock jumped by 5.0 s: it was set, or the host was suspended"


def test_a_short_wait_is_no_stall(record):
    HostNotStarved(record, cluster_of())._note(1, 0.9)
    assert (record.events, record.incidents) == ([], [])


def test_a_node_that_a_fault_stops_on_purpose_is_not_starved_until_it_is_watched_again(record, monkeypatch):
    looks = []
    monkeypatch.setattr(RunQueueWaits, "since_last", lambda *_: looks.append(1) or 5.0)
    monkeypatch.setattr(host_not_starved, "_LOOK_EVERY_SECONDS", 0.001)
    monitor = HostNotStarved(record, cluster_of(SomeNode(NodeState.READY)))
    monitor.allow(1)
    monitor.start()
    try:
        assert wait_until(lambda: len(looks) > 3, 10)
        assert record.incidents == []
        monitor.disallow(1)
        assert wait_until(lambda: record.incidents, 10)
    finally:
        monitor.stop()
    assert record.stories[0] == (IncidentKind.HOST_STALLED, "processor: the host gave node 1 none for 5.0 s")


def dead_node(tmp_path, log="", output="", exit_code=1):
    node = SomeNode(NodeState.DIED, tmp_path / PATH / "nodes" / "1")
    node.folder.mkdir(parents=True)
    node.log_file.write_text(log)
    (node.folder / "stdout.log").write_text(output)
    node.exit_code = exit_code
    return node


FULL_DISK = "INFO fine\nERROR Error while writing (x)\njava.io.IOException: No space left on device\n\tat A.b(A.java)\n"


@pytest.mark.parametrize(
    ("words", "resource"),
    [
        ({"log": FULL_DISK}, "disk: there was no room left for node 1, which ended"),
        ({"output": "java.io.IOException: Disk quota exceeded\n"}, "disk: there was no room left for node 1"),
        ({"output": "# There is insufficient memory for the Java Runtime Environment to continue.\n"}, "memory: the"),
    ],
)
def test_a_node_that_the_host_had_no_room_for_does_not_count_against_the_build(record, tmp_path, words, resource):
    record.folder = RunFolder(tmp_path, PATH)
    NodeAlive(record, cluster_of()).on_node(dead_node(tmp_path, **words), 7)
    ((incident, line),) = record.incidents
    assert (incident.kind, incident.name, line) == (IncidentKind.HOST_GAVE_OUT, "host_not_starved", 7)
    assert incident.reason.startswith(resource)


@pytest.mark.parametrize(
    ("free", "written", "kind"),
    [
        (5, 2**31, IncidentKind.HOST_GAVE_OUT),
        (33, 2**31, IncidentKind.NODE_DIED),
        (5, 10, IncidentKind.NODE_DIED),
    ],
    ids=["full", "room left", "filled by the nodes"],
)
def test_a_node_that_dies_on_a_full_disk_cannot_log_that(record, tmp_path, monkeypatch, free, written, kind):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free * 2**20))
    monkeypatch.setattr(full_disk, "_MOST_WRITTEN_BYTES", written)
    record.folder = RunFolder(tmp_path, PATH)
    NodeAlive(record, cluster_of()).on_node(dead_node(tmp_path, "INFO fine\n"), 7)
    assert record.incidents[0][0].kind is kind


def test_a_node_whose_disk_a_fault_has_filled_dies_by_its_own_doing(record, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    record.folder = RunFolder(tmp_path, PATH)
    monitor = NodeAlive(record, cluster_of())
    monitor.fill_disk_of(1)
    monitor.on_node(dead_node(tmp_path, FULL_DISK), 7)
    assert record.incidents[0][0].kind is IncidentKind.NODE_DIED


FATAL = (
    "ERROR Encountered fatal fault: Unexpected error in raft IO thread (org.apache.kafka.server.fault.FaultHandler)\n"
)


@pytest.mark.parametrize(
    ("log", "kind"),
    [
        (FATAL + "java.lang.IllegalStateException: no\n\tat x.Y.z(Y.java:1)\n", IncidentKind.NODE_FAULTED),
        (FATAL + "x.E: no\nCaused by: java.util.concurrent.TimeoutException: late\n", IncidentKind.NODE_DIED),
        ("ERROR Fatal error during startup\njava.lang.RuntimeException: no\n", IncidentKind.NODE_DIED),
        (FATAL + "x.E: no\n" + "INFO fine\n" * 1000, IncidentKind.NODE_DIED),
    ],
    ids=["an error", "a time-out", "no fault of a thread", "long before"],
)
def test_an_error_that_ended_a_node_is_told_from_what_a_slow_host_may_do(record, tmp_path, log, kind):
    record.folder = RunFolder(tmp_path, PATH)
    NodeAlive(record, cluster_of()).on_node(dead_node(tmp_path, log), 7)
    assert record.incidents[0][0].kind is kind


def test_a_node_that_ends_as_released_jars_do_now_and_then_is_no_evidence_against_a_build(record, tmp_path):
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(
        tmp_path, FATAL + "java.lang.IllegalArgumentException: Unexpected acknowledgement from non-voter 2\n"
    )
    NodeAlive(record, cluster_of()).on_node(node, 7)
    ((incident, _),) = record.incidents
    assert (incident.kind, incident.name) == (IncidentKind.KNOWN_CRASH, "known_crash")
    assert "(docs/upstream/leader-ends-at-late-acknowledgement.md)" in incident.reason


UNREGISTERED = (
    "[2026-11-29 00:38:30,996] ERROR Exiting Kafka due to fatal exception during startup. (kafka.Kafka$)\n"
    "java.lang.RuntimeException: Received a fatal error while waiting for the controller to acknowledge that we are "
    "caught up\n"
)


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (("voters 2", "cut 0"), IncidentKind.KNOWN_CRASH),
        (("voters 2", "cut 3"), IncidentKind.NODE_DIED),
        (("voters 2", "cut 0", "voters 2"), IncidentKind.NODE_DIED),
        (("voters 2",), IncidentKind.NODE_DIED),
    ],
    ids=["cut off", "still there", "read again", "nothing cut off"],
)
def test_a_broker_that_cannot_register_ends_as_released_jars_do_only_where_it_has_lost_its_voters(
    record, tmp_path, said, kind
):
    texts = {
        "voters": "Latest set of voters is VoterSet(voters={0=VoterNode(0 at h:1)}) at offset",
        "cut": "Truncated to offset",
    }
    lines = [(texts[word], offset) for word, _, offset in (each.partition(" ") for each in said)]
    log = "".join(
        f"[2026-11-29 00:37:3{at},308] INFO [RaftManager id=1] {text} {offset}"
        f"{' from Fetch response from leader 0' * text.startswith('Trunc')} (org.apache.kafka.raft.KafkaRaftClient)\n"
        for at, (text, offset) in enumerate(lines)
    )
    record.folder = RunFolder(tmp_path, PATH)
    NodeAlive(record, cluster_of()).on_node(dead_node(tmp_path, log + UNREGISTERED), 7)
    ((incident, _),) = record.incidents
    assert incident.kind is kind
    assert ("docs/upstream/unread-voters-after-truncation.md" in incident.reason) is (kind is IncidentKind.KNOWN_CRASH)


CLOSED = (
    "ERROR Encountered fatal fault: Unhandled fault in MetadataLoader#handleCommit. Last image offset was 258 (x)\n"
    "java.io.UncheckedIOException: Failed to read records into memory\n"
    "Caused by: java.nio.channels.ClosedChannelException\n"
)


def test_a_node_that_is_stopped_and_ends_with_an_error_as_released_jars_do_has_not_crashed(record, tmp_path):
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(tmp_path, CLOSED)
    node.was_asked_to_stop = True
    NodeAlive(record, cluster_of()).on_node(node, 7)
    assert record.incidents == []
    (noted,) = (event.text for event in record.events)
    assert noted.startswith(
        "it ended with an error when it was stopped, as nodes of released jars do now and then (docs"
    )


def test_a_node_that_is_stopped_before_it_is_up_may_end_with_any_error(record, tmp_path):
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(tmp_path, FATAL + "java.lang.NullPointerException: no\n")
    node.was_asked_to_stop = node.was_stopped_while_starting = True
    NodeAlive(record, cluster_of()).on_node(node, 7)
    assert record.incidents == []
    (noted,) = (event.text for event in record.events)
    assert noted.startswith("it ended with an error when it was stopped, before it was up: ")


@pytest.mark.parametrize(("asked", "log"), [(False, CLOSED), (True, FATAL + "java.lang.IllegalStateException: no\n")])
def test_by_that_error_unasked_and_by_another_one_when_stopped_a_node_crashes(record, tmp_path, asked, log):
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(tmp_path, log)
    node.was_asked_to_stop = asked
    NodeAlive(record, cluster_of()).on_node(node, 7)
    assert record.incidents[0][0].kind is IncidentKind.NODE_FAULTED


def test_nodes_that_filled_the_disk_themselves_have_crashed(record, tmp_path, monkeypatch):
    monkeypatch.setattr(full_disk, "_MOST_WRITTEN_BYTES", 10)
    record.folder = RunFolder(tmp_path, PATH)
    NodeAlive(record, cluster_of()).on_node(dead_node(tmp_path, FULL_DISK), 7)
    assert record.incidents[0][0].kind is IncidentKind.NODE_DIED


def test_folders_that_go_while_the_size_of_all_is_taken_do_no_harm(record, tmp_path, monkeypatch):
    record.folder = RunFolder(tmp_path, PATH)
    dead = dead_node(tmp_path, FULL_DISK)
    partitions = [record.folder.nodes / "2" / "data" / f"t-{number}.abc-delete" for number in range(2)]
    for partition in partitions:
        partition.mkdir(parents=True)
        (partition / "0.log").touch()
    lstat = Path.lstat

    def deleted_meanwhile(path):
        if path.name == "0.log":
            for partition in partitions:
                shutil.rmtree(partition, ignore_errors=True)
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", deleted_meanwhile)
    NodeAlive(record, cluster_of()).on_node(dead, 7)
    assert record.incidents[0][0].kind is IncidentKind.HOST_GAVE_OUT


def test_a_disk_that_was_full_long_before_a_death_did_not_cause_it(record, tmp_path):
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(tmp_path, FULL_DISK + "INFO fine\n" * 1000 + "ERROR it broke\n")
    NodeAlive(record, cluster_of()).on_node(node, 7)
    assert record.stories == [(IncidentKind.NODE_DIED, "node 1 crashed: ERROR it broke")]


@pytest.fixture
def kills(monkeypatch):
    """How many processes the kernel has ended for want of memory, and how large a node is."""
    state = SimpleNamespace(count=3, bytes=400)
    monkeypatch.setattr(node_alive, "out_of_memory_kills", lambda: state.count)
    monkeypatch.setattr(node_alive, "resident_bytes", lambda _: state.bytes)
    return state


@pytest.mark.parametrize(
    ("grown_to", "kind", "story"),
    [
        (700, IncidentKind.HOST_GAVE_OUT, "memory: the kernel's out-of-memory killer ended node 1"),
        (1700, IncidentKind.NODE_DIED, "node 1 was killed by the kernel for the memory that it took"),
    ],
    ids=["of its usual size", "grown fourfold"],
)
def test_a_node_that_the_kernel_ended_for_memory_is_the_hosts_unless_it_took_the_memory_itself(
    record, tmp_path, kills, grown_to, kind, story
):
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(tmp_path, exit_code=-9)
    monitor = NodeAlive(record, cluster_of(node))
    node.state = NodeState.READY
    monitor.on_node(node, 1)
    kills.bytes = grown_to
    monitor.on_look(Look(1.0, Quorum(), {}), 2)
    node.state, kills.count = NodeState.DIED, 4
    monitor.on_node(node, 7)
    assert record.stories == [(kind, story)]


NO_THREAD = "java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory or process limits\n"


@pytest.mark.parametrize(
    ("threads", "words", "kind"),
    [
        (100, NO_THREAD, IncidentKind.HOST_GAVE_OUT),
        (4000, NO_THREAD, IncidentKind.NODE_DIED),
        (0, NO_THREAD, IncidentKind.NODE_DIED),
        (100, "java.lang.OutOfMemoryError: Java heap space\n", IncidentKind.NODE_DIED),
    ],
    ids=["a limit", "a leak", "never seen", "no thread's matter"],
)
def test_a_node_that_gets_no_thread_is_the_hosts_unless_it_has_many(
    record, tmp_path, monkeypatch, threads, words, kind
):
    monkeypatch.setattr(node_alive, "threads_of", lambda _: threads)
    record.folder = RunFolder(tmp_path, PATH)
    node = dead_node(tmp_path, words)
    monitor = NodeAlive(record, cluster_of(node))
    monitor.on_look(Look(1.0, Quorum(), {}), 2)
    monitor.on_node(node, 7)
    assert record.incidents[0][0].kind is kind
    assert record.incidents[0][0].reason.startswith("threads: a limit") == (kind is IncidentKind.HOST_GAVE_OUT)


def test_how_a_node_ends_when_the_plan_is_over_is_no_crash(record, tmp_path):
    monitor = NodeAlive(record, cluster_of())
    monitor.stop()
    monitor.on_node(dead_node(tmp_path, "ERROR it broke\n"), 7)
    assert record.incidents == []


def test_a_disk_that_runs_full_ends_the_plan_before_nodes_and_journal_are_cut(record, monkeypatch, tmp_path):
    record.folder = RunFolder(tmp_path, PATH)
    monitor = HostNotStarved(record, cluster_of())
    monitor._measure()
    assert record.incidents == []
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=5 * 2**20))
    monitor._measure()
    monitor._measure()
    ((kind, story),) = record.stories
    assert kind is IncidentKind.HOST_GAVE_OUT
    assert story.startswith("disk: only 5 MiB are free")


def test_a_disk_that_the_nodes_themselves_filled_is_their_doing(record, monkeypatch, tmp_path):
    record.folder = RunFolder(tmp_path, PATH)
    log = record.folder.nodes / "1" / "logs" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_bytes(b"INFO again\n" * 10_000)
    monkeypatch.setattr(full_disk, "_MOST_WRITTEN_BYTES", 100_000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=5 * 2**20))
    HostNotStarved(record, cluster_of())._measure()
    ((incident, _),) = record.incidents
    assert (incident.kind, incident.name) == (IncidentKind.NODE_FAULTED, "node_alive")
    assert incident.reason.startswith("the nodes wrote 0.0 GiB: disk: only 5 MiB are free")


def test_a_node_whose_waits_cannot_be_seen_is_named_once(record, monkeypatch):
    monkeypatch.setattr(host_not_starved, "_LOOK_EVERY_SECONDS", 0.001)
    node = SomeNode(NodeState.READY)
    node.pid = os.getpid()  # a process without a raft thread
    monitor = HostNotStarved(record, cluster_of(node))
    monitor.start()
    try:
        assert wait_until(lambda: record.events, 10)
        wait_until(lambda: False, 0.1)
    finally:
        monitor.stop()
    assert record.events == [
        Noted("its single waits for a processor cannot be seen: it has no thread kafka-1-raft-io", 1)
    ]
    assert monitor.measures()["nodes_with_unseen_waits"] == 1


def test_where_every_nodes_waits_are_seen_no_figure_says_otherwise(record, raft_thread):
    monitor = HostNotStarved(record, cluster_of(SomeNode(NodeState.READY)))
    monitor._look_at_nodes(RunQueueWaits())
    assert record.events == []
    assert "nodes_with_unseen_waits" not in monitor.measures()


def test_a_node_that_is_up_only_when_the_look_is_over_is_not_called_unseen(record, monkeypatch):
    node = SomeNode(NodeState.STARTING)
    waits = RunQueueWaits()
    monkeypatch.setattr(waits, "since_last", lambda node: setattr(node, "state", NodeState.READY) or 0.0)
    monkeypatch.setattr(waits, "unseen", lambda _: "it has no thread kafka-1-raft-io")
    monitor = HostNotStarved(record, cluster_of(node))
    monitor._look_at_nodes(waits)
    assert record.events == []
    monitor._look_at_nodes(waits)
    assert len(record.events) == 1


@pytest.mark.parametrize(("seen_before", "unseen"), [(True, False), (False, True)])
def test_a_thread_that_was_seen_and_is_gone_has_ended_and_hid_nothing(raft_thread, monkeypatch, seen_before, unseen):
    waits, node = RunQueueWaits(), SomeNode(NodeState.READY)
    if seen_before:
        waits.since_last(node)

    def gone(*_):
        raise FileNotFoundError("schedstat")

    monkeypatch.setattr(RaftThreads, "task", gone)
    assert waits.since_last(node) == 0.0
    assert bool(waits.unseen(node)) is unseen


@pytest.fixture
def raft_thread(monkeypatch):
    """What the kernel says of a raft thread: seconds waited, whether it is runnable, and the time."""
    thread = SimpleNamespace(waited=0.0, runnable=False, now=100.0)

    class Task:
        name = "7"

        def __truediv__(self, _):
            return SimpleNamespace(read_text=lambda: f"0 {int(thread.waited * 1e9)} 3")

    monkeypatch.setattr(RaftThreads, "task", lambda *_: Task())
    monkeypatch.setattr(RunQueueWaits, "_stopped_for", lambda *_: 0.0)
    monkeypatch.setattr(host_not_starved, "is_runnable", lambda *_: thread.runnable)
    monkeypatch.setattr(host_not_starved.time, "monotonic", lambda: thread.now)
    return thread


@pytest.mark.parametrize(("was_runnable", "seen"), [(True, 3.0), (False, 0.2)])
def test_only_a_thread_that_was_runnable_all_the_time_has_waited(raft_thread, was_runnable, seen):
    waits, node = RunQueueWaits(), SomeNode(NodeState.READY)
    assert waits.since_last(node) == 0.0
    raft_thread.runnable = was_runnable
    for _ in range(15):
        raft_thread.now += 0.2
        waits.since_last(node)
    raft_thread.now, raft_thread.waited = raft_thread.now + 0.2, 3.0
    assert waits.since_last(node) == pytest.approx(seen)


def test_waits_that_the_runs_own_nodes_cause_are_not_the_hosts(record):
    monitor = HostNotStarved(record, cluster_of())
    monitor._intervals.append(HostInterval(1.0, 1.0, 2, own=1.9, others=0.1))
    monitor._note(1, 5.0)
    assert record.incidents == []
    monitor._intervals.append(HostInterval(2.0, 1.0, 2, own=0.2, others=1.8))
    monitor._note(1, 5.0)
    assert record.stories == [(IncidentKind.HOST_STALLED, "processor: the host gave node 1 none for 5.0 s")]


def test_a_host_on_which_next_to_nothing_gets_done_spoils_the_run(record, monkeypatch):
    monitor = HostNotStarved(record, cluster_of())
    slow = iter(HostInterval(time.monotonic() + at, 1.0, 2, {(1, "raft"): 0.95}, 0.1, 1.9) for at in range(20))
    monkeypatch.setattr(monitor._meter, "reading", lambda _: next(slow))
    monitor._measure()
    monitor._measure()
    assert [kind for kind, _ in record.stories] == [IncidentKind.HOST_STALLED]
    assert record.stories[0][1].startswith("processor: node 1 (raft) waited for a processor for 95%")


def voters_run(*nodes):
    return SimpleNamespace(nodes={}, running=[SimpleNamespace(id=node, state=NodeState.READY) for node in nodes])


def figures(record, *looks):
    progress = QuorumProgress(record, voters_run(0, 1, 3))
    for at, leader, epoch, high_watermark, end, observer in looks:
        quorum = Quorum(leader, epoch, high_watermark, {leader: end} if leader >= 0 else {}, {3: observer})
        progress.on_look(Look(at, quorum, {}), 0)
    return progress.measures()


def test_a_quorum_that_gets_on_pauses_for_a_no_op_at_most(record):
    found = figures(record, (0.0, 1, 2, 10, 10, 10), (0.5, 1, 2, 11, 11, 10), (1.0, 1, 2, 12, 12, 12))
    assert found == {
        "elections_beyond_faults": 0,
        "leader_changes": 0,
        "leaderless_seconds": 0.0,
        "high_watermark_pause_seconds": 0.5,
        "observer_lag_records": 1,
    }


def test_an_election_is_counted_once_and_its_pause_lasts_until_the_high_watermark_grows(record):
    found = figures(
        record,
        (0.0, 1, 2, 10, 10, 10),
        (0.5, -1, -1, -1, -1, 10),
        (2.0, 0, 3, 10, 11, 10),
        (2.5, 0, 3, 12, 12, 10),
        (3.0, 0, 3, 13, 13, 13),
    )
    assert found == {
        "elections_beyond_faults": 1,
        "leader_changes": 1,
        "leaderless_seconds": 1.5,
        "high_watermark_pause_seconds": 2.5,
        "observer_lag_records": 2,
    }


def test_epochs_that_burn_while_nothing_happens_to_a_leader_are_counted(record):
    looks = [(0.4 * at, at % 2, 2 + at, 10 + at, 10 + at, 10) for at in range(26)]
    assert figures(record, *looks)["elections_beyond_faults"] == 25


def test_one_election_for_each_leader_that_goes_is_none_too_many(record):
    progress = QuorumProgress(record, voters_run(0, 1))
    for at, (leader, epoch) in enumerate([(1, 2), (2, 3), (0, 7)]):
        progress.on_look(Look(float(at), Quorum(leader, epoch, 10, {leader: 10}, {}), {}), 0)
        if leader:
            progress.on_node(SimpleNamespace(id=leader, state=NodeState.DIED), 0)
    found = progress.measures()
    assert (found["elections_per_fault"], found["elections_beyond_faults"]) == (2.5, 3)


def test_a_leader_that_is_held_has_gone_once_even_if_a_look_still_names_it(record):
    host = HostNotStarved(record, cluster_of())
    progress = QuorumProgress(record, voters_run(0, 1, 2))
    progress.meet([host])
    led = Quorum(0, 2, 10, {0: 10, 1: 10, 2: 10})
    progress.on_look(Look(0.0, led, {}), 0)
    host.allow(0)
    progress.on_look(Look(0.2, led, {}), 0)
    progress.on_look(Look(0.4, Quorum(), {}), 0)
    progress.on_look(Look(2.0, replace(led, leader=1, epoch=3), {}), 0)
    host.disallow(0)
    progress.on_look(Look(3.0, replace(led, leader=1, epoch=3), {}), 0)
    found = progress.measures()
    assert (found["elections_per_fault"], found["elections_beyond_faults"]) == (1.0, 0)


def test_a_pause_that_has_not_ended_counts(record):
    assert figures(record, (0.0, 1, 2, 10, 10, 10), (9.0, 1, 2, 10, 10, 10))["high_watermark_pause_seconds"] == 9.0


def test_time_in_which_a_majority_is_held_or_stopped_is_no_time_without_a_leader(record):
    """A plan may take it away for long, and what is longer for that raises the limit of what a candidate may have."""
    host = HostNotStarved(record, cluster_of())
    progress = QuorumProgress(record, voters_run(0, 1, 2))
    progress.meet([host])
    led, nobody = Quorum(0, 2, 10, {0: 10, 1: 10, 2: 10}), Quorum()

    def looks(*at, quorum=nobody):
        for each in at:
            progress.on_look(Look(each, quorum, {}), 0)

    looks(0.0, quorum=led)
    for node in (1, 2):
        host.allow(node)
    looks(2.0, quorum=led)
    looks(4.0, 30.0)
    host.disallow(1)
    looks(31.0, 32.0)
    looks(33.0, quorum=replace(led, epoch=9, high_watermark=12))
    assert progress.measures()["leaderless_seconds"] == 3.0
    assert progress.measures()["high_watermark_pause_seconds"] == 3.0
    progress.cluster.running.pop()
    progress.cluster.running.pop()
    looks(34.0, 60.0)
    assert progress.measures()["leaderless_seconds"] == 3.0


def test_an_observer_that_has_not_fetched_yet_is_not_behind(record):
    assert figures(record, (0.0, 1, 2, 10, 10, -1))["observer_lag_records"] == 0


def test_an_observer_that_does_not_run_is_held_or_only_starts_is_not_behind(record):
    """The leader names one that is dead for five minutes (LeaderState.OBSERVER_SESSION_TIMEOUT_MS)."""
    host = HostNotStarved(record, cluster_of())
    progress = QuorumProgress(record, voters_run(0, 1, 2, 3, 4, 5))
    progress.meet([host])
    host.allow(3)
    progress.cluster.running[4].state = NodeState.STARTING
    lags = {3: 100, 4: 200, 5: 3590, 6: 100}
    progress.on_look(Look(1.0, Quorum(0, 1, 3600, {0: 3600, 1: 3600, 2: 3600}, lags), {}), 0)
    assert progress.measures()["observer_lag_records"] == 10


STAMP = "[2026-11-22 10:00:00,000] "
ERROR, INFO = f"{STAMP}ERROR it broke (x)\n", f"{STAMP}INFO fine (x)\n"
REFUSED = "org.apache.kafka.common.errors.OutOfOrderSequenceException: no\n"


@pytest.fixture
def logging_node(tmp_path):
    node = SomeNode(NodeState.READY, tmp_path)
    node.log_file.write_text(INFO)
    return node


BASE_INSTALL = Install("base", Path("x.jar"), JAR, "")


def errors_of(record, node, known=()):
    monitor = ErrorLines(record, cluster_of(node), "base", known)
    start(monitor, node, node.install)
    return monitor


def start(monitor, node, install):
    """Start a node on a build, as a turn does: it is installed while the node is down."""
    node.install, node.state = install, NodeState.STARTING
    monitor.on_node(node, 1)
    node.state = NodeState.READY


def write(node, *lines):
    with node.log_file.open("a") as stream:
        stream.writelines(lines)


def test_an_error_line_counts_once_the_line_after_it_is_there(record, logging_node):
    monitor = errors_of(record, logging_node)
    write(logging_node, ERROR)
    assert monitor.news() == []
    write(logging_node, INFO)
    (found,) = monitor.news()
    assert (found.node, found.line, found.text) == (1, 2, ERROR.strip())
    assert monitor.news() == []
    assert record.events == [found]


def test_the_last_line_of_a_log_counts_at_the_second_look(record, logging_node):
    monitor = errors_of(record, logging_node)
    write(logging_node, ERROR)
    assert [len(monitor.news()) for _ in range(3)] == [0, 1, 0]


@pytest.mark.parametrize(
    ("install", "below", "known"),
    [
        (BASE_INSTALL, INFO, ()),
        (INSTALL, REFUSED, ()),
        (INSTALL, INFO, ("ERROR it broke (x)",)),
    ],
    ids=["base wrote it", "a client's request was refused", "base's own roll writes it too"],
)
def test_an_error_line_does_not_count_against_the_candidate_if(record, logging_node, install, below, known):
    logging_node.install = install
    monitor = errors_of(record, logging_node, known)
    write(logging_node, ERROR, below, INFO)
    assert monitor.news() == []
    assert [type(event) for event in record.events] == [ErrorLogged]


@pytest.mark.parametrize(
    ("said", "below"),
    [
        ("Encountered metadata loading fault: no", "org.apache.kafka.common.errors.UnsupportedVersionException: x\n"),
        ("Encountered metadata publishing fault: it took 12 ms", INFO),
        ("Snapshot 7 is corrupt and was deleted, the check took 12 ms", INFO),
    ],
)
def test_a_fault_counts_whatever_stands_below_it_and_however_long_it_took(record, logging_node, said, below):
    monitor = errors_of(record, logging_node)
    write(logging_node, f"{STAMP}ERROR {said} (x)\n", below, INFO)
    assert [(found.refused, found.timed) for found in monitor.news()] == [(False, False)]


@pytest.mark.parametrize(
    "error", ["CorruptRecord", "KafkaStorage", "InconsistentClusterId", "UnknownServer", "Serialization"]
)
def test_an_error_of_which_no_client_tells_counts(record, logging_node, error):
    monitor = errors_of(record, logging_node)
    write(logging_node, ERROR, f"org.apache.kafka.common.errors.{error}Exception: it is bad\n", INFO)
    assert [found.refused for found in monitor.news()] == [False]


SLOW = f"{STAMP}ERROR Exceptionally slow controller event handleCommit[baseOffset=0] took 2212 ms. (x)\n"


@pytest.mark.parametrize("below", [(INFO,), ()], ids=["with a line below it", "the last line"])
def test_an_error_that_only_says_how_long_something_took_does_not_count(record, logging_node, below):
    monitor = errors_of(record, logging_node)
    write(logging_node, SLOW, *below)
    assert [monitor.news() for _ in range(3)] == [[], [], []]
    assert [event.timed for event in record.events] == [True]


@pytest.mark.parametrize(
    ("line", "below"),
    [
        (SLOW, "java.lang.IllegalStateException: gone\n"),
        (SLOW, "\tat org.example.Main.main(Main.java:1)\n"),
        (SLOW, "Caused by: x\n"),
        (f"{STAMP}ERROR it took a lock in vain (x)\n", INFO),
        (f"{STAMP}ERROR it took 3 records (x)\n", INFO),
    ],
)
def test_an_error_with_an_exception_below_it_counts_however_long_it_took_and_so_does_one_without_a_duration(
    record, logging_node, line, below
):
    monitor = errors_of(record, logging_node)
    write(logging_node, line, below, INFO)
    assert len(monitor.news()) == 1


def test_what_base_wrote_once_counts_no_more_when_the_candidate_writes_it(record, logging_node):
    logging_node.install = BASE_INSTALL
    monitor = errors_of(record, logging_node)
    write(logging_node, ERROR, INFO)
    monitor.news()
    start(monitor, logging_node, INSTALL)
    write(logging_node, ERROR, INFO)
    assert monitor.news() == []


@pytest.mark.parametrize("ending", [(), (INFO,)], ids=["its last line", "a line before its last"])
def test_what_base_writes_as_it_stops_is_not_charged_to_the_build_that_takes_its_place(record, logging_node, ending):
    logging_node.install = BASE_INSTALL
    monitor = errors_of(record, logging_node)
    logging_node.state = NodeState.STOPPED
    write(logging_node, ERROR, *ending)
    start(monitor, logging_node, INSTALL)
    assert monitor.news() == []
    assert [event.on_base for event in record.events] == [True]


@pytest.mark.parametrize("ending", [(), (INFO,)], ids=["its last line", "a line before its last"])
def test_what_the_candidate_writes_as_it_stops_counts_then_and_later(record, logging_node, ending):
    monitor = errors_of(record, logging_node)
    logging_node.state = NodeState.STOPPED
    write(logging_node, ERROR, *ending)
    start(monitor, logging_node, BASE_INSTALL)
    assert [event.on_base for event in monitor.news()] == [False]
    start(monitor, logging_node, INSTALL)
    write(logging_node, ERROR, INFO)
    assert len(monitor.news()) == 1


FAULT = f"{STAMP}ERROR Encountered metadata loading fault: no such record (x)\n"


@pytest.mark.parametrize(("line", "counts"), [(FAULT, True), (ERROR, False)], ids=["a fault", "any other"])
def test_a_fault_that_base_meets_beside_the_candidate_may_be_of_what_that_wrote(record, tmp_path, line, counts):
    nodes = [SomeNode(NodeState.READY, tmp_path / str(number)) for number in (1, 2)]
    for number, node in enumerate(nodes, 1):
        node.id = number
        node.log_file.parent.mkdir(parents=True, exist_ok=True)
        node.log_file.write_text(INFO)
    monitor = ErrorLines(record, cluster_of(*nodes), "base", ())
    for node in nodes:
        start(monitor, node, BASE_INSTALL)
    start(monitor, nodes[1], INSTALL)
    write(nodes[0], line, INFO)
    assert [event.on_base for event in monitor.news()] == [True] * counts
    write(nodes[1], line, INFO)
    assert len(monitor.news()) == counts


def test_a_fault_that_base_meets_before_the_candidate_is_there_is_its_own(record, logging_node):
    logging_node.install = BASE_INSTALL
    monitor = errors_of(record, logging_node)
    write(logging_node, FAULT, INFO)
    start(monitor, logging_node, INSTALL)
    assert monitor.news() == []


def test_what_is_installed_by_now_does_not_matter_to_a_node_that_was_not_started_on_it(record, logging_node):
    logging_node.install = BASE_INSTALL
    monitor = errors_of(record, logging_node)
    write(logging_node, ERROR, INFO)
    logging_node.install = INSTALL
    assert monitor.news() == []


def test_lines_that_have_stopped_a_roll_are_forgotten_to_the_last(record, logging_node):
    monitor = errors_of(record, logging_node)
    write(logging_node, ERROR, INFO, ERROR)
    monitor.forget()
    assert monitor.news() == []
    write(logging_node, ERROR, INFO)
    assert len(monitor.news()) == 1
