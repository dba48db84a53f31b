"""Canaries on live clusters: a deaf observer, a log that forgets, a heal that does not heal, a starved host."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.files import read_journal
from harness.cluster import partitions
from harness.cluster.cluster import Cluster, Topology
from harness.cluster.node import Node, NodeState, wait_until
from harness.cluster.prepare import Ground
from harness.engine.outcome import Facts, decide
from harness.engine.recorder import Cell
from harness.engine.world import World
from harness.kafka.downloads import sha256_of
from harness.model.arms import Arm, Build, Flag, Role
from harness.model.runs import Outcome, RunKey, RunResult
from harness.rundir.directory import RunDirectory
from harness.scenario.api import ClusterRef, Plan
from harness.scenario.load import Ledger, LedgerSummary, produce
from harness.scenario.nodes import NodeRef
from harness.selftest.cases import Canary, Silent, require
from harness.selftest.still import carry_out, plan_of

_UP = "60s"
_UP_SECONDS = 60.0
_PRODUCE_SECONDS = 1.5
_CUT_BYTES = 20
_SEGMENT = "orders-0/00000000000000000000.log"
# A voter announces its new address itself after three fetch time-outs: too late to be taken for the heal.
_SLOW_TO_ANNOUNCE = {"controller.quorum.fetch.timeout.ms": "20000"}


@dataclass(frozen=True, slots=True)
class Stand:
    """What live canaries stand on: a prepared Kafka, and its own raft jar."""

    ground: Ground
    raft_jar: Path
    version: str

    def canaries(self) -> tuple[Canary, ...]:
        """Return the canaries that are asked of real nodes."""
        return (
            Canary("deaf observer", "an observer that lives, stays listed and fetches nothing", self._deaf),
            Canary("starved host", "an observer that the host does not let run", self._starved),
            Canary("heal that does not heal", "a voter moves, and nobody registers its new address", self._unhealed),
            Canary("forgotten record", "acknowledged records that are cut from the broker's log", self._forgotten),
        )

    def _run(
        self, run_dir: Path, topology: Topology, build: Callable[..., None], settings: Mapping[str, str]
    ) -> RunResult:
        jar = Build("stock", self.version, str(self.raft_jar), sha256_of(self.raft_jar), "release", Flag("", False))
        key, arm = RunKey("canary", "stock", 1), Arm("stock", Role.BASE, jar, "absent")
        scenario = plan_of("canary", topology, build)
        return carry_out(Cell(key, scenario, arm, self.ground, self.raft_jar, settings, ""), run_dir)

    def _deaf(self, run_dir: Path) -> str:
        result = self._run(run_dir, Topology(1, 1), _deafen, {})
        events = read_journal(RunDirectory(run_dir).run(result.key).journal)
        listed = [event["observers"] for event in events if event["event"] == "quorum"]
        require("1" in listed[-1], "the quorum does not list it any more, which would tell it too")
        return _told(result, Outcome.FAILED, "observer_recovers")

    def _starved(self, run_dir: Path) -> str:
        result = self._run(run_dir, Topology(1, 1), _starve, {})
        return _told(result, Outcome.INCONCLUSIVE, "host_not_starved")

    def _unhealed(self, run_dir: Path) -> str:
        result = self._run(run_dir, Topology(3, 0), _move_without_registering, _SLOW_TO_ANNOUNCE)
        require("the second" in result.reason, f"{result.outcome}: {result.reason}")
        return _told(result, Outcome.INCONCLUSIVE, "voter_set_knows")

    def _forgotten(self, folder: Path) -> str:
        launch = self.ground.launch(self.raft_jar, {})
        with Cluster(Topology(1, 0), folder, launch, self.ground.template, lambda _: None) as cluster:
            before, after = _before_and_after_a_cut(cluster)
        require(before.acked > 0 and not before.lost and not before.unread, f"before the cut: {before}")
        decision = decide(Facts(ledger=after))
        if (decision.outcome, decision.expectation) != (Outcome.FAILED, "nothing_lost"):
            raise Silent(f"{decision.outcome}: {decision.reason}")
        return f"{decision.outcome}({decision.expectation}): {decision.reason}"


def _told(result: RunResult, outcome: Outcome, expectation: str) -> str:
    """Return a result in words when it is the alarm; raise Silent when it is another."""
    words = f"{result.outcome}({result.expectation}): {result.reason}"
    require((result.outcome, result.expectation) == (outcome, expectation), words)
    return words


def _both_up(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
    plan.do(cluster.start())
    plan.guard(cluster.is_up(), observer.follows_leader(), within=_UP)


@dataclass(frozen=True, slots=True)
class _Deafen:
    """Restart a node without what it knows of the quorum, told dead addresses only."""

    node: NodeRef
    words: str = "restart the observer without its metadata, told dead addresses"

    def perform(self, world: World) -> None:
        """Stop, forget, start."""
        node = world.cluster.nodes[self.node.find(world)]
        node.stop()
        shutil.rmtree(node.data_dir / "__cluster_metadata-0")
        world.cluster.start([node.id], {voter: world.cluster.dead_port() for voter in world.cluster.controller_ports})


def _deafen(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
    _both_up(plan, cluster, observer)
    plan.do(_Deafen(observer))
    plan.expect(observer.follows_leader(), within="6s", named="observer_recovers")


@dataclass(frozen=True, slots=True)
class _Suspend:
    """Keep a node from running."""

    node: NodeRef
    words: str = "let the observer not run (SIGSTOP)"

    def perform(self, world: World) -> None:
        """Stop it where it is."""
        os.kill(world.cluster.nodes[self.node.find(world)].pid, signal.SIGSTOP)


def _starve(plan: Plan, cluster: ClusterRef, observer: NodeRef) -> None:
    _both_up(plan, cluster, observer)
    plan.do(_Suspend(observer))
    plan.expect(observer.follows_leader(), within="4s", named="observer_recovers")


def _move_without_registering(plan: Plan, cluster: ClusterRef) -> None:
    """Move one voter and register it, then another and do not: only the second guard is unmet."""
    plan.do(cluster.start())
    plan.guard(cluster.is_up(), cluster.has_leader(), within=_UP)
    _, first, second = plan.name_voters("leader", "first", "second")
    plan.do(first.restart(ports="new"), first.register_endpoint())
    plan.guard(cluster.is_up(), cluster.voter_set_knows(first), within=_UP)
    plan.do(second.restart(ports="new"))
    plan.guard(cluster.is_up(), within=_UP)
    plan.guard(cluster.voter_set_knows(second), within="2s")


def _before_and_after_a_cut(cluster: Cluster) -> tuple[LedgerSummary, LedgerSummary]:
    """Produce to one node and account for it; then take the end of its log away, and account again."""
    (node,) = cluster.nodes.values()
    _start(cluster, node)
    port = node.config.ports[0]
    problem = partitions.create_topic(port, "orders", [(node.id,)], {})
    require(not problem, f"the topic could not be created: {problem}")
    ledger = Ledger(produce("orders"), [port])
    ledger.start()
    time.sleep(_PRODUCE_SECONDS)
    ledger.stop()
    before = ledger.verify([port])
    node.kill()
    log = node.data_dir / _SEGMENT
    os.truncate(log, log.stat().st_size - _CUT_BYTES)
    _start(cluster, node)
    return before, ledger.verify([port])


def _start(cluster: Cluster, node: Node) -> None:
    cluster.start([node.id])
    ready = wait_until(lambda: _is_ready(cluster, node), _UP_SECONDS)
    require(ready, "a node did not come up")


def _is_ready(cluster: Cluster, node: Node) -> bool:
    cluster.look()
    return node.state is NodeState.READY
