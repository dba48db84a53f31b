"""A run directory with journals as real runs write them, for tests and for looking at the report.

`python tests/unit/sample_run.py FOLDER [ship|hold|dear|hostile|cut]` writes one and renders its report.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from harness.base.json import to_json
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.claims import Claim, Expected
from harness.model.clients import ClientReport
from harness.model.declaration import SCHEMA, Declaration, DeclaredScenario
from harness.model.events import (
    ClientSeconds,
    ClientSettled,
    Event,
    FaultChanged,
    NodeChanged,
    NodeSampled,
    OutcomeDecided,
    PhaseStarted,
    QuorumSeen,
    RoleChanged,
    RunStarted,
    StepChanged,
)
from harness.model.findings import Contrast, Finding, FindingKind
from harness.model.node_logs import NodeLogs
from harness.model.proof import (
    Answer,
    AuditAnswer,
    ClaimChain,
    ClaimedTest,
    Coverage,
    Difference,
    FailedTest,
    Proof,
    ReachedLine,
    ReachedMethod,
    Severity,
    TestClass,
    TestScope,
    TestsProof,
    TestStanding,
    TestSuite,
)
from harness.model.runs import Evidence, Outcome, RunResult
from harness.model.simulation import FailedSeed, SimulatedProperty, Simulation
from harness.rundir.journal import Entry, line_of

LOST = "observer_recovers"
KEY = "controller.quorum.dynamic.bootstrap.servers.enable"
STOCK = Build(
    "stock",
    "3.9.1",
    "builds/stock/kafka-raft-3.9.1.jar",
    "9f2c1a7b" * 8,
    "release",
    Flag(KEY, known=False),
)
PATCHED = Build(
    "patched",
    "3.9.1",
    "builds/patched/kafka-raft-3.9.1.jar",
    "41d7e0c3" * 8,
    "ecj 3.45",
    Flag(KEY, known=True, default="true"),
    ("dynamic-bootstrap",),
    "Compiled with ecj: classes run alike but differ in bytes from javac's.",
)
ARMS = (
    Arm("stock", Role.BASE, STOCK, "absent", "Temurin 21.0.8"),
    Arm("patched-off", Role.OFF, PATCHED, "false", "Temurin 21.0.8"),
    Arm("patched-on", Role.ON, PATCHED, "absent", "Temurin 21.0.8"),
)
QUESTIONS = {
    "new-mechanism": "Does an observer that knows only the leader's address survive the loss of that leader?",
    "turn1": "Does an observer with one right address left stay with the cluster?",
    "turn2": "Does an observer find the new leader after every voter has moved to a new port?",
}
_LOST_THEN_FOUND = {
    Role.BASE: Expected(Outcome.FAILED, LOST),
    Role.OFF: Expected(Outcome.FAILED, LOST),
    Role.ON: Expected(Outcome.PASSED),
}
CLAIMS = (
    Claim(
        "follows-moved-voters",
        "An observer finds the leader through the replicated voter set when every configured address is stale.",
        "turn2",
        _LOST_THEN_FOUND,
        "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java: maybeUpdateBootstrapServers",
    ),
    Claim(
        "learns-unconfigured-voters",
        "One right address is enough to learn the others.",
        "new-mechanism",
        _LOST_THEN_FOUND,
        "raft/src/main/java/org/apache/kafka/raft/RequestManager.java: updateBootstrapServers",
    ),
)
UPDATE = (
    "[2026-03-01 10:00:05,120] INFO [RaftManager id=3] Updated bootstrap servers to: "
    "[127.0.0.1:8201 (id: 0 rack: null)] (org.apache.kafka.raft.KafkaRaftClient)"
)
LOGGED = {"follows-moved-voters": Evidence("runs/turn2/patched-on/1/nodes/3/server.log", 1, UPDATE)}
HOSTILE = '<script>alert("x")</script> \x1b[31mred\x1b[0m \u202etxt.exe \x00' + "A" * 50_000


class JournalWriter:
    """Collects the entries of a journal with times that a test chooses."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def at(self, t: float, event: Event) -> int:
        self.entries.append(
            Entry(len(self.entries) + 1, round(float(t), 3), f"2026-03-01T10:00:{int(t) % 60:02d}Z", event)
        )
        return len(self.entries)

    def node(self, t: float, node: int, state: str) -> int:
        addresses = (f"127.0.0.1:{8100 + 10 * node}", f"127.0.0.1:{8101 + 10 * node}")
        return self.at(t, NodeChanged(node, state, *addresses, pid=4000 + node))

    def step(self, start: float, end: float, kind: str, text: str, status: str, name: str = "") -> int:
        if kind in ("do", "bind", "background"):
            self.at(start, StepChanged(kind, text, "begin"))
        return self.at(end, StepChanged(kind, text, status, name, round(end - start, 3)))

    def in_order(self) -> list[Entry]:
        """Return the entries by time, numbered anew."""
        ordered = sorted(self.entries, key=lambda entry: entry.t)
        return [replace(entry, seq=seq) for seq, entry in enumerate(ordered, 1)]


def spins(kind: str, scenario: str, arm: Arm) -> bool:
    """Whether the observer burns a core once the leader has stopped: in `dear`, on the candidate."""
    return kind == "dear" and scenario == "turn2" and arm.role is Role.ON


def journal(
    scenario: str, arm: Arm, repeat: int, outcome: Outcome, reason: str, *, spinning: bool = False, is_cut: bool = False
) -> list[Entry]:
    """A turn2-like run of 46 s: three voters move, then the leader stops; LOST means no progress after that.

    With `is_cut` the observer is cut from a voter for a while.
    """
    writer = JournalWriter()
    writer.at(0, RunStarted(scenario, arm.name, str(arm.role), repeat))
    writer.at(0.01, PhaseStarted("start"))
    for node in range(4):
        writer.node(0.1 + node / 50, node, "starting")
        writer.node(2.9 + node / 5, node, "ready")
    writer.step(3.6, 3.7, "background", "produce and consume orders with acks=all", "done")
    _moves(writer)
    writer.at(29, PhaseStarted("leader stops"))
    writer.step(29, 29.4, "guard", "a moved, registered voter leads and the observer follows", "met")
    writer.step(29.5, 30.2, "do", "stop the leader", "done")
    writer.node(29.5, 2, "stopping")
    writer.node(30.2, 2, "stopped")
    writer.step(30.2, 31.4, "guard", "a new leader exists", "met")
    lost = outcome is Outcome.FAILED
    writer.step(
        31.4,
        46 if lost else 31.9,
        "expect",
        "the observer follows the leader",
        "unmet" if lost else "met",
        LOST,
    )
    end = 46.2 if lost else 34.0
    writer.at(end, ClientSettled(ClientReport("orders", "records with acks=all", 412, 0, 0, 1.31)))
    writer.at(end, OutcomeDecided(str(outcome), LOST if lost else "", reason))
    _quorums(writer, end, lost)
    _roles(writer, lost)
    _samples(writer, end, spinning)
    _clients(writer, end)
    if is_cut:
        _cut(writer)
    return writer.in_order()


def _clients(writer: JournalWriter, end: float) -> None:
    """What the client was answered in each second: nothing while nobody leads, and two errors before that."""
    began, seconds = 3.7, range(int(end - 3.7))
    is_still = [29 <= began + second < 31 for second in seconds]
    answered = tuple(0 if still else 9 + second % 3 for second, still in zip(seconds, is_still, strict=True))
    failed = tuple(2 * (int(began + second) == 29) for second in seconds)
    median = tuple(0.0 if still else 4.0 + second % 5 for second, still in zip(seconds, is_still, strict=True))
    longest = tuple(1310.0 if int(began + second) == 31 else 3 * ms for second, ms in zip(seconds, median, strict=True))
    writer.at(end, ClientSeconds("orders", round(end - began, 3), answered, failed, median, longest))


def _cut(writer: JournalWriter) -> None:
    links = (("node 0", "node 3"), ("node 3", "node 0"))
    writer.at(20, FaultChanged("cut", "cut the observer from node 0", "begun", links=links))
    writer.at(20.4, FaultChanged("cut", "cut the observer from node 0", "proved", 0.4, "no packet came"))
    writer.at(26, FaultChanged("cut", "heal the network", "ended", links=links))


def _moves(writer: JournalWriter) -> None:
    for index, node in enumerate((0, 1, 2)):
        began = 4 + 8 * index
        writer.at(began, PhaseStarted(f"move node {node}"))
        writer.step(began, began + 0.3, "guard", f"the quorum survives without node {node}", "met")
        writer.step(began + 0.4, began + 4.4, "do", f"restart node {node} on a new port", "done")
        writer.node(began + 0.4, node, "stopping")
        writer.node(began + 1.6, node, "killed" if node == 1 else "stopped")
        writer.node(began + 1.8, node, "starting")
        writer.node(began + 4.2, node, "ready")
        writer.step(began + 4.5, began + 5.1, "do", f"register node {node}'s endpoint", "done")
        writer.step(began + 5.1, began + 6.0, "guard", f"the voter set knows node {node}", "met")


def _roles(writer: JournalWriter, lost: bool) -> None:
    """What nodes log of themselves, read half a second later: nodes 1, 2 and 0 lead in turn."""
    elections = ((3.0, 3, 1), (13.0, 5, 2), (30.6, 7, 0))
    for t, epoch, leader in elections:
        for node in range(4):
            finds = node != 3 or not lost or epoch < 7
            role = "leader" if node == leader else "follower" if finds else "unattached"
            if node == leader:
                writer.at(t + 0.3, RoleChanged(node, "candidate", epoch, -1, 0.5, 10 * epoch))
            writer.at(t + 0.5, RoleChanged(node, role, epoch, leader if finds else -1, 0.5, 10 * epoch + 1))


def _quorums(writer: JournalWriter, end: float, lost: bool) -> None:
    for t in range(3, int(end) + 1):
        leader, epoch = (1, 3) if t < 13 else (2, 5) if t < 31 else (0, 7)
        offset = 20 + 2 * t
        seen = min(offset, 20 + 2 * 30) if lost else offset
        voters = {node: offset - (node != leader) for node in range(3)}
        writer.at(t + 0.05, QuorumSeen(leader, epoch, offset - 1, voters, {3: seen}))


def _samples(writer: JournalWriter, end: float, spinning: bool) -> None:
    for t in range(6, int(end), 2):
        spun = spinning and t > 31
        writer.at(t + 0.1, NodeSampled(2, "leader", 14.0 + t % 3, 0.9 + t % 2 / 10, 92, 128))
        writer.at(t + 0.1, NodeSampled(0, "voter", 8.5 + t % 3, 0.7, 92, 127))
        writer.at(t + 0.1, NodeSampled(3, "observer", 98.7 if spun else 3.0, 97.2 if spun else 0.6, 70, 95))


def shown(kind: str, scenario: str, arm: Arm) -> tuple[Outcome, str, str]:
    """What a run shows: everything as claimed in `ship`; in `hold` the candidate is lost in turn2 as well."""
    fails = kind not in ("ship", "dear", "cut") and scenario == "turn2"
    lost = scenario != "turn1" and (arm.role is not Role.ON or fails)
    if not lost:
        return Outcome.PASSED, "", ""
    reason = "the observer follows the leader: not within 15 s"
    return Outcome.FAILED, LOST, HOSTILE if kind == "hostile" else reason


def results(kind: str) -> Iterator[tuple[RunResult, list[Entry]]]:
    for scenario in QUESTIONS:
        for arm in ARMS:
            outcome, name, reason = shown(kind, scenario, arm)
            spinning = spins(kind, scenario, arm)
            entries = journal(scenario, arm, 1, outcome, reason, spinning=spinning, is_cut=kind == "cut")
            seconds = entries[-1].t
            folder = f"runs/{scenario}/{arm.name}/1"
            line = next((e.seq for e in entries if isinstance(e.event, StepChanged) and e.event.status == "unmet"), 0)
            excerpt = "WARN [RaftManager id=3] Connection to node 0 (/127.0.0.1:8101) could not be established."
            lost = (
                Evidence(f"{folder}/journal.jsonl", line),
                Evidence(f"{folder}/nodes/3/server.log", 911, excerpt),
            )
            evidence = lost if outcome is Outcome.FAILED else ()
            measures = {
                "acked_records": 412.0,
                "failed_records": 0.0,
                "lost_records": 0.0,
                "duplicate_records": 0.0,
                "longest_stall_seconds": 1.31,
                "node_cpu_seconds": 17.4,
                "observer_raft_busiest_percent": 97.2 if spinning else 1.0,
                "voter_raft_busiest_percent": 1.7,
                "commit_at_best_milliseconds": 25.3,
            }
            if outcome is Outcome.PASSED:
                measures["observer_recovers_seconds"] = 0.52
            phases = {"start": {figure: value for figure, value in measures.items() if "_busiest_" in figure}}
            result = RunResult(scenario, arm.name, arm.role, 1, outcome, name, reason, evidence, seconds, measures)
            yield replace(result, by_phase=phases), entries


def contrasts(kind: str) -> tuple[Contrast, ...]:
    log = "runs/turn2/patched-on/1/nodes/3/server.log"
    warn = (
        "[2026-03-01 10:00:31,004] WARN [RaftManager id=3] Connection to node 0 (/127.0.0.1:8101) could not be "
        "established. Node may not be available. (org.apache.kafka.clients.NetworkClient)"
    )
    template = HOSTILE if kind == "hostile" else "[RaftManager id=<n>] Updated bootstrap servers to: <list>"
    new = Finding(
        FindingKind.NEW,
        template,
        "turn2",
        "observer",
        "move node 0",
        "INFO",
        "org.apache.kafka.raft.KafkaRaftClient",
        0,
        94,
        "",
        template if kind == "hostile" else UPDATE,
        (Evidence(log, 77, UPDATE),),
    )
    gone = Finding(
        FindingKind.VANISHED,
        "[RaftManager id=<n>] Connection to node <n> (<address>) could not be established. …",
        "turn2",
        "observer",
        "leader stops",
        "WARN",
        "org.apache.kafka.clients.NetworkClient",
        350,
        0,
        warn,
        "",
        (Evidence("runs/turn2/stock/1/nodes/3/server.log", 911, warn),),
    )
    value = Finding(
        FindingKind.VALUE,
        template if kind == "hostile" else f"KafkaConfig: {KEY} = {{}}",
        "turn2",
        "observer",
        "start",
        "INFO",
        "kafka.server.KafkaConfig",
        1,
        1,
        f"{KEY} = false",
        f"{KEY} = true",
        (Evidence("runs/turn2/patched-off/1/nodes/3/server.log", 12, f"{KEY} = false"), Evidence(log, 12)),
        detail=HOSTILE if kind == "hostile" else "base: false; candidate: true",
        base_lasting=True,
    )
    return (
        Contrast("stock", "patched-off", ()),
        Contrast("patched-off", "patched-on", (new, value)),
        Contrast("stock", "patched-on", (new, gone)),
    )


_CLIENT = "raft/src/main/java/org/apache/kafka/raft/KafkaRaftClient.java"


def proof(kind: str) -> Proof:
    """A sound proof, or for `hold` one with a failing rule and a failing test; hostile texts for `hostile`."""
    added = Difference(
        "method-added", Severity.NOTE, "QuorumConfig", "QuorumConfig has the new method dynamicBootstrapServersEnabled."
    )
    default = Difference(
        "config-default", Severity.FAIL, KEY, f"The default of {KEY} is not the claimed one.", "true", "false"
    )
    failed = FailedTest(TestSuite.UPSTREAM, "KafkaRaftClientTest", "testVote()", "expected 1", "at Test.java:7", False)
    if kind == "hostile":
        added = Difference("method-added", Severity.WARNING, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)
        failed = FailedTest(TestSuite.UPSTREAM, HOSTILE, HOSTILE, HOSTILE, HOSTILE, True)
    fails = int(kind == "hold")
    place = Evidence(f"builds/patched/sources/{_CLIENT}", 451, "partitionState.updateState();")
    says = HOSTILE if kind == "hostile" else "appendAsFollower refreshes after updateState."
    return Proof(
        "patched",
        STOCK.jar_sha256,
        PATCHED.jar_sha256,
        ("class-missing", "config-default", "method-added"),
        (default, added) if kind == "hold" else (added,),
        TestsProof(
            TestScope.ALL,
            (TestClass(TestSuite.UPSTREAM, "org.apache.kafka.raft.KafkaRaftClientTest", 201, fails, 0, 14.2),),
            () if kind in ("ship", "dear", "cut") else (failed,),
            report="proof/patched/junit",
        ),
        (
            AuditAnswer("refresh-after-append", Answer.HOLDS, says, "follows-moved-voters", (place,)),
            AuditAnswer("refresh-after-truncation", Answer.DOES_NOT_HOLD, "truncateNewEntries does not refresh."),
            AuditAnswer("read-once", Answer.UNTESTED, "There are no sources."),
        ),
        ("Compared with a baseline from the same compiler.",),
        (
            ClaimChain(
                "follows-moved-voters",
                "An observer finds the leader.",
                "KafkaRaftClient",
                ("refresh-after-append",),
                (ClaimedTest("ClientTest#asksTheVoters", TestStanding.FAILED if fails else TestStanding.PASSED),),
                "turn2",
                "Updated bootstrap servers",
            ),
            ClaimChain(
                "list-is-read-once",
                "Each method reads the list once.",
                "",
                ("read-once",),
                (ClaimedTest("ManagerTest#readsOnce", TestStanding.PASSED),),
                "",
                "",
            ),
        ),
        simulation=simulation(kind),
    )


def simulation(kind: str) -> Simulation | None:
    """Two properties, one of which fails with a seed; none but for `hold` and `hostile`, where base fails it too."""
    if kind not in ("hold", "hostile"):
        return None
    hostile = kind == "hostile"
    names = [f"org.apache.kafka.raft.RaftEventSimulationTest#can{what}" for what in ("ElectLeader", "Recover")]
    says, trace = (HOSTILE, HOSTILE) if hostile else ("two leaders of epoch 3", "at Cluster.java:7")
    seed = FailedSeed(names[0], 7, "[5, 3]", says, trace, True, hostile, "proof/patched/simulation/elect-7.log")
    ran = tuple(SimulatedProperty(name, 120, int(name == names[0]), 118, int(hostile)) for name in names)
    return Simulation("60s", ran, (seed,), seconds=60.2)


def coverage(kind: str) -> Coverage:
    """Three changed lines in a method, one of which nothing ran."""
    text = HOSTILE if kind == "hostile" else "requestManager.updateBootstrapServers(nodes);"
    return Coverage(
        (
            ReachedLine(_CLIENT, 451, "maybeUpdateBootstrapServers();", ("new-mechanism", "turn2")),
            ReachedLine(_CLIENT, 460, text, ("turn2",)),
            ReachedLine(_CLIENT, 461, "return;", ()),
        ),
        methods=(
            ReachedMethod(
                "org/apache/kafka/raft/KafkaRaftClient",
                HOSTILE if kind == "hostile" else "maybeUpdateBootstrapServers",
                "()V",
                ("new-mechanism", "turn2"),
            ),
        ),
    )


def declaration() -> Declaration:
    return Declaration(
        SCHEMA,
        "3.9.1",
        ARMS,
        tuple(DeclaredScenario(name, question, 180.0) for name, question in QUESTIONS.items()),
        1,
        CLAIMS,
        ("verify", "--jobs", "3", "--out", "out/night 1"),
        "2026-03-01T10:00:00Z",
        {"cpus": "2", "memory": "7.8 GiB", "system": "Linux 6.1"},
        {"sources": 3.1, "patch": 0.4, "build": 6.2, "run": 171.5, "diff": 31.0, "judge": 0.1},
    )


def write_sample(folder: Path, kind: str = "ship") -> Path:
    """Write run.json, results, journals and findings of a run that shows `kind`; return the folder."""
    _write(folder / "run.json", to_json(declaration()))
    _write(folder / "proof/patched/proof.json", to_json(proof(kind)))
    _write(folder / "proof/patched/coverage.json", to_json(coverage(kind)))
    for result, entries in results(kind):
        here = folder / result.key.folder
        _write(here / "result.json", to_json(result))
        _write(here / "logs.json", to_json(_logs(result)))
        _write(here / "nodes/3/server.log", f"{UPDATE if result.role is Role.ON else 'no such line'}\n")
        _write(here / "journal.jsonl", "".join(json.dumps(line_of(entry)) + "\n" for entry in entries))
    _write(folder / "logs/findings.json", to_json(contrasts(kind)))
    return folder


def _logs(result: RunResult) -> tuple[NodeLogs, ...]:
    file = f"{result.key.folder}/nodes/3/server.log"
    return (NodeLogs(result.scenario, result.arm, result.repeat, 3, "observer", (file,), "%m%n", ()),)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    from harness.report import write_reports
    from harness.rundir.directory import RunDirectory
    from harness.stages.judge import judge_run

    out = RunDirectory(write_sample(Path(sys.argv[1]), *sys.argv[2:]))
    print(write_reports(out, judge_run(out)))
