"""What a Kafka version is made of, resolved in a Maven repository once and then locked."""

from __future__ import annotations

from collections.abc import Collection

from jgo.maven import MavenContext

from harness.base.errors import HarnessError
from harness.kafka.lock import checked_version, known_pins
from harness.kafka.release_lines import Pins
from harness.toolbox.downloads import REPOSITORY_VARIABLE, Downloads, missing_files
from harness.toolbox.lockfile import Artifact, Lock, Purpose

_OWN = "org.apache.kafka"


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
    return Lock(version, downloads.pin_all(wanted, known_pins()))


def _runtime(version: str, pins: Pins, downloads: Downloads) -> list[str]:
    broker = pins.broker.format(version=version)
    # What is beside it is not resolved with it: versions that log4j's own POM manages would win over Kafka's.
    path = {_unversioned(each): each for each in _closure(broker, downloads)}
    for each in pins.beside_broker:
        coordinate = _filled(each, version, path.values())
        path.setdefault(_unversioned(coordinate), coordinate)
    return sorted(path.values())


def _closure(coordinate: str, downloads: Downloads) -> list[str]:
    def resolve(context: MavenContext) -> list[str]:
        found, behind = context.resolver.resolve([context.create_dependency(coordinate)])
        artifacts = [dependency.artifact for dependency in (*found, *behind)]
        if unread := sorted({f"{each.artifactId}-{each.version}.pom" for each in artifacts} & missing_files(context)):
            raise HarnessError(
                f"The repository lacks {unread[0]}, so that nobody knows what {coordinate} is made of.",
                f"Name another repository in {REPOSITORY_VARIABLE}.",
            )
        return [str(each) for each in artifacts]

    return downloads.ask(coordinate, resolve)


def _filled(coordinate: str, version: str, path: Collection[str]) -> str:
    """Return a coordinate of a line with the versions in it: Kafka's, and those of artifacts that are on the path."""
    present = {artifact: rest[-1] for _, artifact, *rest in (each.split(":") for each in path)}
    try:
        return coordinate.format_map({**present, "version": version})
    except (KeyError, ValueError) as error:
        raise HarnessError(
            f"The line of Kafka {version} pins {coordinate}, and {error} is none of the broker's dependencies.",
            "Write a version of its own into the line's file (docs/release-lines.md).",
        ) from error


def _unversioned(coordinate: str) -> str:
    return coordinate.rpartition(":")[0]


def pin_module(
    module: str, version: str, present: Collection[str], downloads: Downloads, *, alone: bool
) -> tuple[Artifact, ...]:
    """Return the pins of a release's module, with all that it depends on unless it is wanted `alone`.

    Files that are `present`, by their names, are left out: a lock may pin them. Raises HarnessError when the release
    has no such module, or the network is forbidden or away.
    """
    coordinate = f"{_OWN}:{module}:jar:{version}"
    wanted = {coordinate} if alone else {coordinate, *_dependencies(coordinate, version, downloads)}
    missing = sorted(each for each in wanted if _file_name(each) not in present)
    return downloads.pin_all(((each, Purpose.COMMANDS) for each in missing), known_pins())


def _file_name(coordinate: str) -> str:
    _, artifact, *rest = coordinate.split(":")
    return f"{artifact}-{rest[-1]}.jar"


def _dependencies(coordinate: str, version: str, downloads: Downloads) -> list[str]:
    known = _closure(coordinate, downloads)
    return [each for each in known if not each.startswith(f"{_OWN}:") or each.endswith(f":{version}")]
