"""Lines that prove a way through Raft, and voters that are made to take one."""

import gzip
import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scenario import raft_lines
from harness.scenario.actions import oversleep as oversleep_module
from harness.scenario.actions.oversleep import oversleep
from harness.scenario.conditions.has_logged import HasLogged, has_logged, said
from harness.scenario.refs import fixed
from harness.scenario.registry import load_all
from harness.scenario.steps import OnlyIf
from harness.scenario.world import ActionFailed

AT = 1_700_000_000.0
ONE, OTHER = fixed(0, "the one"), fixed(1, "the other")
ROOT = Path(__file__).parent.parent.parent
STATEMENTS, GUIDE = ROOT / "builds" / "statements", ROOT / "docs" / "raft-paths.md"
# No statement of 4.3 ends so, and in no version is this one in the place where it is logged.
UNSTATED = {("4.3.1", "VOTED"), ("3.9.1", "SNAPSHOT_DELETED"), ("4.3.1", "SNAPSHOT_DELETED")}
WAYS = {name: wordings for name, wordings in vars(raft_lines).items() if name.isupper() and not name.startswith("_")}


def line(after, text):
    at = datetime.fromtimestamp(AT + after, UTC).strftime("%Y-%m-%d %H:%M:%S,%f")[:23]
    return f"[{at}] INFO [RaftManager id=1] {text} (org.apache.kafka.raft.QuorumState)".encode()


def test_a_line_proves_a_way_that_was_taken_since_the_last_fault():
    before, after = line(1, "Truncated to offset 7"), line(2, "Truncated to offset 9")
    assert "offset 9" in said([before, after], AT + 2, ["Truncated to "])
    assert said([before], AT + 2, ["Truncated to "]) == ""
    assert said([before, after], AT, ["Truncated from "]) == ""


def test_either_wording_proves_it():
    assert said([line(1, "it stands")], AT, ["it runs", "it stands"])


def test_a_line_in_the_millisecond_of_the_fault_counts():
    assert said([line(0.5, "it stands")], AT + 0.5004, ["it stands"])


@pytest.mark.parametrize(("later", "proves"), [(0.01, True), (0.99, True), (1.0, False), (30, False)])
def test_who_waited_for_a_time_out_took_longer_than_a_second(later, proves):
    lines = [line(1, "told of the end"), line(1 + later, "it leads")]
    assert bool(said(lines, AT, ["it leads"], ["told of the end"])) is proves


def test_what_came_before_its_cause_or_without_one_proves_nothing():
    assert said([line(1, "it leads"), line(1.1, "told")], AT, ["it leads"], ["told"]) == ""
    assert said([line(1, "it leads")], AT, ["it leads"], ["told"]) == ""
    assert said(
        [line(1, "told"), line(3, "it leads"), line(4, "told"), line(4.2, "it leads")], AT, ["it leads"], ["told"]
    )


def test_a_line_without_its_time_proves_nothing():
    assert said([b"java.lang.Exception: it leads"], AT, ["it leads"]) == ""


@given(st.lists(st.binary(max_size=60)), st.floats(0, 2e9))
def test_whatever_a_log_holds_it_is_read(lines, since):
    assert said([*lines, b"it leads"], since + 1, ["it leads"], ["told"]) == ""


def logging(*lines_of_nodes, fault_at=AT):
    nodes = {
        number: SimpleNamespace(logged=lambda lines=lines: iter(lines)) for number, lines in enumerate(lines_of_nodes)
    }
    return SimpleNamespace(cluster=SimpleNamespace(nodes=nodes), fault_at=fault_at)


def test_one_of_several_nodes_is_enough_and_the_line_is_kept_as_evidence():
    sample = has_logged((ONE, OTHER), "it leads").sample(logging([], [line(1, "it leads")]))
    assert (sample.ok, sample.detail["node"]) == (True, 1)
    assert "it leads (org.apache.kafka.raft.QuorumState)" in sample.detail["line"]
    assert not has_logged(ONE, "it leads").sample(logging([], [line(1, "it leads")])).ok


def test_the_condition_says_which_line_it_looks_for():
    looked_for = has_logged((ONE, OTHER), *raft_lines.LEADS, soon_after=("told of it ",))
    text = "the one or the other has logged “Completed transition to Leader” less than a second after “told of it”"
    assert looked_for.description == text
    assert looked_for.node is ONE


@pytest.mark.parametrize(
    ("version", "way"),
    [(version, way) for version in ("3.9.1", "4.3.1") for way in sorted(WAYS) if (version, way) not in UNSTATED],
)
def test_every_way_is_proven_by_a_statement_of_kafka(version, way):
    """A wording that Kafka does not have would never be met, and one that is too short would prove nothing."""
    statements = json.loads(gzip.decompress((STATEMENTS / f"{version}.json.gz").read_bytes()))["statements"]
    pieces = {piece for statement in statements for piece in statement[4:] if len(piece) > 8}
    wordings = [wording.removeprefix("] ") for wording in WAYS[way]]
    assert any(piece in wording or wording in piece for wording in wordings for piece in pieces)
    assert min(map(len, wordings)) > 12


def conditions(steps):
    for step in steps:
        yield from conditions(step.steps) if isinstance(step, OnlyIf) else [getattr(step, "condition", None)]


def test_the_suite_takes_every_way_and_the_guide_tells_of_each():
    plans = [each.plan() for each in load_all().values() if "raft" in each.suites]
    asked = [each for plan in plans for each in conditions(plan.steps) if isinstance(each, HasLogged)]
    proven = {wordings for each in asked for wordings in (each.wordings, each.soon_after)}
    assert [name for name, wordings in WAYS.items() if wordings not in proven] == []
    guide = GUIDE.read_text("utf-8")
    assert [name for name, ways in WAYS.items() if not any(way.strip("])(;, ") in guide for way in ways)] == []


class Sleepers:
    """Voters that are processes of their own, and log what a test says each time they go on."""

    def __init__(self, processes, logged):
        self.excused, self.logged, self.rounds, self.held, self.written = [], logged, 0, set(), []
        self.write = self.written.append
        nodes = {
            number: SimpleNamespace(id=number, pid=each.pid, logged=self.log) for number, each in enumerate(processes)
        }
        self.cluster = SimpleNamespace(nodes=nodes)

    def monitor(self, _):
        lasting = {"lasts": lambda _: None, "lasts_no_more": lambda *_: None}
        return SimpleNamespace(allow=self.hold, disallow=self.released, held=frozenset(self.held), **lasting)

    def hold(self, node):
        self.excused.append(node)
        self.held.add(node)

    def released(self, node):
        self.held.discard(node)
        self.rounds += node == 0

    def log(self):
        at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S,%f")[:23]
        return iter([f"[{at}] INFO {text} (c)".encode() for text in self.logged[: self.rounds]])


@pytest.fixture
def two_processes(monkeypatch):
    monkeypatch.setattr(oversleep_module, "_SHOWS_SECONDS", 0.05)
    with subprocess.Popen(["/bin/sleep", "60"]) as one, subprocess.Popen(["/bin/sleep", "60"]) as other:
        yield one, other
        one.kill()
        other.kill()


def test_voters_oversleep_together_and_again_until_one_stands(two_processes):
    world = Sleepers(two_processes, ["[id=1] nothing", "[id=1] Completed transition to CandidateState(localId=1"])
    oversleep(ONE, OTHER, lasts="10ms").perform(world)
    assert world.excused == [0, 1, 0, 1]
    assert [each.status for each in world.written] == 2 * [*2 * ["begun", "proved"], *2 * ["ended"]]
    assert all(process.poll() is None for process in two_processes)


def test_the_leader_is_killed_while_the_others_sleep(two_processes):
    world, killed = Sleepers(two_processes, ["[id=1] Completed transition to CandidateState(localId=1"]), []
    world.cluster.nodes[2] = SimpleNamespace(kill=lambda: killed.append([*world.excused]))
    oversleep(ONE, OTHER, lasts="10ms", killed=fixed(2, "the leader")).perform(world)
    assert killed == [[0, 1]]


def test_voters_that_never_stand_are_no_ground_for_a_question(two_processes):
    with pytest.raises(ActionFailed, match=r"no node of \[0, 1\] stood for election after 0.01 s, 5 times"):
        oversleep(ONE, OTHER, lasts="10ms").perform(Sleepers(two_processes, []))
