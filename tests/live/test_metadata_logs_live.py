"""The metadata log as oracle: a stock cluster that loses leaders, a disk and its majority keeps what Raft promises."""

import os
import shutil
import signal
import time
from dataclasses import dataclass, replace

import pytest

from harness.cluster.metadata_log.batches import read_batches
from harness.cluster.topology import Topology
from harness.engine.planned_run import PlannedRun
from harness.model.arms import Role
from harness.model.events import MetadataLogsRead
from harness.model.runs import Outcome, RunKey
from harness.rundir.directory import RunDirectory
from harness.rundir.journal import events_of, read_journal
from harness.scenario import (
    follows_leader,
    has_leader,
    has_new_leader,
    is_up,
    kill,
    restart,
    start,
    start_all,
    voters_caught_up,
)
from harness.scenario.monitors.host_not_starved import HostNotStarved
from harness.scenario.refs import NodeRef
from harness.scenario.steps import Fault
from harness.selftest.canaries_without_nodes import carry_out, plan_of
from harness.selftest.live_canaries import LiveCanaries

pytestmark = [pytest.mark.live, pytest.mark.clusters]


@dataclass(frozen=True, slots=True)
class Hold(Fault):
    """Hold processes where they are for a while, and kill another meanwhile, which cannot commit what it writes."""

    held: tuple[NodeRef, ...]
    killed: NodeRef
    description: str = "kill the leader while it has no majority"

    def perform(self, world):
        held = [world.cluster.nodes[ref.find(world)] for ref in self.held]
        leader = world.cluster.nodes[self.killed.find(world)]
        for node in held:
            world.monitor(HostNotStarved).allow(node.id)
            os.kill(node.pid, signal.SIGSTOP)
        time.sleep(1.8)  # three no-ops
        leader.kill()
        for node in held:
            os.kill(node.pid, signal.SIGCONT)


@dataclass(frozen=True, slots=True)
class Wipe(Fault):
    """Take a node's metadata log away."""

    node: NodeRef
    description: str = "wipe the observer's metadata log"

    def perform(self, world):
        node = world.cluster.nodes[self.node.find(world)]
        node.stop()
        shutil.rmtree(node.metadata_log)
        node.start()


def losses(plan, cluster, observer):
    plan.do(start_all())
    plan.guard(is_up(), follows_leader(observer), within="90s")
    first, *_ = plan.name_voters("first", "second", "third")
    plan.do(kill(first))
    plan.guard(has_new_leader(), within="30s")
    plan.do(start(first))
    plan.guard(is_up(), voters_caught_up(), within="60s")
    plan.do(Wipe(observer))
    plan.guard(is_up(), follows_leader(observer), within="60s")
    for turn in ("second time", "third time"):
        leader, one, other = plan.name_voters(f"leader, {turn}", f"one, {turn}", f"other, {turn}")
        plan.do(Hold((one, other), leader))
        plan.guard(has_new_leader(), follows_leader(observer), within="60s")
        plan.do(restart(observer))
        plan.guard(is_up(), follows_leader(observer), within="60s")
        if turn == "second time":
            plan.do(start(leader))
            plan.guard(is_up(), has_leader(), voters_caught_up(), within="60s")
            plan.do(restart(leader))
            plan.guard(is_up(), has_leader(), voters_caught_up(), within="60s")


def test_stock_keeps_every_promise_whatever_it_loses(node_parts, kafka, tmp_path):
    live = LiveCanaries(node_parts, kafka.raft_jar, kafka.version)
    scenario = replace(plan_of("losses", Topology(3, 1), losses), stalls_spoil=False)
    cell = PlannedRun(RunKey("losses", "stock", 1), scenario, Role.BASE, node_parts, live._stock())
    result = carry_out(cell, tmp_path)
    assert result.outcome is Outcome.PASSED, result.summary
    run = RunDirectory(tmp_path).run(result.key)
    readings = [each for each in events_of(read_journal(run.journal)) if isinstance(each, MetadataLogsRead)]
    assert len(readings) >= 8
    assert not run.metadata_logs.exists()
    assert len(tails_that_differ(run)) == 1, "the leader that was killed last has a tail that nobody else has"


def tails_that_differ(run):
    """Return the nodes of which some batch differs from that of a majority."""
    segments = {path.parts[-4]: path for path in run.nodes.glob("*/data/__cluster_metadata-0/*.log")}
    held = {
        node: {each.base_offset: each for each in read_batches(path.read_bytes()).batches}
        for node, path in segments.items()
    }
    return [
        node
        for node, mine in held.items()
        if any(sum(theirs.get(at, batch) != batch for theirs in held.values()) >= 2 for at, batch in mine.items())
    ]
