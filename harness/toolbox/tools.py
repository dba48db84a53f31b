"""Programs of ours that are fetched and are no part of any Kafka: which, and how they are pinned (tools.lock)."""

from __future__ import annotations

from pathlib import Path

from harness.base.files import write_text
from harness.toolbox.downloads import Downloads
from harness.toolbox.lockfile import Lock, Purpose, format_lock, parse_lock, shipped_locks

NAME = "tools"
_FILE = f"{NAME}.lock"
# kafka.admin.TopicCommand of 1.0.0 with what it depends on.
_OLD_TOPICS = (
    "org.apache.kafka:kafka_2.11:jar:1.0.0",
    "org.apache.kafka:kafka-clients:jar:1.0.0",
    "com.101tec:zkclient:jar:0.10",
    "com.fasterxml.jackson.core:jackson-annotations:jar:2.9.0",
    "com.fasterxml.jackson.core:jackson-core:jar:2.9.1",
    "com.fasterxml.jackson.core:jackson-databind:jar:2.9.1",
    "com.yammer.metrics:metrics-core:jar:2.2.0",
    "log4j:log4j:jar:1.2.17",
    "net.sf.jopt-simple:jopt-simple:jar:5.0.4",
    "org.apache.zookeeper:zookeeper:jar:3.4.10",
    "org.scala-lang:scala-library:jar:2.11.11",
    "org.slf4j:slf4j-api:jar:1.7.25",
    "org.slf4j:slf4j-log4j12:jar:1.7.25",
)
_COORDINATES = (
    ("org.eclipse.jdt:ecj:jar:3.46.100", Purpose.COMPILER),  # runs on Java 17 and later
    ("org.ow2.asm:asm:jar:9.9", Purpose.BYTECODE),
    ("org.ow2.asm:asm-tree:jar:9.9", Purpose.BYTECODE),
    ("com.github.siom79.japicmp:japicmp:jar:jar-with-dependencies:0.23.1", Purpose.COMPARER),
    ("org.jacoco:org.jacoco.agent:jar:runtime:0.8.13", Purpose.COVERAGE_AGENT),
    ("org.jacoco:org.jacoco.cli:jar:nodeps:0.8.13", Purpose.COVERAGE_READER),
    *((coordinate, Purpose.OLD_TOPICS) for coordinate in _OLD_TOPICS),
)


def tools_lock() -> Lock:
    """Return what the harness's tools are pinned to. Raises HarnessError when the file is malformed."""
    path = shipped_locks() / _FILE
    return parse_lock(path.read_bytes(), str(path))


def resolve_tools(downloads: Downloads) -> Lock:
    """Download all tools and return their pins. Raises HarnessError when one is not to be had."""
    return Lock("", downloads.pin_all(_COORDINATES))


def write_tools_lock(lock: Lock, folder: Path) -> Path:
    """Write `tools.lock` below `folder`, atomically, and return its path."""
    return write_text(folder / _FILE, format_lock(lock))
