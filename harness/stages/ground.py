"""The Java and the Kafka that a setup names."""

from __future__ import annotations

from pathlib import Path

from harness.arms import Setup
from harness.java import JavaRuntime, bundled_runtime, runtime_at
from harness.progress import Reporter
from harness.resources import cache_root
from harness.sources.distribution import Distribution, locked_distribution, unpacked_distribution
from harness.sources.downloads import Downloads
from harness.sources.lock import read_lock


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
