"""What is installed on a node: a raft jar and its server properties, perhaps with a whole Kafka around them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.kafka.release_lines import Line


@dataclass(frozen=True, slots=True)
class NodeKafka:
    """The Kafka that a node is started from: its jars in order but for the raft jar, its release line.

    `archive` is the class archive of these jars, `reporter` the folder of the metrics reporter compiled for them; None
    where there is none.
    """

    class_path: tuple[Path, ...]
    line: Line
    archive: Path | None = None
    reporter: Path | None = None


@dataclass(frozen=True, slots=True)
class Install:
    """A raft jar and its settings, under the name of its arm.

    `flag` is the value of the feature flag that a live node must then report (`absent` where it knows none). `beside`
    are the digests of the jars that the node must then run beside the raft jar, by file name; `base_jars` are those of
    all jars of base. Both are empty where nobody knows them. `kafka` is what the node is started from, None for the
    Kafka that its cluster began with; `file` is the name that the raft jar has there, empty for its own.
    """

    name: str
    jar: Path
    sha256: str
    flag: str
    settings: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    base_jars: Mapping[str, str] = field(default_factory=dict)
    kafka: NodeKafka | None = None
    file: str = ""

    def has_jars_of(self, other: Install) -> bool:
        """Whether a node runs the same jars with it as with another."""
        return (self.sha256, self.beside) == (other.sha256, other.beside)


def copied_to(install: Install, libs: Path) -> Install:
    """Put a copy of the raft jar into a node's own library folder, in the place of any that is there."""
    shutil.rmtree(libs, ignore_errors=True)
    libs.mkdir()
    return replace(install, jar=Path(shutil.copyfile(install.jar, libs / (install.file or install.jar.name))))
