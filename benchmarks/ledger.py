"""What a ledger costs: records a second on live nodes, and the share of a core that its client takes.

    python benchmarks/ledger.py [PER_SECOND] [SECONDS] [ROUNDS]

Each round starts a cluster of 3 combined nodes and keeps a ledger of PER_SECOND (5000) records as a run does (acks=all,
idempotent, three partitions): sent, answered, consumed, entered and written. This process does nothing else, so that
what it takes is the client's, librdkafka's threads included. The ledger is judged in the end, and must have lost
nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness.base.files import sha256_of
from harness.base.waiting import wait_until
from harness.cluster import probes
from harness.cluster.cluster import Cluster
from harness.cluster.host_accounts import accounts_of, thread_name
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.cluster.topology import Topology
from harness.kafka.distribution import distribution_of
from harness.model.clients import ClientReport
from harness.model.request import Request
from harness.rundir.parts import RunFolder
from harness.scenario.loads.ledger import LedgerClient, keep_ledger
from harness.scenario.world import World
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
TOPOLOGY = Topology(3, 0)
UP_SECONDS, SETTLES_SECONDS = 60.0, 5.0


@dataclass(frozen=True, slots=True)
class Round:
    """What was acknowledged and consumed a second, and the shares of a core: of all, and of each kind of thread."""

    acknowledged: float
    consumed: float
    core: float
    threads: Mapping[str, float]
    report: ClientReport


def main() -> None:
    per_second, seconds, rounds = (
        int(sys.argv[place]) if len(sys.argv) > place else usual for place, usual in ((1, 5000), (2, 20), (3, 3))
    )
    toolbox = local_toolbox()
    kafka = distribution_of(None, KAFKA, toolbox)
    install = Install("stock", kafka.raft_jar, sha256_of(kafka.raft_jar), "absent")
    node_parts = prepare_node_parts(Request(), kafka, toolbox, lambda _: None)
    seen = [measure(node_parts, install, per_second, seconds) for _ in range(rounds)]
    print(f"{'acknowledged/s':>16}{'consumed/s':>12}{'of a core':>11}{'lost':>6}   of {seconds} s each")
    for each in seen:
        lost = each.report.lost
        print(f"{each.acknowledged:16.0f}{each.consumed:12.0f}{each.core:11.1%}{lost:6}   {each.report.detail}")
    for name in seen[0].threads:
        print(f"{name:>28}{median(each.threads.get(name, 0.0) for each in seen):11.1%}")
    for wrong in [each.report for each in seen if each.report.lost or each.report.violations or each.report.unread]:
        raise SystemExit(f"the ledger is not whole: {wrong}")


def measure(node_parts: NodeParts, install: Install, per_second: int, seconds: float) -> Round:
    with tempfile.TemporaryDirectory() as root:
        folder = RunFolder(Path(root), "runs/s/stock/1")
        launch = node_parts.launch({})
        with Cluster(TOPOLOGY, folder.nodes, launch, install, node_parts.template, lambda _: None) as cluster:
            cluster.start(cluster.nodes)
            if not wait_until(lambda: _is_up(cluster), UP_SECONDS):
                raise SystemExit("the cluster did not come up")
            world = World(cluster, None, {}, "", (), lambda _: 0, lambda: False, folder)  # type: ignore[arg-type]
            client = keep_ledger("ledger", per_second=per_second).start(world)
            assert isinstance(client, LedgerClient)
            time.sleep(SETTLES_SECONDS)
            return _watched(client, cluster, seconds)


def _is_up(cluster: Cluster) -> bool:
    """Whether every broker answers; topics are created by whoever asks until it is done."""
    return all(map(probes.answers, cluster.brokers.values())) and len(cluster.brokers) == len(TOPOLOGY.broker_ids)


def _watched(client: LedgerClient, cluster: Cluster, seconds: float) -> Round:
    history = client.history
    began, took, threads = time.monotonic(), time.process_time(), _threads()
    acknowledged, consumed = len(history.acknowledged), len(history.seen)
    time.sleep(seconds)
    after, spent = _threads(), time.process_time() - took
    lasted = time.monotonic() - began
    acknowledged, consumed = len(history.acknowledged) - acknowledged, len(history.seen) - consumed
    client.stop()
    shares = {name: (ran - threads.get(name, 0.0)) / lasted for name, ran in after.items()}
    busiest = dict(sorted(shares.items(), key=lambda each: -each[1])[:6])
    report = client.report(cluster.client_brokers)
    return Round(acknowledged / lasted, consumed / lasted, spent / lasted, busiest, report)


def _threads() -> dict[str, float]:
    """Return the CPU seconds of the threads of this process, by their names."""
    found: dict[str, float] = {}
    ours = {each.native_id: each.name for each in threading.enumerate()}
    for number, account in accounts_of(os.getpid()).items():
        name = ours.get(number) or thread_name(os.getpid(), number)
        found[name] = found.get(name, 0.0) + account.ran / 1e9
    return found


if __name__ == "__main__":
    main()
