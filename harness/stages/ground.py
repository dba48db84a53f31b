"""The Java and the Kafka that a setup names."""

from __future__ import annotations

from pathlib import Path

from harness.kafka.distribution import Distribution, locked_distribution, unpacked_distribution
from harness.kafka.lock import read_lock
from harness.model.setup import Setup
from harness.toolbox.downloads import Downloads
from harness.toolbox.java import JavaRuntime
from harness.toolbox.toolbox import Toolbox


def java_of(setup: Setup, toolbox: Toolbox) -> JavaRuntime:
    """Return the runtime that nodes run on."""
    return toolbox.java(Path(setup.java_home) if setup.java_home else None)


def distribution_of(setup: Setup, kafka_version: str, downloads: Downloads) -> Distribution:
    """Return the distribution that nodes run from, downloading it if need be."""
    if setup.base_dist:
        return unpacked_distribution(Path(setup.base_dist))
    return locked_distribution(read_lock(kafka_version), downloads)
