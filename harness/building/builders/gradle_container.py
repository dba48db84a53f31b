"""Gradle in a container, on the raft module alone and without network."""

from __future__ import annotations

from contextlib import ExitStack

from harness.building.builders.base import BuildHost, builder
from harness.building.compiling import Builder


@builder(auto=1, in_container=True)
def gradle_container(host: BuildHost, held: ExitStack) -> Builder:
    """Return the builder while its engine is held. Raises HarnessError when engine or image is not there."""
    from harness.building.containers.choosing import workshop  # takes half a second to load
    from harness.building.containers.gradle import GradleModule

    return GradleModule(workshop(host.report, held), host.toolbox.cache / "maven")
