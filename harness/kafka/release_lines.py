"""Release lines (`builds/lines/<name>.toml`): everything in which Kafka's lines differ, a file each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.json import record_of
from harness.base.paths import data_root, user_data_root
from harness.kafka.versions import release_of
from harness.toolbox.java import JavaRuntime

_FOLDER = "lines"
_MANUAL = "docs/release-lines.md explains every key."


class Mode(StrEnum):
    """Where a cluster keeps its metadata: in a quorum of its own, or in ZooKeeper."""

    KRAFT = "kraft"
    ZOOKEEPER = "zookeeper"


@dataclass(frozen=True, slots=True)
class MainClasses:
    """The main class of a node, and of the tool that formats its storage.

    `config` is the class whose CONFIG_DEF declares every key of server.properties; without it none is checked. `dump`
    prints the records of a log's segments; without it evidence from a metadata log is not decoded.
    """

    node: str
    storage: str
    config: str = ""
    dump: str = ""


@dataclass(frozen=True, slots=True)
class NodeLogging:
    """How a JVM's logging is configured: the `option` that names a `file` ({file}: its path), and what stands in it.

    In `text`, a node's, {pattern} is the layout of a line; `silent` turns everything off.
    """

    file: str
    option: str
    text: str
    silent: str

    def flag(self, file: Path) -> str:
        """Return the JVM option that names this file."""
        return self.option.replace("{file}", str(file))


@dataclass(frozen=True, slots=True)
class JvmSettings:
    """The options that Kafka's own start scripts give to a node."""

    production: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pins:
    """What the lock of a version pins: coordinates in which {version} stands for it.

    `broker` is resolved with all that it depends on; the others are taken as they are, `beside_broker` (the log
    binding) onto every node's class path too, unless it is there already. In that one {artifact} stands for the version
    of an artifact that is there.
    """

    broker: str
    beside_broker: tuple[str, ...]
    sources: tuple[str, ...]
    commands: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One release line.

    `modes` are those in which the harness starts nodes. `java` is the lowest Java release that they start on,
    `class_files` the one that the raft module is compiled for. `commands` maps scripts of bin/ to their main classes,
    `timeouts` server properties to Kafka's defaults in milliseconds, `requests` the probes' requests to the lowest and
    highest version of each, and `slow_tests` upstream's slowest tests to their seconds. `metric_reporters` is what a
    node's server property of that name must hold for Kafka to report by JMX beside others. `registers_endpoints` says
    that a voter which listens elsewhere than the voter set says is sure to announce it. `known_crashes` maps texts
    of errors that end released jars now and then to where that defect is described, `crashes_without_voters` those of
    errors that do so where a node has cut off the newest voters that it had read, and has read none since, and
    `known_stop_errors` those of errors that end them while they are being stopped. `config_options` maps scripts of
    bin/ to what they call the file of a client's properties, where that is not --command-config.
    """

    name: str
    modes: tuple[Mode, ...]
    java: int
    class_files: int
    main_classes: MainClasses
    commands: Mapping[str, str]
    logging: NodeLogging
    jvm: JvmSettings
    timeouts: Mapping[str, int]
    requests: Mapping[str, tuple[int, int]]
    lock: Pins
    slow_tests: Mapping[str, float]
    metric_reporters: str = "org.apache.kafka.common.metrics.JmxReporter"
    registers_endpoints: bool = False
    known_crashes: Mapping[str, str] = field(default_factory=dict)
    crashes_without_voters: Mapping[str, str] = field(default_factory=dict)
    known_stop_errors: Mapping[str, str] = field(default_factory=dict)
    config_options: Mapping[str, str] = field(default_factory=dict)


def line_of(version: str, folders: Sequence[Path] = ()) -> Line:
    """Return the release line of a Kafka version: that with the longest name among those that it begins with.

    `folders` are the shipped one, then the user's. Raises HarnessError for a version of no line that is known, and
    for a malformed file.
    """
    searched = folders or (data_root() / "builds" / _FOLDER, user_data_root() / _FOLDER)
    files = {path.stem: path for folder in reversed(searched) for path in sorted(folder.glob("*.toml"))}
    names = [name for name in files if version == name or version.startswith((f"{name}.", f"{name}-"))]
    if not names:
        own = searched[-1] / f"{'.'.join(version.split('.')[:2])}.toml"
        raise HarnessError(
            f"Kafka {version} is of a release line that is not described here; described: {', '.join(sorted(files))}. "
            "Until it is, its jars can be neither locked, built, proved nor run; `harness diff A B` compares its logs.",
            f"Describe it in {own}, beginning with a copy of another line's file. {_MANUAL}",
        )
    return _read(files[max(names, key=len)])


def check_java(line: Line, java: JavaRuntime) -> None:
    """See that the line's classes load on a Java. Raises HarnessError; a Java that names no number is believed."""
    if java.release and java.release < line.java:
        raise HarnessError(
            f"Kafka {line.name} needs Java {line.java} or newer, and {java.home} is Java {java.version}.",
            "Name a newer one by --java-home, or leave it out for the bundled runtime.",
        )


def check_mode(line: Line, mode: Mode) -> None:
    """See that nodes of the line can be started in a mode. Raises HarnessError."""
    if mode not in line.modes:
        started = f"starts them in mode {' and '.join(line.modes)}" if line.modes else "starts none of them"
        raise HarnessError(
            f"Nodes of Kafka {line.name} cannot be run in mode {mode}: the harness {started}.",
            f"Name a Kafka of a line that has mode {mode} (docs/release-lines.md), or a suite or scenarios of a mode "
            "that it has (--suite, --scenario).",
        )


def same_line(one: str, other: str) -> bool:
    """Whether two versions are builds of one release, or of releases of one line that is described."""
    releases = release_of(one), release_of(other)
    try:
        return releases[0] == releases[1] or len({line_of(each).name for each in releases}) == 1
    except HarnessError:
        return False


def _read(path: Path) -> Line:
    try:
        return record_of(Line, {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))})
    except (OSError, ValueError, HarnessError) as error:
        raise HarnessError(f"{path} does not describe a release line: {error}", _MANUAL) from error
