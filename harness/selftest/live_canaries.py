"""Canaries on live clusters: a deaf observer, logs that forget or change, a heal that does not heal, a starved host."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from harness.base.files import sha256_of
from harness.base.processes import bare_environment, spawn
from harness.base.waiting import wait_until
from harness.cluster import partitions
from harness.cluster.cluster import Cluster
from harness.cluster.install import Install
from harness.cluster.node import Node, NodeState
from harness.cluster.prepare import NodeParts
from harness.cluster.topology import Topology
from harness.engine.outcome import Facts, decide
from harness.engine.planned_run import PlannedRun
from harness.model.arms import ABSENT, Role
from harness.model.clients import ClientReport
from harness.model.events import QuorumSeen
from harness.model.outcome_names import HOST_NOT_STARVED, NOTHING_LOST
from harness.model.runs import Outcome, RunKey, RunResult
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import read_journal
from harness.scenario.actions.register_endpoint import register_endpoint
from harness.scenario.actions.restart import restart
from harness.scenario.actions.start import start_all
from harness.scenario.actions.stop import stop
from harness.scenario.conditions.follows_leader import follows_leader
from harness.scenario.conditions.is_up import is_up
from harness.scenario.conditions.leadership import has_leader, has_new_leader
from harness.scenario.conditions.voter_set import voter_set_knows
from harness.scenario.loads.records import RecordsClient, produce
from harness.scenario.plan import ClusterRef, Plan
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Sample
from harness.scenario.world import World
from harness.selftest.canaries_without_nodes import carry_out, plan_of
from harness.selftest.canary import Canary, NotDetected, require
from harness.selftest.log_tampering import alarms

_UP = "60s"
_UP_SECONDS = 60.0
_PRODUCE_SECONDS = 1.5
_CUT_BYTES = 20
# Three seconds of the processor for each: a node without any could not even die when it is killed.
_BUSY = ("/bin/sh", "-c", "ulimit -t 3; while :; do :; done")
_BUSY_PROGRAMS = 8
_CROWDED_SECONDS = 4.0
_SEGMENT = "orders-0/00000000000000000000.log"
# A voter announces its new address itself after three fetch time-outs: too late to be taken for the heal.
_SLOW_TO_ANNOUNCE = {"controller.quorum.fetch.timeout.ms": "20000"}


@dataclass(frozen=True, slots=True)
class LiveCanaries:
    """The canaries that need live nodes, of a prepared Kafka with its own raft jar."""

    node_parts: NodeParts
    raft_jar: Path
    version: str

    def canaries(self) -> tuple[Canary, ...]:
        """Return the canaries that need real nodes."""
        return (
            Canary("deaf observer", "an observer that lives, stays listed and fetches nothing", self._deaf),
            Canary("starved host", "an observer that the host does not let run", self._starved),
            Canary(
                "crowded host", "an observer that gets no processor, as other programs have them all", self._crowded
            ),
            Canary("heal that does not heal", "a voter moves, and nobody registers its new address", self._unhealed),
            Canary("tampered metadata log", "a metadata log that is changed on one node's disk", self._tampered),
            Canary("forgotten record", "acknowledged records that are cut from the broker's log", self._forgotten),
        )

    def _run(
        self, run_dir: Path, topology: Topology, build: Callable[..., None], settings: Mapping[str, str]
    ) -> RunResult:
        key, scenario = RunKey("canary", "stock", 1), plan_of("canary", topology, build)
        return carry_out(PlannedRun(key, scenario, Role.BASE, self.node_parts, self._stock(), settings), run_dir)

    def _stock(self) -> Install:
        return Install("stock", self.raft_jar, sha256_of(self.raft_jar), ABSENT)

    def _deaf(self, run_dir: Path) -> str:
        result = self._run(run_dir, Topology(1, 1), _deafen, {})
        journal = read_journal(RunDirectory(run_dir).run(result.key).journal)
        listed = [entry.event.observers for entry in journal if isinstance(entry.event, QuorumSeen)]
        require(1 in listed[-1], "the quorum does not list it any more, which would show it too")
        return _alarm_sentence(result, Outcome.FAILED, "observer_recovers")

    def _starved(self, run_dir: Path) -> str:
        result = self._run(run_dir, Topology(1, 1), _starve, {})
        return _alarm_sentence(result, Outcome.INCONCLUSIVE, HOST_NOT_STARVED)

    def _crowded(self, run_dir: Path) -> str:
        """Crowd the observer out by busy programs; only the kernel's accounts show that (schedstat)."""
        with ExitStack() as crowd:

            def build(plan: Plan, _cluster: ClusterRef, observer: NodeRef) -> None:
                _both_up(plan, observer)
                plan.do(_CrowdOut(observer, crowd))
                plan.expect(follows_leader(observer), within="4s", named="observer_recovers")

            result = self._run(run_dir, Topology(1, 1), build, {})
        require("processor" in result.reason, f"{result.outcome}: {result.reason}")
        return _alarm_sentence(result, Outcome.INCONCLUSIVE, HOST_NOT_STARVED)

    def _unhealed(self, run_dir: Path) -> str:
        result = self._run(run_dir, Topology(3, 0), _move_without_registering, _SLOW_TO_ANNOUNCE)
        require("the second" in result.reason, f"{result.outcome}: {result.reason}")
        return _alarm_sentence(result, Outcome.INCONCLUSIVE, "voter_set_knows")

    def _tampered(self, run_dir: Path) -> str:
        result = self._run(run_dir / "sound", Topology(3, 0), _lead_twice, {})
        require(result.outcome is Outcome.PASSED, f"the run without a fault was {result.summary}")
        return alarms(RunDirectory(run_dir / "sound").run(result.key), run_dir / "tampered")

    def _forgotten(self, folder: Path) -> str:
        launch, stock = self.node_parts.launch({}), self._stock()
        with Cluster(Topology(1, 0), folder, launch, stock, self.node_parts.template, lambda _: None) as cluster:
            before, after = _before_and_after_a_cut(cluster)
        require(before.acknowledged > 0 and not before.lost and not before.unread, f"before the cut: {before}")
        decision = decide(Facts(clients=(after,)))
        if (decision.outcome, decision.expectation) != (Outcome.FAILED, NOTHING_LOST):
            raise NotDetected(f"{decision.outcome}: {decision.reason}")
        return f"{decision.outcome}({decision.expectation}): {decision.reason}"


def _alarm_sentence(result: RunResult, outcome: Outcome, expectation: str) -> str:
    """Return a result in words when it is the alarm; raise NotDetected when it is another."""
    sentence = f"{result.outcome}({result.expectation}): {result.reason}"
    require((result.outcome, result.expectation) == (outcome, expectation), sentence)
    return sentence


def _both_up(plan: Plan, observer: NodeRef) -> None:
    plan.do(start_all())
    plan.guard(is_up(), follows_leader(observer), within=_UP)


@dataclass(frozen=True, slots=True)
class _Deafen:
    """Restart a node without what it knows of the quorum, configured with dead addresses only."""

    node: NodeRef
    description: str = "restart the observer without its metadata, configured with dead addresses"

    def perform(self, world: World) -> None:
        """Stop, forget, start."""
        node = world.cluster.nodes[self.node.find(world)]
        node.stop()
        shutil.rmtree(node.metadata_log)
        world.cluster.start([node.id], {voter: world.cluster.dead_address() for voter in world.cluster.controllers})


def _deafen(plan: Plan, _cluster: ClusterRef, observer: NodeRef) -> None:
    _both_up(plan, observer)
    plan.do(_Deafen(observer))
    plan.expect(follows_leader(observer), within="6s", named="observer_recovers")


@dataclass(frozen=True, slots=True)
class _Suspend:
    """Keep a node from running."""

    node: NodeRef
    description: str = "let the observer not run (SIGSTOP)"

    def perform(self, world: World) -> None:
        """Stop it where it is."""
        os.kill(world.cluster.nodes[self.node.find(world)].pid, signal.SIGSTOP)


@dataclass(frozen=True, slots=True)
class _CrowdOut:
    """Let a node run only when nobody else wants to, on a processor that others keep busy."""

    node: NodeRef
    crowd: ExitStack
    description: str = "let the observer run only when nobody else wants to, beside busy programs on its processor"

    def perform(self, world: World) -> None:
        """Start the busy programs, and let them be for a while; they end with the canary, or of their own accord."""
        processor = {min(os.sched_getaffinity(0))}
        _make_modest(world.cluster.nodes[self.node.find(world)].pid, processor)
        for _ in range(_BUSY_PROGRAMS):
            busy = spawn(_BUSY, cwd=Path("/"), output=Path(os.devnull), env=bare_environment())
            self.crowd.callback(busy.wait)
            self.crowd.callback(busy.kill)
            os.sched_setaffinity(busy.pid, processor)
        time.sleep(_CROWDED_SECONDS)


def _make_modest(pid: int, processor: set[int]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), processor)
        os.sched_setscheduler(int(thread.name), os.SCHED_IDLE, os.sched_param(0))
    with suppress(OSError):  # a session has a weight of its own where the kernel groups processes by sessions
        Path(f"/proc/{pid}/autogroup").write_text("19")


def _starve(plan: Plan, _cluster: ClusterRef, observer: NodeRef) -> None:
    _both_up(plan, observer)
    plan.do(_Suspend(observer))
    plan.expect(follows_leader(observer), within="4s", named="observer_recovers")


@dataclass(frozen=True, slots=True)
class _HighWatermarkKnown:
    """A leader knows what is committed, and the watch of the cluster has seen it: only then is it in the journal.

    It does once a majority has fetched in its epoch.
    """

    name: ClassVar[str] = "high_watermark_known"
    description: str = "the leader has a high watermark"

    def sample(self, world: World) -> Sample:
        """Look at the newest answer that the watch has had, of the leader that there is now."""
        epoch = world.quorum().epoch
        seen = [look.quorum for look in world.recent_looks(0.0) if look.quorum.epoch == epoch]
        mark = seen[-1].high_watermark if seen and seen[-1].leader >= 0 else -1
        return Sample(mark > 0, {"high_watermark": mark})


def _lead_twice(plan: Plan, cluster: ClusterRef) -> None:
    """Have two leaders, one after the other, write the log."""
    plan.do(start_all())
    plan.guard(is_up(), _HighWatermarkKnown(), within=_UP)
    plan.do(stop(cluster.leader))
    plan.guard(has_new_leader(), _HighWatermarkKnown(), within=_UP)


def _move_without_registering(plan: Plan, _cluster: ClusterRef) -> None:
    """Move one voter and register it, then another and do not: only the second guard is unmet."""
    plan.do(start_all())
    plan.guard(is_up(), has_leader(), within=_UP)
    _, first, second = plan.name_voters("leader", "first", "second")
    plan.do(restart(first, ports="new"), register_endpoint(first))
    plan.guard(is_up(), voter_set_knows(first), within=_UP)
    plan.do(restart(second, ports="new"))
    plan.guard(is_up(), within=_UP)
    plan.guard(voter_set_knows(second), within="2s")


def _before_and_after_a_cut(cluster: Cluster) -> tuple[ClientReport, ClientReport]:
    """Produce to one node and account for it; then take the end of its log away, and account again."""
    (node,) = cluster.nodes.values()
    _start(cluster, node)
    broker = node.config.listeners[0]
    problem = partitions.create_topics(cluster.wire, broker, {"orders": [(node.id,)]}, {})
    require(not problem, f"the topic could not be created: {problem}")
    client = RecordsClient(produce("orders"), 1, [broker])
    client.start()
    time.sleep(_PRODUCE_SECONDS)
    client.stop()
    before = client.report([broker])
    node.kill()
    log = node.data_dir / _SEGMENT
    os.truncate(log, log.stat().st_size - _CUT_BYTES)
    _start(cluster, node)
    return before, client.report([broker])


def _start(cluster: Cluster, node: Node) -> None:
    cluster.start([node.id])
    ready = wait_until(lambda: _is_ready(cluster, node), _UP_SECONDS)
    require(ready, "a node did not come up")


def _is_ready(cluster: Cluster, node: Node) -> bool:
    cluster.look()
    return node.state is NodeState.READY
