"""What can be known of only one of two Kafkas, so that it is no difference between them: it is left out, and said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.base.files import sha256_of
from harness.base.text import listed
from harness.kafka.distribution import Distribution
from harness.kafka.jar_names import jar_name
from harness.kafka.lock import locked_versions, read_lock
from harness.model.kafka_inventory import KafkaInventory
from harness.toolbox.lockfile import Purpose
from harness.upgrade.inventory import whose_statements
from harness.upgrade.jar_facts import is_own

_NAMED = 3


def same_libraries(kafkas: Sequence[Distribution], inventories: Sequence[KafkaInventory]) -> tuple[KafkaInventory, ...]:
    """Return inventories with the libraries that both can have.

    Of a locked release only what a node needs is there: what an unpacked Kafka has beside that may be in both.
    """
    of_nodes = [set(each.libraries) for kafka, each in zip(kafkas, inventories, strict=True) if kafka.is_locked]
    if len(of_nodes) != 1:
        return tuple(inventories)
    (known,) = of_nodes
    return tuple(
        replace(each, libraries={name: version for name, version in each.libraries.items() if name in known})
        for each in inventories
    )


def libraries_not_compared(kafkas: Sequence[Distribution]) -> list[str]:
    """Return in a sentence that jars are compared which nodes need, where only one Kafka is a locked release."""
    locked = [each.description for each in kafkas if each.is_locked]
    if len(locked) != 1:
        return []
    return [f"Of libraries those that nodes need are compared: of {locked[0]} no others are there."]


def lines_not_compared(kafkas: Sequence[Distribution]) -> list[str]:
    """Return in sentences of which jars no statements are known but those of Apache's jars of the same name."""
    return [
        f"Log lines of {listed(names, _NAMED)} of {kafka.description} are taken to be those of the sources of "
        f"{whose_statements(kafka.version)}: what was changed in these jars is not compared."
        for kafka in kafkas
        if (names := tuple(_others_than_apaches(kafka)))
    ]


def _others_than_apaches(kafka: Distribution) -> Iterator[str]:
    """Yield the jars of Kafka's own that are not those whose statements are known."""
    version = whose_statements(kafka.version)
    if version not in locked_versions():  # then no statements are known at all
        return
    artifacts = read_lock(version).of(Purpose.RUNTIME)
    pinned = {named.module: each.sha256 for each in artifacts if (named := jar_name(each.name)) and is_own(each.name)}
    for jar in kafka.jars:
        named = jar_name(jar.name)
        if named and named.module in pinned and sha256_of(jar) != pinned[named.module]:
            yield jar.name
