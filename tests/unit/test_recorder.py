"""What a run's recorder keeps of incidents and clients, and the journal lines that show them."""

import pytest

from harness.cluster.address import Address
from harness.cluster.config import NodeConfig
from harness.cluster.node import NodeState
from harness.cluster.probes import Quorum
from harness.cluster.watch import Look
from harness.engine.recorder import Recorder, last_warning
from harness.model.clients import ClientReport
from harness.model.events import FaultChanged, NodeChanged, QuorumSeen, StepChanged
from harness.model.incidents import Incident, IncidentKind
from harness.model.runs import RunKey
from harness.rundir.journal import Journal, read_journal
from harness.rundir.parts import RunFolder

KEY = RunKey("turn2", "patched-on", 1)


class ACell:
    """A cell as the recorder sees it."""

    key, flag_key, java = KEY, "f", "21"

    class scenario:  # noqa: N801
        stalls_spoil = True


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield journal


@pytest.fixture
def recorder(journal, tmp_path):
    return Recorder(ACell, journal, RunFolder(tmp_path, KEY.folder))


def unmet(name, reason="why"):
    return Incident(IncidentKind.EXPECTATION_UNMET, name, reason)


def test_the_first_incident_of_a_kind_is_kept_with_its_line(recorder):
    recorder.report(unmet("first"), 1)
    recorder.report(unmet("second"), 2)
    assert [incident.name for incident in recorder.facts().incidents] == ["first"]
    assert [evidence.line for evidence in recorder.evidence] == [1]


def test_the_arm_has_ended_a_plan_whose_node_died_or_whose_expectation_was_not_met(recorder):
    recorder.report(Incident(IncidentKind.GUARD_UNMET, "has_leader", "why"), 1)
    assert not recorder.ended_by_the_arm
    recorder.report(unmet("observer_recovers"), 2)
    assert recorder.ended_by_the_arm


def test_what_comes_in_the_aftermath_is_kept_beside_what_ended_the_plan(recorder):
    recorder.report(unmet("first"), 1)
    recorder.begin_aftermath()
    recorder.report(unmet("second"), 2)
    facts = recorder.facts()
    assert [incident.name for incident in facts.incidents] == ["first"]
    assert [incident.name for incident in facts.aftermath] == ["second"]


def test_a_fault_of_the_harness_is_journaled(recorder, journal):
    recorder.harness_failed("oops")
    (entry,) = read_journal(journal.path)
    assert entry.event == StepChanged("error", "oops", "failed")
    assert recorder.evidence[0].line == 1


def test_every_fault_that_a_plan_left_is_journaled_as_ended_with_the_run_and_none_twice(recorder, journal):
    one, other = (("node 0", "node 1"),), (("node 0", "node 2"),)
    for change in (
        FaultChanged("cut", "cut it", "begun", links=one),
        FaultChanged("cut", "cut another", "begun", links=other),
        FaultChanged("hold", "hold it", "begun", node=1),
        FaultChanged("hold", "hold it", "proved", node=1),
        FaultChanged("hold", "hold another", "begun", node=2),
        FaultChanged("lose_unflushed", "lose it", "proved", node=0),
        FaultChanged("hold", "let it go on", "ended", node=2),
        FaultChanged("cut", "heal it", "ended", links=one),
    ):
        recorder.write(change)
    recorder.end_faults()
    recorder.end_faults()
    ended = [entry.event for entry in read_journal(journal.path)][8:]
    over = "the run has ended"
    assert ended == [
        FaultChanged("cut", "cut another", "ended", proof=over, links=other),
        FaultChanged("hold", "hold it", "ended", proof=over, node=1),
    ]


def test_what_is_left_of_a_fault_that_was_healed_in_part_ends_with_the_run(recorder, journal):
    healed, left = ("node 0", "node 1"), ("node 0", "node 2")
    recorder.write(FaultChanged("cut", "cut both", "begun", links=(healed, left)))
    recorder.write(FaultChanged("cut", "heal one", "ended", links=(healed,)))
    recorder.end_faults()
    over = FaultChanged("cut", "cut both", "ended", proof="the run has ended", links=(left,))
    assert [entry.event for entry in read_journal(journal.path)][2:] == [over]


def test_an_unmet_expectation_shows_the_last_warning_of_the_node_that_was_asked(recorder, tmp_path):
    log = tmp_path / KEY.folder / "nodes" / "3" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text("[t] WARN first (x)\n[t] WARN Connection to node 0 (x)\n[t] INFO after (x)\n")
    recorder.expectation_unmet(unmet("observer_recovers"), 7, 3)
    assert [(e.line, e.excerpt) for e in recorder.evidence] == [(7, ""), (2, "[t] WARN Connection to node 0 (x)")]


@pytest.mark.parametrize(
    ("report", "shown"),
    [
        (ClientReport("orders", "records", 10, 0, 0, 0.5), 0),
        (ClientReport("orders", "records", 10, 1, 0, 0.5), 1),
        (ClientReport("orders", "records", 0, 0, 0, 0.5), 1),
        (ClientReport("orders", "records", 10, 0, 0, 0.5, unread="no answer"), 1),
    ],
)
def test_a_client_that_lost_records_or_could_not_be_tested_is_evidence(recorder, report, shown):
    recorder.on_client(report)
    assert recorder.facts().clients == (report,)
    assert len(recorder.evidence) == shown


def test_a_line_of_any_length_is_read_for_its_warning(tmp_path):
    log = tmp_path / "server.log"
    log.write_bytes(b"[t] WARN " + b"x" * 20_000_000 + b"\n[t] INFO calm\n")
    ((line, words),) = last_warning(log)
    assert (line, len(words)) == (1, 400)


def test_a_node_without_a_log_has_no_last_warning(tmp_path):
    assert last_warning(tmp_path / "server.log") == []


class ANode:
    """A node as the recorder sees it."""

    id, pid, exit_code, state = 3, 42, None, NodeState.READY
    config = NodeConfig(3, Address("192.0.2.3", 9092), None, {})


def test_a_nodes_state_is_journaled_with_its_addresses(recorder, journal):
    assert recorder.on_node(ANode) == 1
    (entry,) = read_journal(journal.path)
    assert entry.event == NodeChanged(3, "ready", "192.0.2.3:9092", "", 42, None)


def test_the_quorum_is_journaled_when_it_changes_and_once_a_second(recorder, journal):
    for at, leader in ((1.0, 0), (1.2, 0), (1.4, 1), (2.5, 1)):
        recorder.on_look(Look(at, Quorum(leader, 5, 9, {0: 9}, {3: 8}), {}))
    assert [entry.event for entry in read_journal(journal.path)] == [
        QuorumSeen(0, 5, 9, {0: 9}, {3: 8}),
        QuorumSeen(1, 5, 9, {0: 9}, {3: 8}),
        QuorumSeen(1, 5, 9, {0: 9}, {3: 8}),
    ]


def test_a_leaders_first_high_watermark_is_journaled_at_once(recorder, journal):
    for at, high_watermark in ((1.0, -1), (1.1, -1), (1.2, 7), (1.3, 8)):
        recorder.on_look(Look(at, Quorum(0, 5, high_watermark, {0: 9}, {}), {}))
    assert [entry.event.high_watermark for entry in read_journal(journal.path)] == [-1, 7]
