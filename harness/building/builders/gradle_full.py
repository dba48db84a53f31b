"""Kafka's own build in a container, with network: minutes, and only where it is requested."""

from __future__ import annotations

from contextlib import ExitStack

from harness.base.errors import HarnessError
from harness.building.builders.base import BuildHost, builder
from harness.building.compiling import Builder


@builder(in_container=True)
def gradle_full(host: BuildHost, held: ExitStack) -> Builder:
    """Return the builder while its engine is held. Raises HarnessError when engine or image is not there."""
    if host.toolbox.offline:
        raise HarnessError(
            "--builder gradle-full fetches Gradle and Kafka's dependencies, which --offline forbids.",
            "Use --builder gradle-container, which needs no network.",
        )
    from harness.building.containers.choosing import workshop  # takes half a second to load
    from harness.building.containers.gradle import GradleFull

    return GradleFull(workshop(host.report, held), host.toolbox.cache / "gradle-home")
