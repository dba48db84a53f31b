"""Collects the facts of a run as they happen, journals them, and keeps the lines that show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cluster.node import Node, NodeState
from harness.cluster.prepare import Ground
from harness.cluster.protocol import Unreachable
from harness.model import Arm, Evidence, RunKey
from harness.plan.api import Scenario
from harness.plan.journal import Journal
from harness.plan.outcome import Facts, Miss
from harness.plan.steps import Condition
from harness.plan.watch import Look, Stall


@dataclass(frozen=True, slots=True)
class Cell:
    """What is needed to run one scenario on one arm, once.

    `settings` are server properties of this arm: the user's overlay and the flag. `flag_key` is the flag whose
    effective value every node must prove to be `arm.flag`.
    """

    key: RunKey
    scenario: Scenario
    arm: Arm
    ground: Ground
    raft_jar: Path
    settings: Mapping[str, str]
    flag_key: str


class Recorder:
    """Collects the facts of a run, journals them, and tells the step under way when a node has died."""

    def __init__(self, cell: Cell, journal: Journal) -> None:
        self.cell = cell
        self.journal = journal
        self.facts: dict[str, object] = {}
        self.evidence: list[Evidence] = []
        self.waits: dict[str, float] = {}
        self.phases: list[tuple[str, float]] = []
        self.over = threading.Event()
        self._leaders: dict[int, int] = {}
        self._newest_epoch = -1
        self._last_journaled: tuple[int, int, float] = (-2, -2, 0.0)
        self._first_look: dict[str, object] = {}

    @property
    def node_died(self) -> bool:
        return "node_died" in self.facts

    def fact(self, name: str, value: object, line: int) -> None:
        """Keep the first fact of a kind, with the journal line that shows it."""
        if name not in self.facts:
            self.facts[name] = value
            self.evidence.append(Evidence(f"{self.cell.key.folder}/journal.jsonl", line))

    def on_node(self, node: Node) -> None:
        """Journal a change of a node's state; prove a node that has become ready; note one that died."""
        line = self.journal.write(
            "node",
            node=node.id,
            state=str(node.state),
            broker_port=node.config.broker_port,
            controller_port=node.config.controller_port,
            pid=node.pid,
        )
        if node.state is NodeState.DIED:
            story = f"node {node.id} ended by itself{_last_words(node)}"
            self.fact("node_died", story, line)
            self._show_log(node)
        if node.state is NodeState.READY:
            self._prove(node)

    def _show_log(self, node: Node) -> None:
        for path in (node.log_file, node.folder / "stdout.log"):
            if path.exists():
                relative = f"{self.cell.key.folder}/nodes/{node.id}/{path.name}"
                self.evidence.append(Evidence(relative, _count_lines(path)))

    def _prove(self, node: Node) -> None:
        expected = self.cell.arm
        try:
            proof = node.prove(self.cell.flag_key)
        except (Unreachable, OSError) as error:
            line = self.journal.write("proof", node=node.id, error=str(error))
            self.fact("unproved", f"node {node.id} could not be asked what it runs: {error}", line)
            return
        line = self.journal.write(
            "proof",
            node=node.id,
            pid=proof.pid,
            jar=Path(proof.jar).name,
            sha256=proof.sha256,
            flag=proof.flag,
            java=expected.java,
        )
        if proof.sha256 != expected.build.jar_sha256:
            seen = proof.sha256[:12] or "no single raft jar"
            story = f"node {node.id} runs {seen}, not the jar under test ({expected.build.jar_sha256[:12]})"
            self.fact("unproved", story, line)
        elif proof.flag != expected.flag:
            self.fact("unproved", f"node {node.id} says its flag is {proof.flag}, not {expected.flag}", line)

    def on_look(self, look: Look) -> None:
        """Journal the quorum when it changed or once a second, and hold the always-invariants against it."""
        quorum = look.quorum
        leader, epoch, at = self._last_journaled
        line = 0
        if (quorum.leader, quorum.epoch) != (leader, epoch) or look.at - at >= 1.0:
            self._last_journaled = (quorum.leader, quorum.epoch, look.at)
            line = self.journal.write(
                "quorum",
                leader=quorum.leader,
                epoch=quorum.epoch,
                high_watermark=quorum.high_watermark,
                voters=quorum.voters,
                observers=quorum.observers,
            )
        for told_epoch, told_leader in quorum.leaders:
            first = self._leaders.setdefault(told_epoch, told_leader)
            if first != told_leader:
                story = f"nodes {first} and {told_leader} both led epoch {told_epoch}"
                self.fact("broken_invariant", Miss("one_leader_per_epoch", story), line)

    def on_stall(self, stall: Stall) -> None:
        """Journal a stall of the host; one over the limit spoils the run."""
        line = self.journal.write("stall", node=stall.node, seconds=round(stall.seconds, 3))
        who = "the harness" if stall.node < 0 else f"node {stall.node}"
        self.fact("starved", f"the host gave {who} no processor for {stall.seconds:.1f} s", line)

    def on_sample(self, condition: Condition, ok: bool, detail: Mapping[str, object]) -> int:
        """Journal one look at a condition."""
        return self.journal.write("sample", condition=condition.words, ok=ok, detail=dict(detail))


def _count_lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for _ in stream)


def _last_words(node: Node) -> str:
    """Return a node's last ERROR or exception line, as `: …`."""
    telling = re.compile(rb"\b(ERROR|FATAL|Exception|Error)\b")
    for path in (node.log_file, node.folder / "stdout.log"):
        if not path.exists():
            continue
        with path.open("rb") as stream:
            lines = [line for line in stream.readlines()[-400:] if telling.search(line[:2000])]
        if lines:
            return ": " + lines[-1][:300].decode("utf-8", "replace").strip()
    return ""
