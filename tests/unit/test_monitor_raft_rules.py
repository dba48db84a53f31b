"""The monitor of Raft's rules: when it reads what nodes say, what it journals of it, and what it reports."""

import json
import time
from types import SimpleNamespace

import pytest

from harness.cluster.address import Address
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.kafka.release_lines import Mode, line_of
from harness.model.events import Noted, RoleChanged
from harness.model.incidents import Incident, IncidentKind
from harness.model.runs import Evidence
from harness.rundir.parts import RunFolder
from harness.scenario.monitors.raft_rules import RaftRules
from harness.scenario.slowness import Slowness
from harness.scenario.verbs import monitors_of_every_run

PATH = "runs/turn2/stock/1"
UNATTACHED = "Unattached(epoch={0}, votedKey=null, voters=[0, 1, 2], electionTimeoutMs=4, highWatermark=Optional.empty)"
FOLLOWER = "FollowerState(fetchTimeoutMs=2000, epoch={0}, leader={1}, leaderEndpoints=x, voters=[0], highWatermark=x)"
CANDIDATE = "CandidateState(localId=0, localDirectoryId=x,epoch={0}, retries=1, voteStates=x, electionTimeoutMs=1)"
LEADER = "Leader(localReplicaKey=x, epoch={0}, epochStartOffset=4, highWatermark=Optional.empty, voterStates={{}})"


class Record:
    """What the monitor writes down."""

    def __init__(self, root):
        self.folder = RunFolder(root, PATH)
        self.events, self.incidents, self.evidence = [], [], []

    def write(self, event):
        self.events.append(event)
        return len(self.events)

    def report(self, incident, line=0):
        self.incidents.append((incident, line))

    def show(self, *evidence):
        self.evidence += evidence

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


class LoggingNode:
    """A node that has a log and a disk."""

    was_started = True

    def __init__(self, number, folder):
        self.id, self.state, self.line = number, NodeState.READY, line_of("3.9.1")
        self.config = SimpleNamespace(controller=Address("h", number))
        self.log_file = folder / str(number) / "server.log"
        self.figures_file = folder / str(number) / "figures.txt"
        self.metadata_log = folder / str(number) / "data" / "__cluster_metadata-0"
        self.metadata_log.mkdir(parents=True)
        self.format()

    def format(self):
        for name in ("../meta.properties", "partition.metadata"):
            (self.metadata_log / name).unlink(missing_ok=True)
            (self.metadata_log / name).write_text("")

    def went(self, before, state, ago=0.0, word="Completed", log=""):
        """Log a step from one state to another."""
        self._says("QuorumState", f"{word} transition to {state} from {before}", ago, log)

    def applies(self, kraft_version, ago):
        """Log that a KRaftVersionRecord was read."""
        told = f"Latest kraft.version is KRAFT_VERSION_{kraft_version} at offset 2"
        self._says("internals.KRaftControlRecordStateMachine", told, ago)

    def _says(self, logger, text, ago, log=""):
        at = time.time() - ago
        stamp = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(at))},{int(at % 1 * 1000):03d}"
        with (self.log_file.with_name(log) if log else self.log_file).open("a") as stream:
            stream.write(f"[{stamp}] INFO [RaftManager id={self.id}] {text} (org.apache.kafka.raft.{logger})\n")

    def counts(self, state, epoch, leader, ago):
        """Have metrics tell of a state."""
        with self.figures_file.open("a") as stream:
            told = f"current-state={state} current-epoch={epoch} current-leader={leader}"
            stream.write(f"{(time.time() - ago) * 1000:.0f} {told}\n")


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path)


@pytest.fixture
def nodes(record):
    return [LoggingNode(number, record.folder.nodes) for number in range(3)]


@pytest.fixture
def watching(record, nodes):
    endpoints = {node.id: node.config.controller for node in nodes}
    cluster = SimpleNamespace(
        nodes={node.id: node for node in nodes},
        voters=nodes,
        endpoints=endpoints,
        running=nodes,
        topology=SimpleNamespace(voter_ids=(0, 1, 2)),
    )
    return RaftRules(record, cluster)


def look(at=0.0, fetched=None, epoch=2):
    leaders = {0: fetched} if fetched else {}
    return Look(at, Quorum(0, epoch, 9, leaders=((epoch, 0),), fetched=leaders), {})


def entered(watching, node, state):
    node.state = state
    watching.on_node(node, 1)


def test_every_run_is_watched_by_it():
    assert RaftRules in monitors_of_every_run()


def test_nodes_without_kraft_are_not_watched():
    assert RaftRules.modes == (Mode.KRAFT,)


@pytest.mark.parametrize(("epoch", "broken"), [(2, []), (1, ["quorum_state_agrees"])])
def test_what_nodes_become_when_they_are_asked_to_stop_counts_for_their_files_and_no_metrics_of_then_do(
    record, nodes, watching, epoch, broken
):
    follower, candidate = FOLLOWER.format(1, 1), CANDIDATE.format(2)
    for word in ("Attempting durable", "Completed"):
        nodes[0].went("null", follower, ago=60.0, word=word)
    for ago in range(50, 40, -1):
        nodes[0].counts("follower", 1, 1, ago)
    watching.stop()
    for word in ("Attempting durable", "Completed"):
        nodes[0].went(follower, candidate, ago=-1.0, word=word, log="shutdown.log")
    for after in range(1, 11):
        nodes[0].counts("candidate", 2, -1, -after)
    voted = 0 if epoch == 2 else -1
    state = {"leaderId": -1, "leaderEpoch": epoch, "votedId": voted, "data_version": 1}
    (nodes[0].metadata_log / "quorum-state").write_text(json.dumps(state))
    watching.after()
    assert [incident.name for incident, _ in record.incidents] == broken


def test_what_a_node_becomes_is_journaled_with_the_line_and_the_age_of_what_it_logged(record, nodes, watching):
    nodes[1].went("null", UNATTACHED.format(1), ago=3.0)
    nodes[1].went(UNATTACHED.format(1), FOLLOWER.format(1, 0))
    watching.on_look(look(100.0), 1)
    first, second = record.of(RoleChanged)
    assert first == RoleChanged(1, "unattached", 1, ago=first.ago, line=1)
    assert second == RoleChanged(1, "follower", 1, 0, second.ago, 2)
    assert (3.0 <= first.ago < 5.0, second.ago < 2.0) == (True, True)
    assert watching.measures() == {"raft_steps_judged": 2, "endpoint_unregistered_seconds": 0.0}


RESIGNED = "ResignedState(localId=0, epoch={0}, voters=[0, 1, 2], electionTimeoutMs=1762, unackedVoters=[1, 2], x"


def stood_after(nodes, watching, seconds, state=NodeState.STOPPED):
    """Node 0, which leads epoch 2, is asked to stop; node 1 stands so much after its resignation, in vain at first."""
    nodes[0].went("null", FOLLOWER.format(1, 1), ago=60)
    nodes[0].went(FOLLOWER.format(1, 1), CANDIDATE.format(2), ago=50)
    nodes[0].went(CANDIDATE.format(2), LEADER.format(2), ago=49)
    nodes[1].went("null", FOLLOWER.format(2, 0), ago=48)
    entered(watching, nodes[0], NodeState.STOPPING)
    nodes[0].went(LEADER.format(2), RESIGNED.format(2))
    entered(watching, nodes[0], state)
    nodes[1].went(FOLLOWER.format(2, 0), CANDIDATE.format(3), ago=-seconds)
    nodes[1].went(CANDIDATE.format(3), CANDIDATE.format(4), ago=-seconds - 2)
    nodes[1].went(CANDIDATE.format(4), LEADER.format(4), ago=-seconds - 2)


@pytest.mark.parametrize("seconds", [0.1, 1.9])
def test_how_long_nobody_stands_after_a_leader_was_stopped_is_measured(nodes, watching, seconds):
    stood_after(nodes, watching, seconds)
    watching.after_fault()
    watching.stop()
    watching.after()
    assert watching.measures()["successor_stands_seconds"] == pytest.approx(seconds, abs=0.05)


def test_a_leader_that_is_killed_in_a_fault_or_after_the_plan_has_no_successor(nodes, watching):
    stood_after(nodes, watching, 1.0, NodeState.KILLED)
    watching.after()
    assert "successor_stands_seconds" not in watching.measures()


def test_what_another_fault_does_meanwhile_does_not_count(nodes, watching):
    entered(watching, nodes[0], NodeState.STOPPING)
    watching.after_fault()
    entered(watching, nodes[0], NodeState.STOPPED)
    assert watching._stops == []


def test_a_leader_without_whom_nobody_can_be_elected_has_no_successor(nodes, watching):
    watching.cluster.running = nodes[:2]
    stood_after(nodes, watching, 1.0)
    watching.after()
    assert "successor_stands_seconds" not in watching.measures()


def test_logs_are_read_once_a_second(record, nodes, watching):
    watching.on_look(look(100.0), 1)
    nodes[1].went("null", UNATTACHED.format(1))
    watching.on_look(look(100.5), 1)
    assert record.of(RoleChanged) == []
    watching.on_look(look(101.1), 1)
    assert len(record.of(RoleChanged)) == 1


def test_a_rule_that_is_broken_is_reported_by_its_name_with_the_lines_that_show_it(record, nodes, watching):
    nodes[0].went("null", UNATTACHED.format(1))
    nodes[0].went(UNATTACHED.format(1), LEADER.format(2))
    watching.after_fault()
    reason = "node 0: Leader does not follow Unattached"
    ((incident, line),) = record.incidents
    assert incident == Incident(IncidentKind.INVARIANT_BROKEN, "legal_transitions", reason)
    assert record.events[line - 1] == Noted(f"legal_transitions: {reason}")
    assert record.evidence == [
        Evidence(f"{PATH}/nodes/0/server.log", 2, "legal_transitions: what node 0 says"),
    ]


def test_each_rule_is_reported_once(record, nodes, watching):
    for epoch in (2, 4):
        nodes[0].went(UNATTACHED.format(epoch), LEADER.format(epoch))
    watching.after_fault()
    watching.after_fault()
    watching.after()
    assert [incident.name for incident, _ in record.incidents] == ["legal_transitions"]


def test_two_leaders_of_an_epoch_are_found_in_two_logs(record, nodes, watching):
    for node in nodes[:2]:
        node.went(UNATTACHED.format(2), CANDIDATE.format(3))
        node.went(CANDIDATE.format(3), LEADER.format(3))
    watching.after()
    assert "one_leader_per_epoch" in [incident.name for incident, _ in record.incidents]
    assert {(each.path[-18:], each.line) for each in record.evidence} >= {
        ("nodes/0/server.log", 2),
        ("nodes/1/server.log", 2),
    }


def test_metrics_that_disagree_with_the_log_are_found_once_every_node_has_ended(record, nodes, watching):
    nodes[1].went("null", FOLLOWER.format(3, 0), ago=9)
    lines = (f"{(time.time() - ago) * 1000:.0f} current-epoch=3.0 current-leader=2.0\n" for ago in range(6, 0, -1))
    nodes[1].figures_file.write_text("".join(lines))
    watching.after_fault()
    assert record.incidents == []
    watching.after()
    assert [incident.name for incident, _ in record.incidents] == ["metrics_as_logged"]


def test_a_node_whose_disk_was_emptied_begins_anew(record, nodes, watching):
    node = nodes[2]
    node.went("null", FOLLOWER.format(5, 0))
    entered(watching, node, NodeState.READY)
    entered(watching, node, NodeState.KILLED)
    node.format()
    entered(watching, node, NodeState.STARTING)
    node.went("null", UNATTACHED.format(0))
    watching.after()
    assert record.incidents == []


def test_a_node_that_keeps_its_disk_keeps_its_epoch(record, nodes, watching):
    node = nodes[2]
    node.went("null", FOLLOWER.format(5, 0))
    entered(watching, node, NodeState.READY)
    entered(watching, node, NodeState.KILLED)
    entered(watching, node, NodeState.STARTING)
    node.went("null", UNATTACHED.format(0))
    watching.after()
    assert [incident.name for incident, _ in record.incidents] == ["epoch_never_falls"]


def test_a_voter_whose_new_address_stays_unknown_is_told_and_measured_and_breaks_no_rule(record, nodes, watching):
    named = {0: Address("h", 0), 1: Address("h", 91)}  # node 2 is no voter any more
    for at in (100.0, 104.0, 109.0, 110.0):
        watching.on_look(Look(at, Quorum(0, 2, endpoints=named), {}), 1)
    told = (
        "the voter set names h:91 for node 1, which listens at h:1, for 9 s: UpdateRaftVoter is overdue (KAFKA-16538)"
    )
    assert (record.of(Noted), record.incidents) == ([Noted(told, 1)], [])
    watching.on_look(Look(111.0, Quorum(0, 2, endpoints={1: Address("h", 1)}), {}), 1)
    watching.on_look(Look(130.0, Quorum(0, 2, endpoints=named), {}), 1)
    assert watching.measures()["endpoint_unregistered_seconds"] == 10.0


@pytest.mark.parametrize(
    ("leader", "voter", "seconds", "broken"),
    [
        ("4.1.2", "4.3.1", 24, ["endpoint_is_announced"]),
        ("4.1.2", "4.1.2", 15, []),
        ("4.1.2", "4.0.2", 24, []),
        ("3.9.1", "4.1.2", 24, []),
    ],
)
def test_a_voter_that_is_sure_to_announce_itself_breaks_a_rule_where_it_does_not(
    record, nodes, watching, leader, voter, seconds, broken
):
    for node, release in zip(nodes, (leader, voter, voter), strict=True):
        node.line = line_of(release)
    nodes[0].went("null", FOLLOWER.format(1, 1), ago=70)
    nodes[0].went(FOLLOWER.format(1, 1), CANDIDATE.format(2), ago=61)
    nodes[0].went(CANDIDATE.format(2), LEADER.format(2), ago=60)
    nodes[0].applies(kraft_version=1, ago=59)
    nodes[1].went("null", FOLLOWER.format(2, 0), ago=59)
    now, named = time.monotonic(), {0: Address("h", 0), 1: Address("h", 91), 2: Address("h", 2)}
    for ago in range(seconds, -1, -1):
        fetched = {0: -1.0, 1: time.time() - ago, 2: time.time() - ago}
        quorum = Quorum(0, 2, 9, endpoints=named, leaders=((2, 0),), fetched={0: fetched})
        watching.on_look(Look(now - ago, quorum, {}), 17)
    watching.after_fault()
    assert [incident.name for incident, _ in record.incidents] == broken


def test_a_leader_that_is_nobody_of_the_cluster_breaks_no_watch(record, nodes, watching):
    for node in nodes:
        node.line = line_of("4.1.2")
    fetched = {99: {99: time.time()}}
    quorum = Quorum(99, 3, 5, endpoints={99: Address("h", 9)}, leaders=((3, 99),), fetched=fetched)
    watching.on_look(Look(time.monotonic(), quorum, {}), 1)
    assert record.incidents == []


def silent_leader(nodes, watching, host=None):
    """Node 0 leads epoch 2 for a minute, and nobody has fetched from it for half of that."""
    nodes[0].went("null", FOLLOWER.format(1, 1), ago=70)
    nodes[0].went(FOLLOWER.format(1, 1), CANDIDATE.format(2), ago=61)
    nodes[0].went(CANDIDATE.format(2), LEADER.format(2), ago=60)
    watching.meet([watching, *([host] if host else [])])
    now = time.monotonic()
    for ago in (40.0, 3.0, 1.5):
        watching.on_look(look(now - ago, {0: -1.0, 1: time.time() - 30, 2: time.time() - 40}), 17)
    watching.after_fault()


def test_a_leader_that_nobody_fetches_from_and_that_stays_is_found_by_what_it_answers(record, nodes, watching):
    silent_leader(nodes, watching)
    ((incident, line),) = record.incidents
    assert (incident.name, line) == ("check_quorum", 17)
    assert incident.reason.startswith("node 0 still leads epoch 2, and for 28.")


def test_answers_of_a_leader_that_is_fetched_from_are_not_kept(nodes, watching):
    now = time.monotonic()
    for ago in range(60, 0, -1):
        watching.on_look(look(now - ago, {0: -1.0, 1: time.time() - ago, 2: -1.0}), 17)
    assert len(watching._looks) == 1


def test_on_a_host_that_starves_nodes_that_says_nothing(record, nodes, watching, monkeypatch):
    monkeypatch.setattr("harness.scenario.monitors.raft_rules.HostNotStarved", StarvedHost)
    silent_leader(nodes, watching, StarvedHost())
    assert record.incidents == []


class StarvedHost:
    def slowness(self, _since):
        return Slowness(0.9, "processor: none")
