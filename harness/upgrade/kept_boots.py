"""What boots of two Kafkas showed, kept in the cache: the same jars on the same Java need not be started again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from harness.base.recordfile import RecordFile
from harness.model.kafka_inventory import KafkaInventory
from harness.upgrade.inventory import Bench
from harness.upgrade.jar_facts import digest_of


def kept_boots(
    inventories: Sequence[KafkaInventory], rounds: int, bench: Bench
) -> RecordFile[tuple[KafkaInventory, ...]]:
    """Return the file of inventories with so many boots of each: of these jars in this order, this Java and host."""
    jars = {str(number): each.digest for number, each in enumerate(inventories)}
    host = {"java": bench.toolbox.node_java().version, "processors": str(len(os.sched_getaffinity(0)))}
    digest = digest_of((), {**jars, **host, "rounds": str(rounds)})
    place = bench.toolbox.cache / "inventories" / f"boots-{digest}.json.gz"
    return RecordFile(place, tuple[KafkaInventory, ...], remedy="Delete the file.")


def as_booted(inventory: KafkaInventory, kept: KafkaInventory) -> KafkaInventory:
    """Return an inventory with what boots of the same jars showed before."""
    return replace(
        inventory,
        metrics=kept.metrics,
        apis=kept.apis,
        features=kept.features,
        boots=kept.boots,
        booted_on=kept.booted_on,
    )
