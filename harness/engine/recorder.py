"""Collects the facts of a run as they happen, journals them, and keeps the lines that show them."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cluster.node import LiveProof, Node, NodeState
from harness.cluster.prepare import Ground
from harness.cluster.protocol import Unreachable
from harness.coverage.agent import Agent
from harness.engine.journal import Journal
from harness.engine.journaling import QuorumJournal, write_node, write_stall
from harness.engine.outcome import Facts, Miss
from harness.engine.quorum_progress import QuorumProgress
from harness.engine.watch import Look, Stall
from harness.model.arms import Arm
from harness.model.runs import Evidence, RunKey
from harness.rundir.parts import NODE_LOG, NODE_OUTPUT, RunFolder
from harness.scenario.api import Scenario
from harness.scenario.load import LedgerSummary
from harness.scenario.steps import Condition

_TELLING = re.compile(rb"\b(ERROR|FATAL)\b|(Exception|Error)\b")
_WARNING = re.compile(rb"\b(WARN|ERROR|FATAL)\b")
_TAIL_LINES = 400
_EXCERPT_BYTES = 400


@dataclass(frozen=True, slots=True)
class Cell:
    """What is needed to run one scenario on one arm, once.

    `settings` are server properties of this arm: the user's overlay and the flag. `flag_key` is the flag whose
    effective value every node must prove to be `arm.flag`. With an `agent` the run tells which lines it reached.
    """

    key: RunKey
    scenario: Scenario
    arm: Arm
    ground: Ground
    raft_jar: Path
    settings: Mapping[str, str]
    flag_key: str
    agent: Agent | None = None


class Recorder:
    """Hears of everything in a run, from several threads; the first fact of a kind is kept."""

    def __init__(self, cell: Cell, journal: Journal, folder: RunFolder) -> None:
        self.cell = cell
        self._folder = folder
        self.journal = journal
        self.evidence: list[Evidence] = []
        self._facts: dict[str, Any] = {}
        self._lock = threading.Lock()
        self.progress = QuorumProgress()
        self._quorum = QuorumJournal(journal)
        self._proved: set[int] = set()
        self._dumps: dict[int, int] = {}

    @property
    def node_died(self) -> bool:
        """Whether a node ended by itself: nothing more can be asked of this run."""
        return "node_died" in self._facts

    def facts(self) -> Facts:
        """Return what was found out, for the pure function that decides."""
        return Facts(**self._facts)

    def _fact(self, kind: str, value: Any, line: int) -> None:
        with self._lock:
            if kind in self._facts:
                return
            self._facts[kind] = value
            self.evidence.append(self._folder.evidence(self._folder.journal, line))

    def on_node(self, node: Node) -> None:
        """Journal a change of a node's state; prove one that has become ready; note one that died."""
        line = write_node(self.journal, node)
        if node.state is NodeState.DIED:
            self._on_death(node, line)
        if node.state is NodeState.READY:
            self._prove(node)
        if node.state is NodeState.KILLED:
            self._keep_threads(node)

    def _on_death(self, node: Node, line: int) -> None:
        """A death is the build's doing, but for the one signal that only somebody else can have sent."""
        words, shown = last_words(node.folder)
        if node.exit_code == -signal.SIGKILL:
            self._fact("harness_error", f"node {node.id} was killed from outside (signal 9; out of memory?)", line)
        self._fact("node_died", f"node {node.id} ended by itself{words}", line)
        self.evidence += [self._folder.evidence(self._folder.nodes / str(node.id) / name, at) for name, at in shown]

    def _keep_threads(self, node: Node) -> None:
        """Name what a node that hung was doing when it was killed."""
        for path in node.thread_dumps[self._dumps.get(node.id, 0) :]:
            dump = self._folder.nodes / str(node.id) / path.name
            shown = self._folder.evidence(dump, 1, f"node {node.id} hung; its threads before it was killed")
            self.journal.write("threads", node=node.id, file=shown.path)
            self.evidence.append(shown)
        self._dumps[node.id] = len(node.thread_dumps)

    def _prove(self, node: Node) -> None:
        try:
            proof = node.prove(self.cell.flag_key)
        except (Unreachable, OSError) as error:
            if not node.is_running:  # it was stopped while being asked
                return
            line = self.journal.write("proof", node=node.id, error=str(error))
            self._fact("unproved", f"node {node.id} could not be asked what it runs: {error}", line)
            return
        line = self.journal.write(
            "proof",
            node=node.id,
            pid=proof.pid,
            jar=Path(proof.jar).name,
            sha256=proof.sha256,
            flag=proof.flag,
            java=self.cell.arm.java,
        )
        problem = mismatch(proof, self.cell.arm)
        if problem:
            self._fact("wrong_arm", f"node {node.id} {problem}", line)
        self._proved.add(node.id)

    def on_look(self, look: Look) -> None:
        """Journal the quorum when it changed or once a second; no epoch may have two leaders."""
        self.progress.on_look(look)
        line, story = self._quorum.on_look(look)
        if story:
            self._fact("broken_invariant", Miss("one_leader_per_epoch", story), line)

    def on_stall(self, stall: Stall) -> None:
        """Journal a stall of the host; one over the limit spoils the run."""
        line, story = write_stall(self.journal, stall)
        self._fact("starved", story, line)

    def on_sample(self, condition: Condition, ok: bool, detail: Mapping[str, Any]) -> None:
        """Journal one look at a condition."""
        self.journal.write("sample", condition=condition.words, ok=ok, detail=dict(detail))

    def on_step(self, kind: str, text: str, status: str, **fields: Any) -> int:
        """Journal the beginning or the end of a step; return the line."""
        return self.journal.write("step", kind=kind, text=text, status=status, **fields)

    def unmet_guard(self, miss: Miss, line: int) -> None:
        """The question cannot be asked."""
        self._fact("unmet_guard", miss, line)

    def refuted(self, miss: Miss, line: int, node: int | None) -> None:
        """An expectation was not held; the log of the node that was asked says most about why."""
        self._fact("refuted", miss, line)
        if node is not None:
            log = self._folder.node_log(node)
            self.evidence += [self._folder.evidence(log, at, words) for at, words in last_warning(log)]

    def harness_error(self, story: str) -> None:
        """The harness itself failed."""
        self._fact("harness_error", story, self.journal.write("step", kind="error", text=story, status="failed"))

    def on_ledger(self, summary: LedgerSummary) -> None:
        """Journal the ledger's account; records that are gone or were never asked for are evidence."""
        line = self.journal.write(
            "ledger",
            acked=summary.acked,
            failed=summary.failed,
            longest_stall_seconds=round(summary.longest_stall_seconds, 3),
            lost=summary.lost,
            duplicates=summary.duplicates,
            unread=summary.unread,
        )
        if summary.lost or summary.unread or not summary.acked:
            self._fact("ledger", summary, line)
        else:
            self._facts["ledger"] = summary

    def require_proofs(self, started: set[int]) -> None:
        """Every node that was started must have been proved once, or the arm is not what it says."""
        missing = sorted(started - self._proved)
        if missing and not self.node_died:
            line = self.journal.write("proof", error=f"never ready to be asked: {missing}")
            if "unmet_guard" not in self._facts:  # a guard that waited for them tells it better
                self._fact("unproved", f"nodes {missing} were never ready to be asked what they run", line)


def mismatch(proof: LiveProof, arm: Arm) -> str:
    """Return what a live node's proof says against the arm, empty when it is the arm. Pure."""
    wanted = arm.build.jar_sha256
    if proof.sha256 != wanted:
        seen = f"a raft jar {proof.sha256[:12]}" if proof.sha256 else "no single raft jar"
        return f"runs {seen}, not the jar under test ({wanted[:12]})"
    if proof.flag != arm.flag:
        return f"says that its flag is {proof.flag}, not {arm.flag}"
    return ""


def last_warning(log: Path) -> list[tuple[int, str]]:
    """Return (line number, text) of a log's last WARN or ERROR line, if there is one."""
    if not log.is_file():
        return []
    last: list[tuple[int, str]] = []
    with log.open("rb") as stream:  # line by line: a flood may be larger than memory
        for at, line in enumerate(stream, 1):
            if _WARNING.search(line[:100]):
                last = [(at, line[:_EXCERPT_BYTES].decode("utf-8", "replace").rstrip("\r\n"))]
    return last


def last_words(folder: Path) -> tuple[str, list[tuple[str, int]]]:
    """Return a dead node's last telling line as `: …`, and (file name, line number) of each log's end."""
    words, shown = "", []
    for path in (folder / NODE_LOG, folder / NODE_OUTPUT):
        if not path.exists():
            continue
        lines = path.read_bytes().splitlines()
        shown.append((path.name, max(1, len(lines))))
        telling = [line for line in lines[-_TAIL_LINES:] if _TELLING.search(line[:2000])]
        if telling and not words:
            words = ": " + telling[-1][:300].decode("utf-8", "replace").strip()
    return words, shown
