"""What a Kafka version is made of, resolved in a Maven repository once and then locked."""

from __future__ import annotations

from jgo.maven import MavenContext

from harness.base.errors import HarnessError
from harness.kafka.lock import checked_version
from harness.kafka.release_lines import Pins
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Lock, Purpose


def resolve_lock(version: str, pins: Pins, downloads: Downloads) -> Lock:
    """Resolve a Kafka version's class path, download all its files and return their pins.

    `pins` are those of its release line. Raises HarnessError when the version is not in the repository or the network
    is forbidden or away.
    """
    checked_version(version)
    if downloads.offline:
        raise HarnessError("A lock cannot be written with --offline.", "Run it once with a network.")
    wanted = [(coordinate, Purpose.RUNTIME) for coordinate in _runtime(version, pins, downloads)]
    for purpose, coordinates in (
        (Purpose.SOURCES, pins.sources),
        (Purpose.TESTS, pins.tests),
        (Purpose.COMMANDS, pins.commands),
    ):
        wanted += [(coordinate.format(version=version), purpose) for coordinate in coordinates]
    return Lock(version, downloads.pin_all(wanted))


def _runtime(version: str, pins: Pins, downloads: Downloads) -> list[str]:
    broker = pins.broker.format(version=version)

    def resolve(context: MavenContext) -> list[str]:
        roots = [context.create_dependency(each) for each in (broker, *pins.log_binding)]
        found, behind = context.resolver.resolve(roots)
        return sorted({str(dependency.artifact) for dependency in (*found, *behind)})

    return downloads.ask(broker, resolve)
