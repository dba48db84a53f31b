"""Two Kafkas started in turn on one host, so that both meet the same weather."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import psutil

from harness.base.errors import HarnessError
from harness.building.java_programs import compiled_probe
from harness.cluster.node_figures import REPORTER_SOURCE
from harness.cluster.prepare import NodeParts, make_node_parts
from harness.cluster.protocol import Unreachable
from harness.kafka.distribution import Distribution
from harness.kafka.release_lines import Mode, check_mode, line_of
from harness.model.kafka_inventory import Feature, KafkaInventory
from harness.model.setup import Profile
from harness.upgrade.inventory import Bench, Names, read_names
from harness.upgrade.live_node import METRICS_SOURCE, Seen, boot_once
from harness.upgrade.metric_lines import merged


@dataclass(frozen=True, slots=True)
class Bootable:
    """A Kafka with everything that a start of it needs."""

    kafka: Distribution
    parts: NodeParts
    metrics: Path
    names: Names


def with_boots(
    pair: Sequence[tuple[Distribution, KafkaInventory]], rounds: int, bench: Bench
) -> tuple[KafkaInventory, ...]:
    """Return inventories with what `rounds` boots of each Kafka showed, the first and the second taking turns.

    Raises HarnessError when a node does not come up.
    """
    bootable = [_prepared(kafka, bench) for kafka, _ in pair]
    seen: list[list[Seen]] = [[] for _ in pair]
    for number in range(rounds):
        order = list(range(len(pair)))
        for at in order if number % 2 == 0 else reversed(order):
            seen[at].append(_boot(bootable[at], f"boot {number + 1} of {rounds}", bench))
    return tuple(
        _with(inventory, boots, each.names) for (_, inventory), boots, each in zip(pair, seen, bootable, strict=True)
    )


def _prepared(kafka: Distribution, bench: Bench) -> Bootable:
    java, cache, line = bench.toolbox.node_java().java, bench.toolbox.cache, line_of(kafka.version)
    check_mode(line, Mode.KRAFT)
    parts = make_node_parts(java, kafka.others, kafka.raft_jar, Profile.PRODUCTION, line, cache, bench.report)
    reporter = compiled_probe(bench.compiler, REPORTER_SOURCE, kafka.jars, cache)
    metrics = compiled_probe(bench.compiler, METRICS_SOURCE, kafka.jars, cache)
    return Bootable(kafka, replace(parts, reporter=reporter), metrics, read_names(kafka, bench))


def _boot(each: Bootable, what: str, bench: Bench) -> Seen:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return boot_once(
                each.parts,
                each.kafka.raft_jar,
                each.metrics,
                each.names.requests,
                Path(folder),
                lambda text: bench.report(f"{each.kafka.version}, {what}: {text}"),
            )
        except HarnessError as error:
            raise _failed(each.kafka, error.message, error.hint) from error
        except (Unreachable, psutil.Error) as error:
            raise _failed(each.kafka, f"its node went away: {error}.") from error


def _failed(kafka: Distribution, why: str, hint: str = "") -> HarnessError:
    return HarnessError(f"{kafka.description}: {why}", hint)


def _with(inventory: KafkaInventory, seen: Sequence[Seen], names: Names) -> KafkaInventory:
    last = seen[-1]
    return replace(
        inventory,
        metrics=merged([each.metrics for each in seen]),
        apis=last.apis,
        features=tuple(_named(feature, names) for feature in last.features),
        boots=tuple(each.boot for each in seen),
        booted_on=datetime.now(UTC).date().isoformat(),
    )


def _named(feature: Feature, names: Names) -> Feature:
    if feature.name != "metadata.version":
        return feature
    known = {
        level: name for level, name in names.metadata_versions.items() if feature.lowest <= level <= feature.highest
    }
    return replace(feature, names=known)
