"""The Java and the Kafka that a setup names."""

from __future__ import annotations

from pathlib import Path

from harness.base.paths import cache_root
from harness.base.progress import Reporter
from harness.kafka.distribution import Distribution, locked_distribution, unpacked_distribution
from harness.kafka.lock import read_lock
from harness.model.setup import Setup
from harness.toolbox.downloads import Downloads
from harness.toolbox.java import JavaRuntime, bundled_runtime, runtime_at


def java_of(setup: Setup) -> JavaRuntime:
    """Return the runtime that nodes run on."""
    return runtime_at(Path(setup.java_home)) if setup.java_home else bundled_runtime()


def distribution_of(setup: Setup, kafka_version: str, reporter: Reporter) -> Distribution:
    """Return the distribution that nodes run from, downloading it if need be."""
    if setup.base_dist:
        return unpacked_distribution(Path(setup.base_dist))
    with reporter.downloads() as progress:
        downloads = Downloads(cache_root() / "maven", offline=setup.offline, progress=progress)
        return locked_distribution(read_lock(kafka_version), downloads)
