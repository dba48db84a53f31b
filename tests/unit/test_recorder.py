"""What a run's recorder takes for a fact, and the journal lines that show it."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.files import read_journal
from harness.cluster.node import LiveProof, NodeState
from harness.cluster.probes import Quorum
from harness.cluster.protocol import Unreachable
from harness.engine.journal import Journal
from harness.engine.outcome import Miss, decide
from harness.engine.recorder import Recorder, last_warning, last_words, mismatch
from harness.engine.watch import Look, Stall
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.runs import Outcome, RunKey
from harness.rundir.parts import RunFolder
from harness.scenario.load import LedgerSummary

JAR = "a" * 64
ARM = Arm("patched-on", Role.ON, Build("patched", "3.9.1", "x.jar", JAR, "javac", Flag("f", True, "true")), "true")
KEY = RunKey("turn2", "patched-on", 1)


@pytest.fixture
def journal(tmp_path):
    with Journal(tmp_path / "journal.jsonl") as journal:
        yield journal


@pytest.fixture
def recorder(journal, tmp_path):
    return Recorder(SimpleNamespace(key=KEY, arm=ARM, flag_key="f"), journal, RunFolder(tmp_path, KEY.folder))


class SomeNode:
    """A node as the recorder sees it."""

    id, pid, is_running, exit_code = 1, 42, True, 1
    config = SimpleNamespace(broker_port=1, controller_port=2)

    def __init__(self, state, folder=Path("nowhere"), proof=None):
        self.state, self.folder, self._proof = state, folder, proof
        self.thread_dumps = []

    def prove(self, _key):
        if self._proof is None:
            raise Unreachable("no answer")
        return self._proof


def ready(sha256=JAR, flag="true"):
    return SomeNode(NodeState.READY, proof=LiveProof(42, "/x/kafka-raft.jar", sha256, flag))


def test_the_threads_of_a_node_that_hung_are_evidence_once(recorder, journal):
    node = SomeNode(NodeState.KILLED)
    node.thread_dumps = [Path("nowhere/threads-1.txt")]
    recorder.on_node(node)
    recorder.on_node(node)
    assert [each.path for each in recorder.evidence] == [f"{KEY.folder}/nodes/1/threads-1.txt"]
    assert [event["node"] for event in read_journal(journal.path) if event["event"] == "threads"] == [1]


def test_a_line_of_any_length_is_read_for_its_warning(tmp_path):
    log = tmp_path / "server.log"
    log.write_bytes(b"[t] WARN " + b"x" * 20_000_000 + b"\n[t] INFO calm\n")
    ((line, words),) = last_warning(log)
    assert (line, len(words)) == (1, 400)


def test_a_node_that_runs_the_arms_jar_and_flag_proves_the_arm(recorder):
    recorder.on_node(ready())
    recorder.require_proofs({1})
    assert decide(recorder.facts()).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("node", "story"),
    [
        (ready(sha256="b" * 64), "runs a raft jar bbbbbbbbbbbb, not the jar under test (aaaaaaaaaaaa)"),
        (ready(sha256=""), "runs no single raft jar"),
        (ready(flag="false"), "says that its flag is false, not true"),
        (SomeNode(NodeState.READY), "could not be asked what it runs: no answer"),
    ],
)
def test_a_node_that_does_not_prove_the_arm_spoils_the_run(recorder, node, story):
    recorder.on_node(node)
    facts = recorder.facts()
    assert story in (facts.wrong_arm or facts.unproved)
    assert decide(facts).outcome is Outcome.BROKEN


def test_a_node_that_was_started_and_never_proved_spoils_the_run(recorder):
    recorder.on_node(ready())
    recorder.require_proofs({1, 2})
    assert "[2]" in recorder.facts().unproved


def test_an_unmet_guard_tells_better_than_a_missing_proof(recorder):
    recorder.unmet_guard(Miss("nodes_ready", "why"), 1)
    recorder.require_proofs({1})
    assert recorder.facts().unproved is None


def test_a_death_is_told_with_the_nodes_last_words(recorder, tmp_path):
    (tmp_path / "server.log").write_text("INFO fine\nERROR it broke (x)\nINFO bye\n")
    recorder.on_node(SomeNode(NodeState.DIED, tmp_path))
    assert recorder.facts().node_died == "node 1 ended by itself: ERROR it broke (x)"
    assert [(e.path, e.line) for e in recorder.evidence] == [
        (f"{KEY.folder}/journal.jsonl", 1),
        (f"{KEY.folder}/nodes/1/server.log", 3),
    ]


def test_two_leaders_of_one_epoch_break_an_invariant_even_in_different_looks(recorder):
    recorder.on_look(Look(1.0, Quorum(0, 5, leaders=((5, 0),)), {}))
    recorder.on_look(Look(1.2, Quorum(1, 5, leaders=((5, 1),)), {}))
    assert recorder.facts().broken_invariant.name == "one_leader_per_epoch"


def test_a_leader_of_each_epoch_breaks_nothing(recorder):
    recorder.on_look(Look(1.0, Quorum(0, 5, leaders=((5, 0),)), {}))
    recorder.on_look(Look(1.2, Quorum(1, 6, leaders=((5, 0), (6, 1))), {}))
    assert recorder.facts().broken_invariant is None


def test_a_stall_names_the_node_or_the_harness(recorder):
    recorder.on_stall(Stall(-1, 1.5))
    assert recorder.facts().starved == "the host gave the harness no processor for 1.5 s"


def test_a_node_that_only_the_host_can_have_killed_is_not_held_against_the_build(recorder):
    node = SomeNode(NodeState.DIED)
    node.exit_code = -9
    recorder.on_node(node)
    assert decide(recorder.facts()).outcome is Outcome.BROKEN


def test_the_first_fact_of_a_kind_is_kept(recorder):
    recorder.refuted(Miss("first", "a"), 1, None)
    recorder.refuted(Miss("second", "b"), 2, None)
    assert recorder.facts().refuted.name == "first"


def test_a_refutation_shows_the_last_warning_of_the_node_that_was_asked(recorder, tmp_path):
    log = tmp_path / KEY.folder / "nodes" / "3" / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text("[t] WARN first (x)\n[t] WARN Connection to node 0 (x)\n[t] INFO after (x)\n")
    recorder.refuted(Miss("observer_recovers", "why"), 7, 3)
    assert [(e.line, e.excerpt) for e in recorder.evidence] == [(7, ""), (2, "[t] WARN Connection to node 0 (x)")]


def test_a_ledger_that_lost_records_is_evidence(recorder):
    recorder.on_ledger(LedgerSummary(10, 0, 1, 0, 0.5))
    assert recorder.facts().ledger.lost == 1
    assert recorder.evidence


def test_a_node_without_logs_has_no_last_words(tmp_path):
    assert last_words(tmp_path) == ("", [])
    assert last_warning(tmp_path / "server.log") == []


def test_a_proof_of_the_arm_has_no_mismatch():
    assert mismatch(LiveProof(1, "j", JAR, "true"), ARM) == ""


def test_the_journal_numbers_its_lines_and_can_be_read_back(journal):
    assert [journal.write("phase", name="a"), journal.write("phase", name="b")] == [1, 2]
    assert [event["name"] for event in read_journal(journal.path)] == ["a", "b"]


def test_a_journal_that_was_cut_by_a_crash_is_read_up_to_the_cut(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(json.dumps({"seq": 1}) + "\n" + '{"seq": 2, "ev')
    assert list(read_journal(path)) == [{"seq": 1}]
