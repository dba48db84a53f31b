"""How long until a cluster of 3 combined nodes and 1 broker is up, and what it costs: fast against default.

    python benchmarks/clusters.py [ROUNDS]

Each round starts one cluster as the harness does (storage from a template, serial collector, C1, class archive) and
one with StorageTool and a JVM without any flags of ours, in turn, so that a drifting host meets both alike.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil

from harness.base.waiting import wait_until
from harness.cluster import probes
from harness.cluster.cluster import Cluster
from harness.cluster.formatting import Identity, format_with_storage_tool, new_uuid
from harness.cluster.install import Install
from harness.cluster.prepare import NodeParts
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology
from harness.kafka.distribution import Distribution, distribution_of
from harness.model.request import Request
from harness.model.setup import Profile
from harness.stages.node_parts import prepare_node_parts
from harness.toolbox.toolbox import local_toolbox

KAFKA = "3.9.1"
TOPOLOGY = Topology(3, 1)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    toolbox = local_toolbox()
    kafka = distribution_of(None, KAFKA, toolbox)
    fast = prepare_node_parts(Request(), kafka, toolbox, lambda _: None)
    plain = replace(fast, archive=None, profile=Profile.PRODUCTION)
    figures: dict[str, list[tuple[float, float, float]]] = {"fast": [], "default": []}
    for _ in range(rounds):
        figures["fast"].append(measure(fast, kafka, format_all=False))
        figures["default"].append(measure(plain, kafka, format_all=True))
    print(f"{'':10}{'format s':>10}{'up s':>10}{'CPU s':>10}   median of {rounds} (min to max of up)")
    for name, rows in figures.items():
        formatting, up, cpu = (statistics.median(column) for column in zip(*rows, strict=True))
        ups = [row[1] for row in rows]
        print(f"{name:10}{formatting:10.2f}{up:10.2f}{cpu:10.2f}   ({min(ups):.2f} to {max(ups):.2f})")
    ratio = [d[1] / f[1] for f, d in zip(figures["fast"], figures["default"], strict=True)]
    print(f"default / fast until up, pair by pair: median {statistics.median(ratio):.2f}")


def measure(node_parts: NodeParts, kafka: Distribution, *, format_all: bool) -> tuple[float, float, float]:
    """Return seconds for formatting, seconds until up, CPU seconds of the nodes until then."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        launch, stock = node_parts.launch({}), Install("stock", kafka.raft_jar, "", "absent")
        with Cluster(TOPOLOGY, Path(folder) / "nodes", launch, stock, node_parts.template, lambda _: None) as cluster:
            if format_all:
                format_again(node_parts, kafka, cluster, Path(folder))
            formatted = time.monotonic()
            cluster.start(cluster.nodes)
            if not wait_until(lambda: is_up(cluster), 120, every=0.1):
                raise SystemExit("the cluster did not come up")
            up = time.monotonic()
            cpu = sum(sum(psutil.Process(node.pid).cpu_times()[:2]) for node in cluster.nodes.values())
            return formatted - began, up - formatted, cpu


def format_again(node_parts: NodeParts, kafka: Distribution, cluster: Cluster, folder: Path) -> None:
    """Do what formatting costs with Kafka's own tool: one call per node (the result is thrown away)."""
    jars = (*node_parts.class_path, kafka.raft_jar)
    voters = [Identity(n.id, n.directory, n.config.announced) for n in cluster.voters]
    for node in cluster.nodes.values():
        named = voters if node.is_voter else []
        format_with_storage_tool(
            node_parts.java,
            jars,
            node_parts.line.main_classes.storage,
            folder / f"tool-{node.id}",
            node.config,
            new_uuid(),
            named,
        )


def is_up(cluster: Cluster) -> bool:
    """Whether every broker is unfenced in the observer's own metadata and somebody leads."""
    try:
        known = probes.metadata(cluster.wire, cluster.nodes[3].config.listeners[0]).brokers
    except Unreachable:
        return False
    return len(known) == 4 and cluster.quorum().leader >= 0


if __name__ == "__main__":
    main()
