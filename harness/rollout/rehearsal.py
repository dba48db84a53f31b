"""One rehearsal on one live cluster: bring it up on base under load, roll node by node, stop when a check says so."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cluster.cluster import Cluster, Topology
from harness.cluster.node import STOP_TIMEOUT_SECONDS, Node, NodeState
from harness.cluster.prepare import Ground
from harness.engine.cancel import Cancellation, RunCancelled
from harness.engine.journal import Journal
from harness.engine.journaling import QuorumJournal, write_node, write_stall
from harness.engine.watch import Look, Stall, Watcher
from harness.model.node_logs import PhaseSpan
from harness.rollout import health
from harness.rollout.checking import LOOK_EVERY_SECONDS, Checking, RollStopped, demand, problems_of
from harness.rollout.commands import Tools, try_commands
from harness.rollout.errorlines import ErrorLines
from harness.rollout.judging import Facts
from harness.rollout.looking import look
from harness.rollout.nodes import duties, next_node
from harness.rollout.records import CheckSeen, CommandSeen, Installed, StepSeen
from harness.rollout.traffic import Traffic

_UP_SECONDS = 120.0
_BEFORE_SECONDS = 60.0
_AFTER_SECONDS = 120.0
_KILLED_AFTER_SECONDS = 1.0
_MOST_LEADER_CHANGES = 4


@dataclass(frozen=True, slots=True)
class Setting:
    """What all rehearsals share. `overlay` are server properties of every node, `order` what the user told."""

    topology: Topology
    order: tuple[int, ...]
    ground: Ground
    base: Installed
    candidate: Installed
    overlay: dict[str, str]
    flag_key: str
    tools: Tools


@dataclass(frozen=True, slots=True)
class Measure:
    """What a rehearsal is measured by: see `Checking`. `known_errors` are templates of ERROR lines that base writes."""

    budget: float
    known_errors: frozenset[str]
    judge_errors: bool


class Rehearsal:
    """The live side; use as a context manager. What happened is in the journal and in the attributes."""

    def __init__(
        self,
        setting: Setting,
        measure: Measure,
        folder: Path,
        journal: Journal,
        say: Callable[[str], None],
        cancellation: Cancellation,
    ) -> None:
        self.setting = setting
        self.folder = folder
        self.facts = Facts()
        self.steps: list[StepSeen] = []
        self.notes: list[str] = []
        self.phases: list[PhaseSpan] = []
        self.commands: list[CommandSeen] = []
        self.installed: dict[int, Installed] = {}
        self._journal = journal
        self._quorum = QuorumJournal(journal)
        self._say = say
        self._cancellation = cancellation
        self._phase = ""
        launch = setting.ground.launch(setting.base.jar, setting.overlay)
        self.cluster = Cluster(setting.topology, folder / "nodes", launch, setting.ground.template, self._on_node)
        self.checking = Checking(
            f"{folder.parent.name}/{folder.name}",
            journal,
            self.cluster,
            Watcher(self.cluster, self._on_look, self._on_stall, self._on_fault),
            Traffic(self.cluster),
            ErrorLines(self.cluster.nodes.values(), measure.known_errors, self._runs_base),
            measure.budget,
            measure.judge_errors,
            setting.flag_key,
            cancellation,
        )

    # What is heard from other threads.

    def _on_node(self, node: Node) -> None:
        write_node(self._journal, node)

    def _on_look(self, seen: Look) -> None:
        line, story = self._quorum.on_look(seen)
        if story:
            self.facts = replace(self.facts, broken=story)
            self.checking.show(line)

    def _on_stall(self, stall: Stall) -> None:
        _, story = write_stall(self._journal, stall)
        if not self.facts.starved:
            self.facts = replace(self.facts, starved=story)

    def _on_fault(self, story: str) -> None:
        self._journal.write("step", kind="error", text=story, status="failed")
        self.facts = replace(self.facts, unsound=story)

    def _runs_base(self, node: int) -> bool:
        return self.installed[node].sha256 == self.setting.base.sha256

    # Coming up and ending.

    def __enter__(self) -> Rehearsal:
        return self

    def __exit__(self, *_: object) -> None:
        self.checking.traffic.abandon()
        self.checking.watcher.stop()
        self.cluster.close()

    @contextmanager
    def under_load(self) -> Iterator[None]:
        """Start everything on base with its clients; at the end settle their accounts.

        A roll that is stopped ends the block; whether the cluster still serves then is found out.
        """
        with self._cancellation.ending(self.cluster.close):
            self.checking.watcher.start()
            if self._comes_up():
                try:
                    yield
                except RollStopped as stop:
                    self._stopped(str(stop))
                self._settle()
            self._check_cancelled()

    def _comes_up(self) -> bool:
        with self.phase("start on base"):
            try:
                problem = self._start_on_base()
            except RollStopped as stop:
                problem = str(stop)
            if problem:
                self.facts = replace(self.facts, unsound=f"the cluster did not come up on base: {problem}")
            return not problem

    def _start_on_base(self) -> str:
        """Start everything and the clients; return "" or what stood in the way. Raises RollStopped when a node died."""
        for node in self.cluster.nodes.values():
            self._install(node, self.setting.base)
        self.cluster.start(self.cluster.nodes)
        seen = self.checking.cluster_wide(health.AFTER, -1, _UP_SECONDS)
        return problems_of(seen) or self._begin_traffic()

    def _begin_traffic(self) -> str:
        traffic = self.checking.traffic
        if problem := traffic.create_topics():
            return problem
        traffic.start()
        self._journal.write("step", kind="background", text="; ".join(traffic.words), status="done")
        if problem := traffic.serving(_UP_SECONDS):
            return problem
        traffic.begin_to_count()
        return ""

    def _settle(self) -> None:
        self._check_cancelled()
        with self.phase("settle the accounts"):
            accounts = self.checking.traffic.settle()
        self.facts = replace(self.facts, accounts=accounts)
        for account in accounts:
            self._journal.write(
                "ledger",
                client=account.name,
                acked=account.acknowledged,
                failed=sum(account.failures.values()),
                lost=account.lost,
                duplicates=account.duplicates,
                longest_stall_seconds=round(account.longest_pause_seconds, 3),
                unread=account.unread,
            )

    def _stopped(self, why: str) -> None:
        """After a stop: do the clients still get answers? And does the way back lead back?"""
        changed = tuple(node for node in self.installed if not self._runs_base(node))
        self.facts = replace(self.facts, stopped=why, changed=changed)
        with self.phase("stopped"):
            self.facts = replace(self.facts, not_serving=self.checking.still_serving())
        with self.phase("the way back"):
            try:
                self._way_back(changed)
            except RollStopped as stop:
                self.facts = replace(self.facts, no_way_back=f"the way back failed: {stop}")

    def _way_back(self, changed: Sequence[int]) -> None:
        """Bring base back, on the nodes that are not well first."""
        unwell = [node.id for node in self.cluster.nodes.values() if node.state is not NodeState.READY]
        for node in unwell:
            self._step(node, self.setting.base, "bring back")
        for node in reversed([node for node in changed if node not in unwell]):
            self.replace(node, self.setting.base)

    # Steps.

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Name a stretch of the rehearsal."""
        self._phase = name
        self._journal.write("phase", name=name)
        self._say(name)
        began = time.time()
        try:
            yield
        finally:
            self.phases.append(PhaseSpan(name, began, time.time()))

    def in_order(self) -> Iterator[int]:
        """Yield every node, in the order told or brokers first and the active controller last."""
        left = list(self.setting.order or self.cluster.nodes)
        while left:
            node = left[0] if self.setting.order else next_node(left, self.setting.topology, self.leader())
            left.remove(node)
            yield node

    def leader(self) -> int:
        """Return the active controller, -1 without one."""
        return self.cluster.quorum().leader

    def replace(self, node: int, to: Installed, *, killed: bool = False) -> None:
        """Take one node's step: checks, stop, put the jar in place, start, checks. Raises RollStopped.

        With `killed`, the node is killed while it starts, and started once more.
        """
        same = self.installed[node].sha256 == to.sha256
        self.checking.errors.news()  # what stands in the logs by now was written by the jars that ran until now
        self._step(node, to, "restart" if same else "replace", killed=killed)

    def _step(self, number: int, to: Installed, action: str, *, killed: bool = False) -> None:
        began = time.monotonic()
        words = duties(number, self.setting.topology, self.leader())
        before: tuple[CheckSeen, ...] = ()
        after: tuple[CheckSeen, ...] = ()
        stopped, down = "", 0.0
        self._say(f"{self._phase}: {action} node {number} ({words})")
        try:
            if action != "bring back":  # it is down or not well: there is nothing to wait for
                before = self.checking.cluster_wide(health.BEFORE, number, _BEFORE_SECONDS)
                demand(before, f"before node {number} may stop")
            gone = time.monotonic()
            self._swap(number, to, killed=killed)
            after = self.checking.cluster_wide(health.AFTER, number, _AFTER_SECONDS)
            down = time.monotonic() - gone
            demand(after, f"after node {number} was started on {to.name}")
            own = self.checking.right_jar(self.cluster.nodes[number], to) + self.checking.clients(began)
            after += own
            demand(own, f"node {number} on {to.name}")
        except RollStopped as stop:
            stopped = str(stop)
            raise
        finally:
            waits = self.checking.traffic.pauses_after(began)
            took = round(time.monotonic() - began, 2)
            step = (len(self.steps) + 1, self._phase, number, words, action, to.name, took, round(down, 2))
            self.steps.append(StepSeen(*step, before, after, waits, stopped))

    def _swap(self, number: int, to: Installed, *, killed: bool) -> None:
        node = self.cluster.nodes[number]
        with self._deed(f"stop node {number}"):
            graceful = node.stop()
        self.checking.note("it ended on SIGTERM", graceful, "" if graceful else "it had to be killed")
        if not graceful:
            raise RollStopped(f"node {number} did not end within {STOP_TIMEOUT_SECONDS:g} s of SIGTERM and was killed")
        if to is not self.installed[number]:
            with self._deed(f"put the raft jar of {to.name} on node {number}"):
                self._install(node, to)
        with self._deed(f"start node {number}"):
            node.start()
        if killed:
            time.sleep(_KILLED_AFTER_SECONDS)  # in the middle of its start: that is the fault
            with self._deed(f"kill -9 node {number} while it starts"):
                node.kill()
            with self._deed(f"start node {number} again"):
                node.start()

    def _install(self, node: Node, to: Installed) -> None:
        """Put a raft jar where the node's own library folder has it, and note the settings that go with it."""
        jar = node.folder / "libs" / self.setting.base.jar.name
        jar.parent.mkdir(exist_ok=True)
        shutil.copyfile(to.jar, jar)
        node.launch = replace(node.launch, raft_jar=jar, overlay={**self.setting.overlay, **to.settings})
        self.installed[node.id] = to

    def change_leader(self, to: Installed) -> None:
        """Restart the active controller, on the jar it has, until one that runs `to` leads. Raises RollStopped."""
        for _ in range(_MOST_LEADER_CHANGES):
            if self.installed[self.leader()] is to:
                return
            self.replace(self.leader(), self.installed[self.leader()])
        raise RollStopped(f"no controller on {to.name} was elected in {_MOST_LEADER_CHANGES} changes of the leader")

    def soak(self, seconds: float) -> None:
        """Let both versions work side by side. Raises RollStopped."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            self.checking.go_on()
            time.sleep(LOOK_EVERY_SECONDS)
        demand(self.checking.cluster_wide(health.AFTER, -1, _AFTER_SECONDS), "while both versions ran")
        demand(self.checking.clients(began), "while both versions ran")

    def try_commands(self) -> None:
        """Run the runbook's commands once while nothing is rolled."""
        with self.phase("the operator's commands"):
            seen = look(self.cluster, self.checking.watcher)
            self.commands = try_commands(self.setting.tools, (*health.BEFORE, *health.AFTER), self.cluster, seen)
        for each in self.commands:
            self.checking.note(f"`{each.command}` shows it", each.agrees, each.output, each.seconds)
            if not each.agrees:
                self.notes.append(f"`{each.command}` did not show what the protocol told (exit {each.exit_code})")

    @contextmanager
    def _deed(self, text: str) -> Iterator[None]:
        self._check_cancelled()
        self._journal.write("step", kind="do", text=text, status="begin")
        began = time.monotonic()
        yield
        took = round(time.monotonic() - began, 3)
        self._journal.write("step", kind="do", text=text, status="done", seconds=took)

    def _check_cancelled(self) -> None:
        if self._cancellation.is_set:
            raise RunCancelled
