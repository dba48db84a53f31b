"""One Kafka alive: a single node is started with Kafka's own JVM options, used a little, and asked what it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from harness.base.errors import HarnessError
from harness.base.tails import last_line
from harness.base.waiting import wait_until
from harness.cluster import probes
from harness.cluster.address import Address
from harness.cluster.admin_requests import answer_of
from harness.cluster.cluster import Cluster
from harness.cluster.install import Install
from harness.cluster.node import Node, NodeState
from harness.cluster.node_figures import ask_for_collection, read_figures
from harness.cluster.prepare import NodeParts
from harness.cluster.protocol import Unreachable
from harness.cluster.topology import Topology
from harness.model.kafka_inventory import Api, Boot, Feature, Metric
from harness.upgrade.api_versions import apis_and_features
from harness.upgrade.metric_lines import parse_metrics

METRICS_SOURCE = Path(__file__).with_name("NodeMetrics.java")
_READY_SECONDS = 90.0
_ANSWER_SECONDS = 20.0
_SETTLE_SECONDS = 2.0
_IDLE_SECONDS = 6.0
_RECORDS = 20
_TOPIC = "operator-inventory"
_MB = 1e6
# A single node holds every replica. Since 4.0 whoever names reporters has to name the one for JMX, too (KIP-830).
_PROPERTIES = {
    "metric.reporters": f"org.apache.kafka.common.metrics.JmxReporter,{METRICS_SOURCE.stem}",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What one boot showed."""

    boot: Boot
    metrics: tuple[Metric, ...]
    apis: tuple[Api, ...]
    features: tuple[Feature, ...]


def boot_once(
    parts: NodeParts,
    raft_jar: Path,
    metrics: Path,
    apis: Mapping[int, str],
    folder: Path,
    report: Callable[[str], None],
) -> Seen:
    """Start a node in an empty folder, use it, ask it, and end it.

    `metrics` is the folder of the compiled lister, `apis` are names of requests by number. Raises HarnessError when the
    node does not come up or does not answer.
    """
    listing = folder / "metrics.txt"
    launch = replace(
        parts.launch(_PROPERTIES),
        class_path=(*parts.class_path, metrics),
        extra_flags=(f"-Dharness.metrics={listing}",),
    )
    began = time.monotonic()
    with Cluster(
        Topology(1, 0), folder, launch, Install("stock", raft_jar, "", ""), parts.template, _ignore
    ) as cluster:
        (node,) = cluster.nodes.values()
        cluster.start(cluster.nodes)
        _wait_until_served(cluster, node)
        ready = time.monotonic() - began
        cpu = _cpu_seconds(node)
        _use(node.config.listeners[0])
        idle = _idle_cpu_per_minute(node)
        live = _live_heap_mb(node)
        process = psutil.Process(node.pid)
        boot = Boot(ready, cpu, idle, live, process.memory_info().rss / _MB, process.num_threads())
        report(f"ready after {ready:.1f} s")
        served = apis_and_features(node.config, apis)
        return Seen(boot, _metrics(listing), *served)


def _ignore(_: Node) -> None:
    return


def _wait_until_served(cluster: Cluster, node: Node) -> None:
    """Wait until clients find the broker. Raises HarnessError."""

    def is_served() -> bool:
        cluster.look()
        return node.state is NodeState.DIED or (node.state is NodeState.READY and _serves(cluster, node))

    if not wait_until(is_served, _READY_SECONDS) or node.state is NodeState.DIED:
        raise HarnessError(
            f"A node of this Kafka did not come up within {_READY_SECONDS:.0f} s: "
            f"{last_line(node.output_file, node.log_file) or 'no output'}",
            "Run `harness doctor`; see whether the Java runtime fits this Kafka version (--java-home).",
        )


def _serves(cluster: Cluster, node: Node) -> bool:
    try:
        return bool(probes.metadata(cluster.wire, node.config.listeners[0]).brokers)
    except Unreachable:
        return False


def _use(broker: Address) -> None:
    """Make a topic, write and read a few records in a group: what a node counts only then is there.

    Raises HarnessError when it does not answer.
    """
    servers: dict[str, str | int | float | bool] = {"bootstrap.servers": str(broker), "client.id": "operator"}
    try:
        _make_topic(AdminClient(servers))
        _write(Producer({**servers, "acks": "all"}))
        read = _read(Consumer({**servers, "group.id": "operator", "auto.offset.reset": "earliest"}))
    except KafkaException as error:
        raise HarnessError(f"A node of this Kafka does not serve a client: {error}.") from error
    if read < _RECORDS:
        raise HarnessError(f"A node of this Kafka gave back {read} of {_RECORDS} records in {_ANSWER_SECONDS:.0f} s.")


def _make_topic(admin: AdminClient) -> None:
    try:
        answer_of(lambda: admin.create_topics([NewTopic(_TOPIC, 1, 1)], request_timeout=_ANSWER_SECONDS)[_TOPIC])
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:  # where it was asked twice
            raise


def _write(producer: Producer) -> None:
    for number in range(_RECORDS):
        producer.produce(_TOPIC, str(number).encode())
    producer.flush(_ANSWER_SECONDS)


def _read(consumer: Consumer) -> int:
    consumer.subscribe([_TOPIC])
    read, deadline = 0, time.monotonic() + _ANSWER_SECONDS
    while read < _RECORDS and time.monotonic() < deadline:
        read += sum(message.error() is None for message in consumer.consume(_RECORDS, 0.2))
    consumer.close()  # commits
    return read


def _cpu_seconds(node: Node) -> float:
    times = psutil.Process(node.pid).cpu_times()
    return float(times.user + times.system)


def _idle_cpu_per_minute(node: Node) -> float:
    time.sleep(_SETTLE_SECONDS)
    before, began = _cpu_seconds(node), time.monotonic()
    time.sleep(_IDLE_SECONDS)
    return 60 * (_cpu_seconds(node) - before) / (time.monotonic() - began)


def _live_heap_mb(node: Node) -> float:
    """Have the node collect its heap, and return what stayed alive."""
    asked = ask_for_collection(node.figures_file)
    wait_until(lambda: not asked.exists() and _live(node) is not None, _ANSWER_SECONDS)
    return (_live(node) or 0.0) / _MB


def _live(node: Node) -> float | None:
    return next((line.numbers["live"] for line in read_figures(node.figures_file) if "live" in line.numbers), None)


def _metrics(listing: Path) -> tuple[Metric, ...]:
    listing.with_name(f"{listing.name}.wanted").touch()
    if not wait_until(listing.exists, _ANSWER_SECONDS):
        raise HarnessError(f"A node of this Kafka did not list its metrics within {_ANSWER_SECONDS:.0f} s.")
    return tuple(parse_metrics(listing.read_text(encoding="utf-8", errors="replace")).values())
